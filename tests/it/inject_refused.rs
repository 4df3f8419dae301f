//! Deployments that cannot carry the agent stay as they are, and somebody is told why.

use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::controller::Setup;
use crate::support::covergence::Run;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, deployment, target};
use crate::support::namespace::Namespace;
use crate::support::shop::{JAR, applied, essence, options, shop, value_of};
use crate::support::source::Source;

#[test]
fn c66_a_deployment_that_cannot_carry_it_stays_as_it_is_and_the_status_says_why() {
    let ns = Namespace::new("refused");
    let proxy = json!({ "name": "istio-proxy", "image": "proxyv2" });
    let app = shop().pointer("/spec/template/spec/containers/0").cloned();
    let two = shop().set("/spec/template/spec/containers", json!([proxy, app]));
    let source = Source::new().with("shop.yaml", &[two, target("pet")]);
    ns.sync(&source).ok();
    let live = ns.get("deployments", "pet");
    assert!(!live.to_string().contains("covergence-agent\""), "{live}");
    let status = ns.status("pet");
    assert_eq!(
        (&status["phase"], &status["instrumentedReplicas"]),
        (&json!("Failed"), &json!(0))
    );
    for condition in ["Ready", "AgentInjected"] {
        let condition = ns.condition("pet", condition);
        assert_eq!(condition["reason"], "ContainerAmbiguous", "{condition}");
        let message = condition["message"].as_str().unwrap();
        assert!(message.contains("agents.coverage.container"), "{message}");
    }
    let named = target("pet").set("/spec/agents/coverage/container", "app");
    source.write("target.yaml", &[named]);
    source.write("shop.yaml", &[live_manifest(&live)]);
    ns.sync(&source).ok();
    assert_eq!(ns.condition("pet", "AgentInjected")["reason"], "Composed");
    let containers = ns.get("deployments", "pet")["spec"]["template"]["spec"]["containers"].clone();
    assert!(
        containers[0].get("env").is_none() && containers[1]["env"].is_array(),
        "{containers}"
    );
}

/// The same as a manifest.
fn live_manifest(live: &Value) -> Value {
    let spec = live["spec"].clone();
    deployment("pet").set("/spec", spec)
}

#[test]
fn without_a_cluster_the_agent_is_shown_and_its_refusal_told_at_the_target() {
    let source = Source::new()
        .with("shop.yaml", &[shop()])
        .with("target.yaml", &[target("pet")]);
    let run = |command| Run::new(&[command, "-n", "here"]).arg(source.path());
    let shown = run("render")
        .args(&["--agent-image", "registry.example/agent:1"])
        .ok()
        .stdout;
    assert!(
        shown.contains(JAR) && shown.contains("image: registry.example/agent:1"),
        "{shown}"
    );
    let shown = run("render")
        .env("COVERGENCE_AGENT_IMAGE", "mine:2")
        .ok()
        .stdout;
    assert!(shown.contains("image: mine:2"), "{shown}");
    run("validate").ok();

    source.write(
        "shop.yaml",
        &[shop().set("/spec/template/spec/hostNetwork", true)],
    );
    assert!(!run("render").ok().stdout.contains(JAR));
    let told = run("validate").ok();
    let all = format!("{}{}", told.stdout, told.stderr);
    assert!(
        all.contains("target.yaml:2:1") && all.contains("hostNetwork"),
        "{all}"
    );
}

#[test]
fn a_target_that_a_policy_denies_brings_no_agent_and_the_deployment_goes_on() {
    let (ns, source) = applied("denied");
    let before = essence(&ns);
    source.write("target.yaml", &[target("pet")]);
    let changed = shop().set("/spec/template/metadata/labels/tier", "web");
    source.write("shop.yaml", &[changed]);
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/policies/agents.yaml");
    let report = ns.sync(&source).args(&["--policy", policy]).code(2);
    assert_eq!(report.outcome("Deployment", "pet"), "configured");
    assert_eq!(options(&ns), [value_of(&before)]);
    let labels = &ns.get("deployments", "pet")["spec"]["template"]["metadata"]["labels"];
    assert_eq!(*labels, json!({ "app": "pet", "tier": "web" }));
    assert!(!ns.exists("closurejvmtargets", "pet"));
    // Where agents are allowed, both come.
    api().edit(
        &path("namespaces", None, Some(&ns.name)),
        &json!({ "metadata": { "labels": { "closurejvm.io/coverage": "allowed" } } }),
    );
    ns.sync(&source).args(&["--policy", policy]).ok();
    assert!(options(&ns)[0].starts_with(JAR));
}

#[test]
fn c64_of_two_targets_for_one_deployment_the_first_by_name_has_it() {
    let ns = Namespace::new("two");
    let other = target("pet")
        .set("/metadata/name", "another")
        .set("/spec/agents/coverage/port", 6301);
    let source = Source::new().with("all.yaml", &[shop(), target("pet"), other]);
    ns.sync(&source).ok();
    let value = &options(&ns)[0];
    assert!(
        value.contains("port=6301,") && value.matches("-javaagent").count() == 1,
        "{value}"
    );
    assert_eq!(
        ns.condition("another", "AgentInjected")["reason"],
        "Composed"
    );
    let taken = ns.condition("pet", "AgentInjected");
    assert_eq!(taken["reason"], "DeploymentTaken", "{taken}");
    ns.sync(&source).ok().nothing_to_do();
    // The controller, which sees what is live only, says the same.
    let before = (ns.status("pet"), ns.status("another"));
    let controller = Setup::new(&[&ns.name]).start();
    ns.edit(
        "deployments",
        "pet",
        &json!({ "metadata": { "annotations": { "a": "b" } } }),
    );
    ns.edit(
        "closurejvmtargets",
        "pet",
        &json!({ "spec": { "agents": { "coverage": { "includes": ["a.*"] } } } }),
    );
    eventually("the controller has seen the Target", || {
        let live = ns.get("closurejvmtargets", "pet");
        (live["status"]["observedGeneration"] == live["metadata"]["generation"]).then_some(())
    });
    drop(controller);
    let now = (ns.status("pet"), ns.status("another"));
    assert_eq!(before.0["phase"], now.0["phase"]);
    assert_eq!(
        ns.condition("pet", "AgentInjected")["reason"],
        "DeploymentTaken"
    );
    assert_eq!(before.1, now.1);
}
