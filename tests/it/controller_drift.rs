//! `covergence run`: what others change is repaired or reported, and never fought over for ever.

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::admission::{Rewriter, rewritten};
use crate::support::audit::Audit;
use crate::support::controller::{Controller, Setup, directory_sync};
use crate::support::covergence::Run;
use crate::support::lab::eventually;
use crate::support::manifest::{Change, config_map, deployment, own_agent};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

/// Long enough to see a loop: it would go round many times.
const A_WHILE: Duration = Duration::from_secs(4);

fn start(ns: &Namespace, source: &Source, spec: Value) -> Controller {
    let controller = Setup {
        syncs: &[directory_sync(&ns.name, "it", source, spec)],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    controller
}

/// Waits until the Sync says what has drifted.
fn wait_until_drifted(ns: &Namespace, parts: &[&str]) -> String {
    eventually(&format!("drift is told: {parts:?}"), || {
        let drifted = ns.sync_condition("it", "Drifted");
        let message = drifted["message"].as_str().unwrap_or_default().to_owned();
        let is_it = drifted["status"] == "True" && parts.iter().all(|part| message.contains(part));
        is_it.then_some(message)
    })
}

fn version(ns: &Namespace, name: &str) -> Value {
    ns.get("configmaps", name)["metadata"]["resourceVersion"].clone()
}

fn edit(ns: &Namespace, name: &str, value: &str) {
    ns.edit("configmaps", name, &json!({ "data": { "key": value } }));
}

#[test]
fn drift_is_repaired_and_counted() {
    let ns = Namespace::new("correct");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), config_map("b", "1")]);
    let controller = start(&ns, &source, json!({ "drift": "Correct" }));
    edit(&ns, "a", "mine");
    ns.wait_for_value("a", "1");
    ns.delete_at_once("configmaps", "b");
    ns.wait_for_value("b", "1");
    eventually("both are counted", || {
        let counted = controller.metric("covergence_drift_total", &[]);
        (counted >= 2.0).then_some(())
    });
    assert!(ns.sync_condition("it", "Drifted").is_null());
}

#[test]
fn drift_that_is_only_to_be_told_is_left_also_after_a_restart() {
    let ns = Namespace::new("detect");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), config_map("b", "1")]);
    let detect = json!({ "drift": "Detect" });
    let controller = start(&ns, &source, detect.clone());
    edit(&ns, "a", "mine");
    wait_until_drifted(&ns, &["ConfigMap", "/a"]);
    ns.delete("configmaps", "b");
    wait_until_drifted(&ns, &["/a", "/b"]);
    assert_eq!(ns.sync_condition("it", "Ready")["status"], "True");
    controller.kill();

    let _controller = start(&ns, &source, detect);
    ns.ask_for_a_run("it", "after the restart");
    wait_until_drifted(&ns, &["/a", "/b"]);
    // A new manifest is not drift.
    source.write("c.yaml", &[config_map("c", "1")]);
    ns.wait_for_value("c", "1");
    wait_until_drifted(&ns, &["/a", "/b"]);
    assert_eq!(ns.members(), ["a", "c"]);
    assert_eq!(ns.get("configmaps", "a")["data"]["key"], "mine");
    source.write("a.yaml", &[config_map("a", "2"), config_map("b", "2")]);
    ns.wait_for_value("a", "2");
    ns.wait_for_value("b", "2");
    eventually("there is no drift left", || {
        ns.sync_condition("it", "Drifted").is_null().then_some(())
    });
}

#[test]
fn foreign_ports_and_selector_keys_of_our_service_are_drift() {
    let ns = Namespace::new("ports");
    let source = Source::new().with("a.yaml", &[deployment("pet"), own_agent("pet")]);
    let _controller = start(&ns, &source, json!({}));
    let service = "pet-coverage";
    let spec = eventually("it has a Service", || {
        Some(ns.find("services", service)?["spec"].clone())
    });
    let extra = json!({ "name": "extra", "port": 80, "protocol": "TCP", "targetPort": 80 });
    for patch in [
        json!({ "selector": { "extra": "key" } }),
        json!({ "ports": [spec["ports"][0], extra] }),
        json!({ "ports": [extra] }),
        json!({ "publishNotReadyAddresses": false }),
    ] {
        ns.edit("services", service, &json!({ "spec": patch }));
        eventually(&format!("{patch} is repaired"), || {
            let now = ns.get("services", service)["spec"].clone();
            (now == spec).then_some(())
        });
    }
}

/// On v1.20, what a webhook puts into a field that we apply counts as applied by us: it is no drift, and no loop.
#[test]
fn what_a_webhook_puts_into_a_field_is_not_fought_over() {
    let ns = Namespace::new("rewritten");
    let patch = json!([{ "op": "replace", "path": "/data/key", "value": "by the webhook" }]);
    let rewriter = Rewriter::start(&ns, patch);
    let source = Source::new().with("a.yaml", &[rewritten(config_map("a", "1"))]);
    let _controller = start(&ns, &source, json!({}));
    ns.wait_for_value("a", "by the webhook");
    let (calls, quiet) = (rewriter.calls(), version(&ns, "a"));
    change_others(&ns, &source);
    sleep(A_WHILE);
    assert_eq!((rewriter.calls(), version(&ns, "a")), (calls, quiet));
}

