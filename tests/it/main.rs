//! Integration tests: one binary, one file per behaviour.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]
mod action;
mod agent_composed;
mod agent_conflict;
mod agent_gone;
mod agent_images;
mod agent_install;
mod agent_restores;
mod agent_survives;
mod as_shipped;
mod boundaries;
mod campaigns;
mod cases_apply;
mod cases_service;
mod cases_source;
mod cli;
mod collect_agents;
mod collect_follow;
mod collect_hostile;
mod collect_target;
mod controller_approval;
mod controller_config;
mod controller_converges;
mod controller_deletion;
mod controller_drift;
mod controller_git;
mod controller_idle;
mod controller_observed;
mod controller_order;
mod controller_replicas;
mod controller_targets;
mod controller_tenancy;
mod controller_triggers;
mod crash;
mod crd_install;
mod demo;
mod deploy;
mod events;
mod exec_command;
mod exec_jacoco;
mod faults_api;
mod faults_clock;
mod faults_disk;
mod faults_git;
mod faults_kill;
mod faults_poison;
mod follow_directory;
mod follow_together;
mod generated;
mod hostile_controller;
mod hostile_files;
mod hostile_git;
mod hostile_memory;
mod identity;
mod inject_composed;
mod inject_jvm;
mod inject_refused;
mod inventory;
mod jvm_last_words;
mod leases;
mod load_corpus;
mod load_fuzz;
mod load_printing;
mod load_reading;
mod load_schema;
mod load_syntax;
mod network_policies;
mod node_names;
mod node_story;
mod order;
mod overlays;
mod overlays_followed;
mod overlays_helm;
mod overlays_hostile;
mod own_unit;
mod permissions;
mod plan_conflicts;
mod plan_output;
mod plan_requests;
mod policies;
mod preview_revisions;
mod preview_snapshot;
mod probes;
mod prune_approval;
mod prune_contents;
mod prune_guards;
mod prune_reach;
mod rbac_command;
mod reference_deployment;
mod reference_drift;
mod reference_ownership;
mod reference_service;
mod reference_status;
mod reference_switches;
mod rollout_failure;
mod sandbox_apply;
mod sandbox_command;
mod sandbox_controllers;
mod sandbox_crds;
mod sandbox_deletion;
mod sandbox_kubectl;
mod sandbox_random;
mod sandbox_services;
mod sandbox_types;
mod secrecy;
mod security;
mod settled_kinds;
mod source_directory;
mod source_git_local;
mod source_git_remote;
mod source_git_ssh;
mod status_command;
mod storage_s3;
mod strictness;
mod support;
mod sync_git;
mod tree_command;
mod wait;
mod watching;
mod watching_odd_servers;
mod webhook;

/// A file that nobody names is compiled by nobody, and its tests never fail.
#[test]
fn every_file_is_a_module() {
    let this = include_str!("main.rs");
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it");
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|it| it != "rs") && !path.join("mod.rs").is_file() {
            continue;
        }
        let stem = path.file_stem().unwrap().to_str().unwrap();
        let named = this.contains(&format!("\nmod {stem};"));
        assert!(
            named || stem == "main",
            "add `mod {stem};` to tests/it/main.rs"
        );
    }
}

/// Each line of `tests/real_only` leaves tests to the real API server: a wrong one would leave none, and hide that.
#[test]
fn what_needs_the_real_api_server_is_there_and_says_why() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--list", "--format", "terse"])
        .output();
    let tests = String::from_utf8(output.unwrap().stdout).unwrap();
    let tests: Vec<&str> = tests
        .lines()
        .filter_map(|line| line.strip_suffix(": test"))
        .collect();
    assert!(tests.contains(&"every_file_is_a_module"), "{tests:?}");
    let table = include_str!("../real_only");
    let mut named: Vec<&str> = Vec::new();
    for line in table
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let (name, why) = line.split_once(' ').unwrap_or((line, ""));
        assert!(!why.trim().is_empty(), "tests/real_only: {name}: why?");
        let is_file = name.ends_with("::");
        let left = |test: &&str| **test == *name || is_file && test.starts_with(name);
        let left: Vec<&str> = tests.iter().copied().filter(|test| left(test)).collect();
        assert!(!left.is_empty(), "tests/real_only: there is no {name}");
        named.extend(left);
    }
    let all = named.len();
    named.sort_unstable();
    named.dedup();
    assert_eq!(named.len(), all, "tests/real_only names a test twice");
}
