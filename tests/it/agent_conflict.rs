//! A field that somebody else applies is theirs: it is told, and nothing is written. What is set by hand is taken, and noted.

use serde_json::{Value, json};

use crate::support::agent::{carries, is_bare, pod, served, switch_off};
use crate::support::audit::{Audit, is_quiet};
use crate::support::controller::Setup;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{deployment, target};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

/// The container with these options, and no word of anything else.
fn options(value: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "pet" },
        "spec": { "selector": { "matchLabels": { "app": "pet" } }, "template": { "spec": { "containers": [
            { "name": "app", "env": [{ "name": "JAVA_TOOL_OPTIONS", "value": value }] },
        ] } } },
    })
}

fn apply(ns: &Namespace, manager: &str, value: &str) -> Value {
    api().apply(&ns.path("deployments", "pet"), manager, &options(value))
}

fn value_now(live: &Value) -> &Value {
    &pod(live)["containers"][0]["env"][0]["value"]
}

/// Waits until the Target says that a manager is in the way.
fn is_in_conflict(ns: &Namespace, manager: &str) {
    let told = eventually("the conflict is told", || {
        let condition = ns.condition("pet", "AgentInjected");
        (condition["reason"] == "Conflict").then_some(condition)
    });
    assert_eq!(told["status"], "False");
    let message = told["message"].as_str().unwrap();
    let field =
        ".spec.template.spec.containers[name=\"app\"].env[name=\"JAVA_TOOL_OPTIONS\"].value";
    assert!(
        message.contains(manager) && message.contains(field),
        "{message}"
    );
    assert_eq!(ns.status("pet")["phase"], "Failed");
}

fn event_of(ns: &Namespace, reason: &str) {
    eventually(&format!("an Event {reason}"), || {
        let events = ns.list("events");
        events
            .iter()
            .any(|event| event["reason"] == reason)
            .then_some(())
    });
}

#[test]
fn c28_what_another_tool_applies_is_left_to_it() {
    let ns = Namespace::new("applied");
    let audit = Audit::new("applied");
    ns.create("deployments", &deployment("pet"));
    let before = apply(&ns, "argocd-controller", "-Xmx1g");
    ns.create("closurejvmtargets", &target("pet"));
    let _controller = Setup {
        user: Some(&audit.user),
        ..Setup::new(&[&ns.name])
    }
    .start();
    is_in_conflict(&ns, "argocd-controller");
    event_of(&ns, "AgentConflict");
    is_quiet(&[&audit]);
    // Applied again and again, it is looked at again, and left again.
    for _ in 0..3 {
        apply(&ns, "argocd-controller", "-Xmx1g");
    }
    is_quiet(&[&audit]);
    let writes = audit.writes();
    assert!(
        !writes.iter().any(|event| event.resource == "deployments"),
        "{writes:#?}"
    );
    assert_eq!(
        ns.get("deployments", "pet")["metadata"]["generation"],
        before["metadata"]["generation"]
    );

    // The tool lets go of it.
    let nothing = json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "pet" }, "spec": { "selector": { "matchLabels": { "app": "pet" } } } });
    api().apply(
        &ns.path("deployments", "pet"),
        "argocd-controller",
        &nothing,
    );
    carries(&ns, "pet");
}