#[test]
fn an_object_whose_digest_a_webhook_replaces_is_told_and_left() {
    let marks = json!({ "closurejvm.io/applied-digest": "none" });
    is_told_and_left(json!([{ "op": "add", "path": "/metadata/annotations", "value": marks }]));
}

#[test]
fn an_object_whose_label_a_webhook_takes_off_is_told_and_left() {
    let labels = json!({ "rewritten": "yes" });
    is_told_and_left(json!([{ "op": "replace", "path": "/metadata/labels", "value": labels }]));
}

fn is_told_and_left(patch: Value) {
    let ns = Namespace::new("marks");
    let rewriter = Rewriter::start(&ns, patch);
    let before = rewriter.calls();
    let source = Source::new().with("a.yaml", &[rewritten(config_map("a", "1"))]);
    let _controller = start(&ns, &source, json!({}));
    let message = wait_until_drifted(&ns, &["/a"]);
    assert!(message.contains("webhook"), "{message}");
    let (calls, quiet) = (rewriter.calls(), version(&ns, "a"));
    assert!((2..=4).contains(&(calls - before)), "{calls} - {before}");
    change_others(&ns, &source);
    sleep(A_WHILE);
    assert_eq!((rewriter.calls(), version(&ns, "a")), (calls, quiet));
    assert_eq!(ns.sync_condition("it", "Drifted")["message"], message);
}

/// Makes some runs that have to do with other objects only.
fn change_others(ns: &Namespace, source: &Source) {
    for value in ["1", "2", "3"] {
        source.write("b.yaml", &[config_map("b", value)]);
        ns.wait_for_value("b", value);
    }
}

#[test]
fn a_fight_over_a_targets_service_is_told_in_the_targets_condition() {
    let ns = Namespace::new("fought");
    let source = Source::new().with("a.yaml", &[deployment("pet"), own_agent("pet")]);
    let _controller = start(&ns, &source, json!({}));
    let service = "pet-coverage";
    eventually("it has a Service", || ns.find("services", service));
    let told = eventually("it is left as the other one wants it", || {
        let found = ns.get("services", service);
        if found["spec"]["publishNotReadyAddresses"] == true {
            let theirs = json!({ "spec": { "publishNotReadyAddresses": false } });
            ns.edit("services", service, &theirs);
        }
        let drifted = ns.condition("pet", "Drifted");
        (drifted["status"] == "True").then_some(drifted)
    });
    let message = told["message"].as_str().unwrap();
    for part in [
        service,
        "publishNotReadyAddresses",
        "changed again after each repair",
    ] {
        assert!(message.contains(part), "{message}");
    }
    // All else is as it was.
    assert_eq!(
        ns.condition("pet", "CoverageServiceReady")["status"],
        "True"
    );
    let status = Run::on_lab(&["status", "-n", &ns.name, "-o", "json"]).code(1);
    assert_eq!(status.json()["targets"][0]["drift"], told["message"]);
    // With the Service goes what there is to tell of it.
    source.write(
        "a.yaml",
        &[
            deployment("pet"),
            own_agent("pet").set("/spec/coverageService", false),
        ],
    );
    eventually("there is no drift left", || {
        ns.condition("pet", "Drifted").is_null().then_some(())
    });
    assert!(!ns.exists("services", service));
}

#[test]
fn who_changes_it_again_after_each_repair_gets_a_truce() {
    let ns = Namespace::new("fight");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), config_map("b", "1")]);
    let audit = Audit::new("fight");
    let _controller = Setup {
        user: Some(&audit.user),
        syncs: &[directory_sync(&ns.name, "it", &source, json!({}))],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    let repairs = || {
        let writes = audit.writes();
        writes.iter().filter(|event| event.name == "a").count() - 1
    };
    eventually("it is left as the other one wants it", || {
        let found = ns.get("configmaps", "a");
        if found["data"]["key"] == "1" {
            edit(&ns, "a", "theirs");
        }
        ns.sync_condition("it", "Drifted")["message"]
            .as_str()
            .map(str::to_owned)
    });
    wait_until_drifted(&ns, &["/a", "changed again after each repair"]);
    let (repaired, quiet) = (repairs(), version(&ns, "a"));
    assert!((2..=5).contains(&repaired), "{repaired}");
    // Others are repaired meanwhile, and the fight does not begin anew for it.
    edit(&ns, "b", "theirs");
    ns.wait_for_value("b", "1");
    sleep(A_WHILE);
    assert_eq!((repairs(), version(&ns, "a")), (repaired, quiet));
    // A new manifest is another matter.
    source.write("a.yaml", &[config_map("a", "2"), config_map("b", "1")]);
    ns.wait_for_value("a", "2");
    eventually("there is no drift left", || {
        ns.sync_condition("it", "Drifted").is_null().then_some(())
    });
}
