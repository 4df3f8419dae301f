//! The reference operator's proofs: a Deployment that is not there, goes, is renamed, changes, and comes back.

use serde_json::{Value, json};

use crate::support::manifest::{Change, deployment, own_agent, own_agent_of};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

const SERVICE: &str = "pet-coverage";

#[test]
fn c39_without_the_deployment_the_target_is_pending_until_it_comes() {
    let ns = Namespace::new("missing");
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    // That a Deployment is not there yet is no error of the source.
    let report = ns.sync(&source).ok();
    assert!(report.find_step("Service", SERVICE).is_none());
    pending(&ns);

    ns.create("deployments", &deployment("pet"));
    assert_eq!(
        ns.diff(&source).code(1).action("Service", SERVICE),
        "create"
    );
    ns.sync(&source).ok();
    published(&ns, "pet");
}

#[test]
fn c39_when_the_deployment_goes_the_service_goes_and_both_come_back() {
    let ns = Namespace::new("deleted");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    published(&ns, "pet");

    ns.delete("deployments", "pet");
    assert_eq!(ns.sync(&source).ok().outcome("Service", SERVICE), "deleted");
    pending(&ns);

    ns.create("deployments", &deployment("pet"));
    assert_eq!(ns.sync(&source).ok().outcome("Service", SERVICE), "created");
    published(&ns, "pet");
}

#[test]
fn c39_when_the_reference_names_no_deployment_the_service_goes() {
    let ns = Namespace::new("renamed");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();

    source.write("pet.yaml", &[own_agent_of("pet", "cat")]);
    assert_eq!(ns.sync(&source).ok().outcome("Service", SERVICE), "deleted");
    pending(&ns);

    ns.create("deployments", &deployment("cat"));
    ns.sync(&source).ok();
    published(&ns, "cat");
}

#[test]
fn c39_when_the_deployment_is_pruned_the_service_goes_in_the_same_sync() {
    let ns = Namespace::new("pruned");
    let source = Source::new()
        .with("deployment.yaml", &[deployment("pet")])
        .with("target.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    published(&ns, "pet");

    source.remove("deployment.yaml");
    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(report.outcome("Deployment", "pet"), "deleted");
    assert_eq!(report.outcome("Service", SERVICE), "deleted");
    pending(&ns);
}

#[test]
fn a_new_port_is_followed_in_place() {
    let ns = Namespace::new("port");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    let before = ns.get("services", SERVICE);

    source.write(
        "pet.yaml",
        &[own_agent("pet").set("/spec/agents/coverage/port", 7300)],
    );
    assert_eq!(
        ns.sync(&source).ok().outcome("Service", SERVICE),
        "configured"
    );
    let after = ns.get("services", SERVICE);
    let ports = after["spec"]["ports"].as_array().unwrap();
    assert_eq!(ports.len(), 1, "the old port stayed: {ports:?}");
    assert_eq!(
        (&ports[0]["port"], &ports[0]["targetPort"]),
        (&json!(7300), &json!(7300))
    );
    same_object(&before, &after);
    let endpoint = format!("{SERVICE}.{}.svc.cluster.local:7300", ns.name);
    assert_eq!(ns.status("pet")["coverageEndpoint"], endpoint.as_str());
}

#[test]
fn a_new_selector_is_followed_in_place() {
    let ns = Namespace::new("selector");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    let before = ns.get("services", SERVICE);

    // A Deployment's selector is immutable: it changes when the Deployment is made anew.
    ns.delete("deployments", "pet");
    let other = json!({ "release": "blue" });
    let anew = deployment("pet")
        .set("/spec/selector/matchLabels", other.clone())
        .set("/spec/template/metadata/labels", other.clone());
    ns.create("deployments", &anew);
    assert_eq!(
        ns.sync(&source).ok().outcome("Service", SERVICE),
        "configured"
    );
    let after = ns.get("services", SERVICE);
    assert_eq!(after["spec"]["selector"], other, "the old key stayed");
    same_object(&before, &after);
}

#[test]
fn a_sync_that_changes_nothing_leaves_the_service_as_it_is() {
    let ns = Namespace::new("stable");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    let before = ns.get("services", SERVICE);
    ns.sync(&source).ok().nothing_to_do();
    assert_eq!(before, ns.get("services", SERVICE));
}

fn pending(ns: &Namespace) {
    assert!(!ns.exists("services", SERVICE));
    let status = ns.status("pet");
    assert_eq!(status["phase"], "Pending");
    assert!(status.get("coverageEndpoint").is_none(), "{status}");
    assert!(status.get("endpoints").is_none(), "{status}");
    for condition in ["Ready", "CoverageServiceReady"] {
        let condition = ns.condition("pet", condition);
        assert_eq!(condition["status"], "False", "{condition}");
        assert_eq!(condition["reason"], "DeploymentNotFound", "{condition}");
    }
}

fn published(ns: &Namespace, app: &str) {
    let selector = &ns.get("services", SERVICE)["spec"]["selector"];
    assert_eq!(*selector, json!({ "app": app }));
    let status = ns.status("pet");
    assert!(status["coverageEndpoint"].is_string(), "{status}");
    assert_ne!(status["phase"], "Pending");
}

fn same_object(before: &Value, after: &Value) {
    assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"]);
    assert_eq!(before["spec"]["clusterIP"], after["spec"]["clusterIP"]);
    assert_eq!(
        before["metadata"]["ownerReferences"],
        after["metadata"]["ownerReferences"]
    );
}
