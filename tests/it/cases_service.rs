//! Cases from the field about names and ports of Services.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::lab::eventually;
use crate::support::manifest::{Change, deployment, own_agent, own_agent_of};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

/// skupper#649, pravega#529, onechart#28.
#[test]
fn c57_every_name_of_a_target_gives_a_service_of_its_own() {
    let ns = Namespace::new("c57");
    ns.create("deployments", &deployment("pet"));
    let names = [
        "9lives".to_owned(),
        "a.b.c".to_owned(),
        "a-b-c".to_owned(),
        "a".repeat(54),
        "a".repeat(55),
        "a".repeat(63),
        "a".repeat(64),
        "a".repeat(253),
        // Cut where a dash is.
        format!("{}-{}", "b".repeat(36), "b".repeat(40)),
    ];
    let targets: Vec<Value> = names.iter().map(|name| own_agent_of(name, "pet")).collect();
    let source = Source::new().with("targets.yaml", &targets);
    ns.sync(&source).ok();

    let mut services = BTreeSet::new();
    for name in &names {
        let status = ns.status(name);
        let endpoint = status["coverageEndpoint"]
            .as_str()
            .unwrap_or_else(|| panic!("{name}: {status}"));
        let service = endpoint.split('.').next().unwrap();
        let live = ns.get("services", service);
        assert_eq!(
            live["metadata"]["ownerReferences"][0]["name"],
            name.as_str()
        );
        assert!(services.insert(service.to_owned()), "{service} twice");
    }
    // Names that a Service can have are kept, so that people can guess them.
    for plain in [
        "a-b-c-coverage".to_owned(),
        format!("{}-coverage", "a".repeat(54)),
    ] {
        assert!(services.contains(&plain), "{services:?}");
    }
    ns.sync(&source).ok().nothing_to_do();
}

/// k8s#32766, #49722: a headless Service maps no ports, whatever its `targetPort` says.
#[test]
fn c59_service_endpoint_and_slice_have_the_port_the_pod_listens_on() {
    let ns = Namespace::new("c59");
    let ports = json!([{ "name": "web", "containerPort": 80 }, { "name": "jacoco", "containerPort": 7300 }]);
    let pet = deployment("pet").set("/spec/template/spec/containers/0/ports", ports);
    ns.create("deployments", &pet);
    let source = Source::new().with(
        "pet.yaml",
        &[own_agent("pet").set("/spec/agents/coverage/port", 7300)],
    );
    ns.sync(&source).ok();
    let port = &ns.get("services", "pet-coverage")["spec"]["ports"][0];
    assert_eq!(
        (&port["port"], &port["targetPort"]),
        (&json!(7300), &json!(7300))
    );
    let endpoint = ns.status("pet")["coverageEndpoint"].clone();
    assert!(endpoint.as_str().unwrap().ends_with(":7300"), "{endpoint}");

    ns.run_pods("pet", 2);
    let slice = eventually("a slice with pods", || {
        let slices = ns.list("endpointslices");
        slices
            .into_iter()
            .find(|s| s["endpoints"].as_array().is_some_and(|e| e.len() == 2))
    });
    assert_eq!(slice["ports"][0]["port"], 7300, "{slice}");
}

/// k8s#32766: the default when the Target names none.
#[test]
fn c59_without_a_port_it_is_the_agents_own() {
    let ns = Namespace::new("c59b");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with(
        "pet.yaml",
        &[own_agent("pet").unset("/spec/agents/coverage/port")],
    );
    ns.sync(&source).ok();
    assert_eq!(
        ns.get("services", "pet-coverage")["spec"]["ports"][0]["port"],
        6300
    );
    ns.sync(&source).ok().nothing_to_do();
}
