//! The reference operator's proofs: what others do to the Service is found, named and undone.

use serde_json::{Value, json};

use crate::support::lab::api;
use crate::support::manifest::{Change, deployment, own_agent};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

const SERVICE: &str = "pet-coverage";

/// Disturbs the Service, and checks that `diff` finds it and `sync` undoes it without making the Service anew.
fn undone(prefix: &str, disturb: impl Fn(&Namespace)) -> Proof {
    let ns = Namespace::new(prefix);
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    let before = ns.get("services", SERVICE);

    disturb(&ns);
    let disturbed = ns.get("services", SERVICE);
    assert_ne!(
        essence(&before),
        essence(&disturbed),
        "nothing was disturbed"
    );

    let diff = ns.diff(&source).code(1);
    assert_eq!(diff.action("Service", SERVICE), "configure");
    let step = diff.step("Service", SERVICE);
    assert_eq!(ns.get("services", SERVICE), disturbed, "diff has written");

    assert_eq!(
        ns.sync(&source).ok().outcome("Service", SERVICE),
        "configured"
    );
    let after = ns.get("services", SERVICE);
    assert_eq!(essence(&before), essence(&after));
    assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"]);
    ns.sync(&source).ok().nothing_to_do();
    Proof {
        reason: step["reason"].as_str().unwrap().to_owned(),
        diff: step["diff"].as_str().unwrap_or_default().to_owned(),
    }
}

/// What `diff` said.
struct Proof {
    reason: String,
    diff: String,
}

impl Proof {
    fn names(&self, field: &str, manager: &str) -> &Self {
        assert!(
            self.reason.contains(field) && self.reason.contains(manager),
            "{}",
            self.reason
        );
        self
    }

    fn shows(&self, line: &str) {
        assert!(
            self.diff.lines().any(|l| l.trim_end() == line),
            "{}",
            self.diff
        );
    }
}

/// What a Service is, without who wrote it when.
fn essence(service: &Value) -> Value {
    let metadata = &service["metadata"];
    json!({
        "spec": service["spec"],
        "labels": metadata["labels"],
        "owners": metadata["ownerReferences"],
        "annotations": metadata["annotations"],
    })
}

#[test]
fn an_edited_value() {
    undone("value", |ns| {
        ns.edit(
            "services",
            SERVICE,
            &json!({ "spec": { "publishNotReadyAddresses": false } }),
        );
    })
    // The server leaves out a `false`.
    .names(".spec.publishNotReadyAddresses", "gone");
}

#[test]
fn an_edited_target_port() {
    undone("target-port", |ns| {
        let port = json!([{ "op": "replace", "path": "/spec/ports/0/targetPort", "value": 8080 }]);
        api().patch(&ns.path("services", SERVICE), &port);
    })
    .names("targetPort", "kubectl-edit")
    .shows("+    targetPort: 6300");
}

#[test]
fn an_edited_selector_value() {
    undone("selector", |ns| {
        ns.edit(
            "services",
            SERVICE,
            &json!({ "spec": { "selector": { "app": "cat" } } }),
        );
    })
    .names(".spec.selector", "kubectl-edit")
    .shows("+    app: pet");
}

#[test]
fn a_port_too_many() {
    undone("extra-port", |ns| {
        let port = json!([{ "op": "add", "path": "/spec/ports/-", "value": { "name": "web", "port": 80, "protocol": "TCP" } }]);
        api().patch(&ns.path("services", SERVICE), &port);
    })
    .names("port", "kubectl-edit")
    .shows("-    port: 80");
}

#[test]
fn a_port_too_many_by_another_applier() {
    undone("applied-port", |ns| {
        let port = json!({
            "apiVersion": "v1", "kind": "Service", "metadata": { "name": SERVICE },
            "spec": { "ports": [{ "name": "web", "port": 80, "protocol": "TCP" }] },
        });
        api().apply(&ns.path("services", SERVICE), "other-tool", &port);
    })
    .names("port", "other-tool");
}

#[test]
fn a_selector_key_too_many() {
    undone("extra-key", |ns| {
        ns.edit(
            "services",
            SERVICE,
            &json!({ "spec": { "selector": { "track": "canary" } } }),
        );
    })
    // Since Kubernetes 1.21 a selector is changed as a whole, and any of its keys may be named.
    .names(".spec.selector.", "kubectl-edit")
    .shows("-    track: canary");
}

#[test]
fn a_removed_label() {
    undone("label", |ns| {
        ns.edit(
            "services",
            SERVICE,
            &json!({ "metadata": { "labels": { "app.kubernetes.io/component": null } } }),
        );
    })
    .names("app.kubernetes.io/component", "gone");
}

#[test]
fn all_labels_removed() {
    undone("labels", |ns| {
        ns.edit(
            "services",
            SERVICE,
            &json!({ "metadata": { "labels": null } }),
        );
    });
}

#[test]
fn a_removed_owner_reference() {
    undone("owner", |ns| {
        ns.edit(
            "services",
            SERVICE,
            &json!({ "metadata": { "ownerReferences": null } }),
        );
    })
    .names("ownerReferences", "gone");
}

#[test]
fn an_edited_digest() {
    undone("digest", |ns| {
        ns.edit(
            "services",
            SERVICE,
            &json!({ "metadata": { "annotations": { "closurejvm.io/applied-digest": "sha256:0" } } }),
        );
    });
}

/// What took out the strangers must not own what it left: it would keep the old port and the old key for ever.
#[test]
fn what_was_repaired_still_follows_its_target_in_one_sync() {
    let ns = Namespace::new("repaired");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    let port = json!([{ "op": "add", "path": "/spec/ports/-", "value": { "name": "web", "port": 80, "protocol": "TCP" } }]);
    api().patch(&ns.path("services", SERVICE), &port);
    ns.edit(
        "services",
        SERVICE,
        &json!({ "spec": { "selector": { "track": "canary" } } }),
    );
    ns.sync(&source).ok();

    ns.delete("deployments", "pet");
    let labels = json!({ "release": "blue" });
    let anew = deployment("pet")
        .set("/spec/selector/matchLabels", labels.clone())
        .set("/spec/template/metadata/labels", labels.clone());
    ns.create("deployments", &anew);
    source.write(
        "pet.yaml",
        &[own_agent("pet").set("/spec/agents/coverage/port", 7300)],
    );
    ns.sync(&source).ok();
    let spec = ns.get("services", SERVICE)["spec"].clone();
    assert_eq!(spec["selector"], labels);
    let ports: Vec<_> = spec["ports"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p["port"].clone())
        .collect();
    assert_eq!(ports, [7300]);
    ns.sync(&source).ok().nothing_to_do();
}

#[test]
fn a_deleted_service() {
    let ns = Namespace::new("gone");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    let before = ns.get("services", SERVICE);
    ns.delete("services", SERVICE);
    assert_eq!(
        ns.diff(&source).code(1).action("Service", SERVICE),
        "create"
    );
    assert_eq!(ns.sync(&source).ok().outcome("Service", SERVICE), "created");
    assert_eq!(essence(&before), essence(&ns.get("services", SERVICE)));
    ns.sync(&source).ok().nothing_to_do();
}

#[test]
fn an_orphaned_service_still_goes_when_it_is_wanted_no_more() {
    let ns = Namespace::new("orphan");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    ns.edit(
        "services",
        SERVICE,
        &json!({ "metadata": { "ownerReferences": null } }),
    );
    ns.delete("deployments", "pet");
    assert_eq!(ns.sync(&source).ok().outcome("Service", SERVICE), "deleted");
    assert!(!ns.exists("services", SERVICE));
}
