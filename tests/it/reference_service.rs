//! The reference operator's proofs: the Service of a Target, and the endpoint it publishes.

use serde_json::json;

use crate::support::manifest::{Change, deployment, own_agent, own_agent_of};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

#[test]
fn a_headless_service_selects_the_deployments_pods_and_belongs_to_the_target() {
    let ns = Namespace::new("service");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with(
        "pet.yaml",
        &[own_agent("pet").set("/spec/agents/coverage/port", 7300)],
    );
    let report = ns.sync(&source).ok();
    assert_eq!(report.outcome("Service", "pet-coverage"), "created");

    let service = ns.get("services", "pet-coverage");
    let spec = &service["spec"];
    assert_eq!(spec["clusterIP"], "None");
    assert_eq!(spec["selector"], json!({ "app": "pet" }));
    let ports = spec["ports"].as_array().unwrap();
    assert_eq!(ports.len(), 1, "{ports:?}");
    assert_eq!(ports[0]["port"], 7300);
    assert_eq!(ports[0]["targetPort"], 7300);
    assert_eq!(ports[0]["protocol"], "TCP");
    assert_eq!(spec["publishNotReadyAddresses"], true);

    let owner = ns.get("closurejvmtargets", "pet");
    let owners = service["metadata"]["ownerReferences"].as_array().unwrap();
    assert_eq!(owners.len(), 1, "{owners:?}");
    assert_eq!(owners[0]["kind"], "ClosureJVMTarget");
    assert_eq!(owners[0]["apiVersion"], "closurejvm.io/v1alpha1");
    assert_eq!(owners[0]["name"], "pet");
    assert_eq!(owners[0]["uid"], owner["metadata"]["uid"]);
    assert_eq!(owners[0]["controller"], true);
}

#[test]
fn the_endpoint_is_published_as_service_namespace_domain_and_port() {
    let ns = Namespace::new("endpoint");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    let status = ns.status("pet");
    let endpoint = format!("pet-coverage.{}.svc.cluster.local:6300", ns.name);
    assert_eq!(status["coverageEndpoint"], endpoint.as_str());
    let generation = ns.get("closurejvmtargets", "pet")["metadata"]["generation"].clone();
    assert_eq!(status["observedGeneration"], generation);
    let condition = ns.condition("pet", "CoverageServiceReady");
    assert_eq!(condition["status"], "True", "{condition}");
}

#[test]
fn a_target_that_comes_with_its_deployment_gets_its_service_in_the_same_sync() {
    let ns = Namespace::new("together");
    let source = Source::new()
        // Alphabetical order is the wrong one.
        .with("a.yaml", &[own_agent_of("pet", "shop")])
        .with("b.yaml", &[deployment("shop")]);
    let report = ns.sync(&source).ok();
    assert_eq!(report.outcome("Service", "pet-coverage"), "created");
    assert_eq!(
        ns.get("services", "pet-coverage")["spec"]["selector"],
        json!({ "app": "shop" })
    );
    ns.sync(&source).ok().nothing_to_do();
}

#[test]
fn a_target_that_is_in_the_cluster_only_is_served_as_well() {
    let ns = Namespace::new("live");
    ns.create("deployments", &deployment("pet"));
    ns.create("closurejvmtargets", &own_agent("pet"));
    let report = ns.sync(&Source::new()).ok();
    assert_eq!(report.outcome("Service", "pet-coverage"), "created");
    assert!(ns.status("pet")["coverageEndpoint"].is_string());
}

#[test]
fn single_value_expressions_become_part_of_the_selector() {
    let ns = Namespace::new("single");
    let expression = json!([{ "key": "tier", "operator": "In", "values": ["web"] }]);
    let shop = deployment("pet")
        .set("/spec/selector/matchExpressions", expression)
        .set("/spec/template/metadata/labels/tier", "web");
    ns.create("deployments", &shop);
    ns.sync(&Source::new().with("pet.yaml", &[own_agent("pet")]))
        .ok();
    assert_eq!(
        ns.get("services", "pet-coverage")["spec"]["selector"],
        json!({ "app": "pet", "tier": "web" })
    );
}

#[test]
fn a_selector_of_expressions_only_gives_no_service_and_a_condition() {
    let ns = Namespace::new("expressions");
    let expressions = json!({ "matchExpressions": [{ "key": "app", "operator": "In", "values": ["pet", "cat"] }] });
    ns.create(
        "deployments",
        &deployment("pet").set("/spec/selector", expressions),
    );
    let report = ns
        .sync(&Source::new().with("pet.yaml", &[own_agent("pet")]))
        .ok();
    assert!(report.find_step("Service", "pet-coverage").is_none());
    assert!(!ns.exists("services", "pet-coverage"));
    for condition in ["Ready", "CoverageServiceReady"] {
        let condition = ns.condition("pet", condition);
        assert_eq!(condition["status"], "False", "{condition}");
        assert_eq!(condition["reason"], "SelectorNotExpressible", "{condition}");
    }
    assert!(ns.status("pet").get("coverageEndpoint").is_none());
}

#[test]
fn c58_the_endpoint_has_the_clusters_own_domain() {
    let ns = Namespace::new("domain");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source)
        .args(&["--cluster-domain", "corp.example"])
        .ok();
    let endpoint = format!("pet-coverage.{}.svc.corp.example:6300", ns.name);
    assert_eq!(ns.status("pet")["coverageEndpoint"], endpoint.as_str());
}
