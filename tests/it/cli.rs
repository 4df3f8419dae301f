//! What the command line says and how it ends, without a cluster. Whole output is compared.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

/// Runs the binary in an empty folder and an empty environment, so that only the arguments count.
fn covergence(args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    Command::new(env!("CARGO_BIN_EXE_covergence"))
        .args(args)
        .current_dir(folder.path())
        .env_clear()
        .env("HOME", folder.path())
        .output()
        .unwrap()
}

/// All that a person sees: exit code, stdout and stderr.
fn shown(args: &[&str]) -> String {
    let Output {
        status,
        stdout,
        stderr,
    } = covergence(args);
    let [stdout, stderr] = [stdout, stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    let mut shown = format!(
        "$ covergence {}\nexit code {}\n",
        args.join(" "),
        status.code().unwrap()
    );
    for (name, text) in [("stdout", stdout), ("stderr", stderr)] {
        if !text.is_empty() {
            shown.push_str(&format!("--- {name}\n{text}"));
        }
    }
    shown
}

fn code(args: &[&str]) -> i32 {
    covergence(args).status.code().unwrap()
}

#[test]
fn help() {
    insta::assert_snapshot!(shown(&["--help"]));
}

#[test]
fn help_of_diff() {
    insta::assert_snapshot!(shown(&["diff", "--help"]));
}

#[test]
fn help_of_sync() {
    insta::assert_snapshot!(shown(&["sync", "--help"]));
}

#[test]
fn help_of_status_and_tree() {
    let cases: [&[&str]; 2] = [&["status", "--help"], &["tree", "--help"]];
    insta::assert_snapshot!(cases.map(shown).join("\n"));
}

#[test]
fn help_of_merge_and_info() {
    let cases: [&[&str]; 2] = [
        &["collect", "merge", "--help"],
        &["collect", "info", "--help"],
    ];
    insta::assert_snapshot!(cases.map(shown).join("\n"));
}

#[test]
fn help_of_collect() {
    insta::assert_snapshot!(shown(&["collect", "--help"]));
}

#[test]
fn usage_errors() {
    let cases: [&[&str]; 14] = [
        &[],
        &["converge"],
        &["diff"],
        &["diff", "shop", "--git", "https://git.example/shop.git"],
        &["diff", "shop", "--allow-empty"],
        &["sync", "shop", "--prune", "--prune-limit", "some"],
        &["sync", "shop", "--prune", "--prune-limit", "101%"],
        &["sync", "shop", "--wait", "--timeout", "5"],
        &["sync", "shop", "--concurrency", "0"],
        &["render", "shop", "--output", "toml"],
        &["status", "shop", "-A"],
        &["status", "-n", "shop", "-A"],
        &["tree", "shop", "stock"],
        &["collect", "merge", "a.exec"],
    ];
    insta::assert_snapshot!(cases.map(shown).join("\n"));
    for args in cases {
        assert_eq!(code(args), 2, "{args:?}");
    }
}

#[test]
fn help_and_version_are_no_errors() {
    for args in [
        &["--help"][..],
        &["--version"],
        &["help", "sync"],
        &["validate", "--help"],
    ] {
        assert_eq!(code(args), 0, "{args:?}");
    }
}

#[test]
fn a_source_that_is_not_there_is_an_error_and_not_a_difference() {
    for command in ["diff", "sync"] {
        let Output {
            status,
            stdout,
            stderr,
        } = covergence(&[command, "no-such-folder"]);
        assert_eq!(status.code(), Some(2), "{command}");
        assert!(stdout.is_empty(), "{command}");
        assert!(
            String::from_utf8_lossy(&stderr).contains("no-such-folder"),
            "{command}"
        );
    }
}

#[test]
fn without_a_kubeconfig_the_error_says_what_is_missing() {
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("manifests");
    let Output { status, stderr, .. } = covergence(&["diff", manifests.to_str().unwrap()]);
    assert_eq!(status.code(), Some(2));
    let stderr = String::from_utf8(stderr).unwrap();
    assert!(stderr.contains("kubeconfig"), "{stderr}");
}

#[test]
fn completions_know_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let Output { status, stdout, .. } = covergence(&["completions", shell]);
        assert_eq!(status.code(), Some(0), "{shell}");
        let script = String::from_utf8(stdout).unwrap();
        for command in [
            "render",
            "validate",
            "diff",
            "sync",
            "status",
            "tree",
            "collect",
            "crd",
            "completions",
        ] {
            assert!(
                script.contains(command),
                "{shell} does not complete {command}"
            );
        }
    }
}

#[test]
fn bash_accepts_its_completions() {
    let folder = tempfile::tempdir().unwrap();
    let script = folder.path().join("covergence.bash");
    std::fs::write(&script, covergence(&["completions", "bash"]).stdout).unwrap();
    let checked = Command::new("bash")
        .arg("-n")
        .arg(&script)
        .output()
        .unwrap();
    assert!(
        checked.status.success(),
        "{}",
        String::from_utf8_lossy(&checked.stderr)
    );
}

#[test]
fn the_crds_as_json_are_a_list() {
    let Output {
        status,
        stdout,
        stderr,
    } = covergence(&["crd", "-o", "json"]);
    assert_eq!(status.code(), Some(0));
    assert!(stderr.is_empty());
    let list: Value = serde_json::from_slice(&stdout).unwrap();
    assert_eq!(
        (&list["apiVersion"], &list["kind"]),
        (&"v1".into(), &"List".into())
    );
    let names: Vec<&str> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|crd| crd["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        names,
        [
            "closurejvmtargets.closurejvm.io",
            "syncs.closurejvm.io",
            "closurejvmcampaigns.closurejvm.io"
        ]
    );
}

#[test]
fn the_crds_as_yaml_are_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("crds.yaml");
    let yaml = covergence(&["crd"]).stdout;
    std::fs::write(&file, &yaml).unwrap();
    assert_eq!(String::from_utf8(yaml).unwrap().matches("---\n").count(), 3);
    let read = covergence(&["render", file.to_str().unwrap(), "-o", "json"]);
    assert_eq!(read.status.code(), Some(0));
}
