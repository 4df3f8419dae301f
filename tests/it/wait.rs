//! `--wait`: nothing is built on what is not healthy, and a run is done only when everything is.

use serde_json::{Value, json};

use crate::support::covergence::Run;
use crate::support::manifest::{config_map, deployment};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

fn annotated(mut object: Value, key: &str, value: &str) -> Value {
    object["metadata"]["annotations"] = json!({ key: value });
    object
}

fn in_wave(object: Value, wave: &str) -> Value {
    annotated(object, "argocd.argoproj.io/sync-wave", wave)
}

fn waiting(ns: &Namespace, source: &Source) -> Run {
    ns.sync(source).args(&["--wait", "--timeout", "2s"])
}

/// The lab has no node, so that a Deployment with replicas never gets available.
fn stuck(name: &str) -> Value {
    deployment(name)
}

fn healthy(name: &str) -> Value {
    let mut object = deployment(name);
    object["spec"]["replicas"] = json!(0);
    object
}

#[test]
fn a_wave_that_is_not_healthy_keeps_the_next_one_back() {
    let ns = Namespace::new("wave");
    let source = Source::new().with(
        "a.yaml",
        &[stuck("first"), in_wave(config_map("second", "1"), "1")],
    );
    let report = waiting(&ns, &source).code(2);
    assert_eq!(report.outcome("Deployment", "first"), "created");
    assert_eq!(report.outcome("ConfigMap", "second"), "skipped");
    let message = report.message("ConfigMap", "second");
    assert!(message.contains("first, which is not healthy"), "{message}");
    assert!(!ns.exists("configmaps", "second"));
    assert_eq!(report.json()["unhealthy"][0]["name"], "first");

    // Without --wait the order is kept, but nothing is waited for.
    let report = ns.sync(&source).ok();
    assert_eq!(report.outcome("ConfigMap", "second"), "created");
}

#[test]
fn what_depends_on_something_unhealthy_waits_and_the_rest_does_not() {
    let ns = Namespace::new("needs");
    let needs = format!("apps/namespaces/{}/Deployment/stuck", ns.name);
    let source = Source::new().with(
        "a.yaml",
        &[
            stuck("stuck"),
            annotated(
                config_map("dependant", "1"),
                "config.kubernetes.io/depends-on",
                &needs,
            ),
            config_map("free", "1"),
        ],
    );
    let report = waiting(&ns, &source).code(2);
    assert_eq!(report.outcome("ConfigMap", "dependant"), "skipped");
    assert_eq!(report.outcome("ConfigMap", "free"), "created");
}

#[test]
fn a_wave_that_becomes_healthy_lets_the_next_one_through() {
    let ns = Namespace::new("ready");
    let source = Source::new().with(
        "a.yaml",
        &[healthy("first"), in_wave(config_map("second", "1"), "1")],
    );
    let report = ns.sync(&source).args(&["--wait", "--timeout", "60s"]).ok();
    assert_eq!(report.outcome("ConfigMap", "second"), "created");
    assert_eq!(report.json()["unhealthy"], json!([]));
}