#[test]
fn what_a_sync_applies_is_left_to_it() {
    let ns = Namespace::new("synced");
    let manifest = {
        let mut it = deployment("pet");
        it["spec"]["template"]["spec"]["containers"][0]["env"] =
            json!([{ "name": "JAVA_TOOL_OPTIONS", "value": "-Xmx1g" }]);
        it
    };
    let source = Source::new().with("pet.yaml", &[manifest]);
    ns.sync(&source).ok();
    ns.create("closurejvmtargets", &target("pet"));
    let _controller = Setup::new(&[&ns.name]).start();
    is_in_conflict(&ns, "a Sync");
    assert_eq!(ns.get("deployments", "pet")["metadata"]["generation"], 1);

    // Without that word in its manifest, the two get along: the Sync sees no drift, and takes nothing out.
    source.write("pet.yaml", &[deployment("pet")]);
    ns.sync(&source).ok();
    carries(&ns, "pet");
    ns.sync(&source).ok().nothing_to_do();
    ns.diff(&source).ok();
    // The manifest has the last word all the same.
    let mut louder = deployment("pet");
    louder["spec"]["template"]["spec"]["containers"][0]["env"] =
        json!([{ "name": "JAVA_TOOL_OPTIONS", "value": "-Xmx2g" }]);
    source.write("pet.yaml", &[louder]);
    ns.sync(&source).ok();
    is_in_conflict(&ns, "a Sync");
    assert_eq!(value_now(&ns.get("deployments", "pet")), "-Xmx2g");
    switch_off(&ns, "pet");
    assert_eq!(value_now(&is_bare(&ns, "pet")), "-Xmx2g");
}

#[test]
fn what_a_tool_takes_later_is_not_taken_back_and_not_written_over() {
    let ns = Namespace::new("taken");
    ns.create("deployments", &deployment("pet"));
    let _controller = served(&ns);
    let taken = apply(&ns, "argocd-controller", "-Xmx3g");
    is_in_conflict(&ns, "argocd-controller");
    let now = ns.get("deployments", "pet");
    assert_eq!(
        now["metadata"]["generation"],
        taken["metadata"]["generation"]
    );
    switch_off(&ns, "pet");
    let after = is_bare(&ns, "pet");
    assert_eq!(value_now(&after), "-Xmx3g");
    assert_eq!(
        pod(&after)["containers"][0]["env"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
}

#[test]
fn what_somebody_writes_by_hand_is_kept_beside_the_agent() {
    let ns = Namespace::new("byhand");
    let mut manifest = deployment("pet");
    manifest["spec"]["template"]["spec"]["containers"][0]["env"] =
        json!([{ "name": "JAVA_TOOL_OPTIONS", "value": "-Xmx1g" }]);
    ns.create("deployments", &manifest);
    let _controller = served(&ns);
    let value = |live: &Value| value_now(live).as_str().unwrap().to_owned();
    let is = |end: &str| {
        eventually(&format!("the agent comes before {end}"), || {
            let now = value(&ns.get("deployments", "pet"));
            (now.starts_with("-javaagent:/covergence-agent/") && now.ends_with(end)).then_some(())
        });
    };
    is(" -Xmx1g");
    // With the agent in it, as an editor shows it.
    let now = value(&ns.get("deployments", "pet"));
    set(&ns, &format!("{now} -ea"));
    is(" -Xmx1g -ea");
    // Without it.
    set(&ns, "-Xmx2g");
    is(" -Xmx2g");
    event_of(&ns, "DriftCorrected");
    switch_off(&ns, "pet");
    assert_eq!(value(&is_bare(&ns, "pet")), "-Xmx2g");
}

#[test]
fn what_is_taken_out_again_and_again_is_left_for_a_while() {
    let ns = Namespace::new("fight");
    ns.create("deployments", &deployment("pet"));
    let _controller = served(&ns);
    let mut fought = 0;
    while ns.condition("pet", "AgentInjected")["reason"] != "DriftDetected" {
        let live = ns.get("deployments", "pet");
        if pod(&live)["initContainers"].is_array() {
            set(&ns, "-Xmx1g");
            fought += 1;
        }
        assert!(fought < 10, "each time it is put back");
        std::thread::sleep(std::time::Duration::from_millis(300));
    }
    assert_eq!(value_now(&ns.get("deployments", "pet")), "-Xmx1g");
    event_of(&ns, "DriftDetected");
}

/// Sets the options by hand.
fn set(ns: &Namespace, value: &str) {
    let path = "/spec/template/spec/containers/0/env/0/value";
    let operations = json!([{ "op": "replace", "path": path, "value": value }]);
    api().patch(&ns.path("deployments", "pet"), &operations);
}
