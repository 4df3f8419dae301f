//! `covergence run` serves Targets as live objects, whoever made them: the reference operator's proofs, without a command.

use serde_json::{Value, json};

use crate::support::audit::Audit;
use crate::support::controller::{Controller, Setup, directory_sync};
use crate::support::kubectl::kubectl;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, deployment, own_agent, own_agent_of, service};
use crate::support::namespace::{Namespace, condition_of};
use crate::support::source::Source;

const SERVICE: &str = "pet-coverage";

/// A Deployment, its Target and a controller that has served it.
fn served(prefix: &str) -> (Namespace, Controller) {
    let ns = Namespace::new(prefix);
    ns.create("deployments", &deployment("pet"));
    ns.create("closurejvmtargets", &own_agent("pet"));
    let controller = Setup::new(&[&ns.name]).start();
    published(&ns);
    (ns, controller)
}

/// Waits until the Service is there and its endpoint is told.
fn published(ns: &Namespace) {
    eventually("the endpoint is published", || {
        let status = ns.find("closurejvmtargets", "pet")?["status"].clone();
        let told = status["coverageEndpoint"].is_string();
        (told && ns.exists("services", SERVICE)).then_some(())
    });
}

/// Waits until the status says why there is no Service; then neither it nor a word of its endpoint is there.
fn withdrawn(ns: &Namespace, reason: &str) -> Value {
    let live = eventually(reason, || {
        let live = ns.get("closurejvmtargets", "pet");
        let condition = condition_of(&live, "CoverageServiceReady");
        (condition["status"] == "False" && condition["reason"] == reason).then_some(live)
    });
    assert!(!ns.exists("services", SERVICE), "{live}");
    let status = live["status"].as_object().unwrap();
    assert!(!status.contains_key("coverageEndpoint"), "{live}");
    assert!(!status.contains_key("endpoints"), "{live}");
    live
}

fn switch(ns: &Namespace, spec: Value) {
    ns.edit("closurejvmtargets", "pet", &json!({ "spec": spec }));
}

#[test]
fn switches_withdraw_the_service_and_bring_it_back() {
    let (ns, _controller) = served("switch");
    switch(&ns, json!({ "coverageService": false }));
    let first = withdrawn(&ns, "CoverageServiceDisabled");
    // Another reason for the same status is told, but no transition.
    switch(
        &ns,
        json!({ "agents": { "coverage": { "enabled": false } } }),
    );
    let second = withdrawn(&ns, "CoverageDisabled");
    assert_eq!(second["status"]["phase"], "Disabled");
    let since = |live| condition_of(live, "CoverageServiceReady")["lastTransitionTime"].clone();
    assert_eq!(since(&first), since(&second));
    assert!(since(&first).is_string());

    let on = json!({ "coverageService": true, "agents": { "coverage": { "enabled": true } } });
    switch(&ns, on);
    published(&ns);
    assert_eq!(
        ns.condition("pet", "CoverageServiceReady")["status"],
        "True"
    );
}

#[test]
fn c39_a_deployment_that_is_renamed_removed_and_back() {
    let (ns, _controller) = served("deployment");
    switch(&ns, json!({ "deploymentRef": { "name": "dog" } }));
    withdrawn(&ns, "DeploymentNotFound");
    ns.create("deployments", &deployment("dog"));
    published(&ns);
    assert_eq!(
        ns.get("services", SERVICE)["spec"]["selector"],
        json!({ "app": "dog" })
    );

    ns.delete("deployments", "dog");
    let live = withdrawn(&ns, "DeploymentNotFound");
    assert_eq!(live["status"]["phase"], "Pending");
    // The Deployment that it no longer refers to is none of its business.
    ns.delete("deployments", "pet");
    ns.create("deployments", &deployment("pet"));
    ns.create("deployments", &deployment("dog"));
    published(&ns);
}

#[test]
fn a_deployment_made_anew_with_another_selector_is_followed() {
    let (ns, _controller) = served("selector");
    ns.delete_at_once("deployments", "pet");
    let other = deployment("pet")
        .set(
            "/spec/selector/matchLabels",
            json!({ "app": "pet", "tier": "web" }),
        )
        .set(
            "/spec/template/metadata/labels",
            json!({ "app": "pet", "tier": "web" }),
        );
    eventually("the old one is gone", || {
        (!ns.exists("deployments", "pet")).then_some(())
    });
    ns.create("deployments", &other);
    eventually("the Service selects as the Deployment does", || {
        let service = ns.find("services", SERVICE)?;
        (service["spec"]["selector"] == json!({ "app": "pet", "tier": "web" })).then_some(())
    });
    published(&ns);
}

#[test]
fn c61_phases_and_counts_follow_the_rollout() {
    let ns = Namespace::new("rollout");
    let audit = Audit::new("rollout");
    let _controller = Setup {
        user: Some(&audit.user),
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.create("deployments", &deployment("pet").set("/spec/replicas", 40));
    ns.create("closurejvmtargets", &own_agent("pet"));
    eventually("the rollout is told", || {
        (ns.status("pet")["phase"] == "Injecting").then_some(())
    });
    ns.run_pods("pet", 40);
    let counts = |ready: u32, total: u32| {
        let what = format!("{ready} of {total} endpoints");
        eventually(&what, || {
            let told = ns.status("pet")["endpoints"] == json!({ "ready": ready, "total": total });
            told.then_some(())
        });
    };
    counts(40, 40);
    eventually("it is instrumented", || {
        (ns.condition("pet", "Ready")["status"] == "True").then_some(())
    });
    let status = ns.status("pet");
    assert_eq!(
        (&status["phase"], &status["instrumentedReplicas"]),
        (&json!("Instrumented"), &json!(40))
    );

    // The pods' other addresses and more pods, in slices of their own, as a cluster with both families and many pods has them.
    let slice = |name: &str, pods: Vec<Value>| {
        let labels = ns.list("endpointslices").into_iter().find_map(|slice| {
            let labels = slice["metadata"]["labels"].clone();
            (labels["kubernetes.io/service-name"] == SERVICE).then_some(labels)
        });
        // Without it, the slice is nobody's to tidy up.
        let labels = labels
            .unwrap()
            .unset("/endpointslice.kubernetes.io~1managed-by");
        let slice = json!({
            "metadata": { "name": name, "labels": labels },
            "addressType": "IPv6",
            "endpoints": pods,
            "ports": [{ "name": "jacoco", "port": 6300 }],
        });
        ns.create("endpointslices", &slice);
    };
    let endpoint = |i: usize, uid: &str, ready: bool| {
        json!({
            "addresses": [format!("fd00::{i:x}")],
            "conditions": { "ready": ready },
            "targetRef": { "kind": "Pod", "namespace": ns.name, "name": format!("pet-{i}"), "uid": uid },
        })
    };
    let pods = ns.list("pods");
    let twins = pods.iter().enumerate();
    let twins =
        twins.map(|(i, pod)| endpoint(i + 1, pod["metadata"]["uid"].as_str().unwrap(), true));
    slice("twins", twins.collect());
    slice(
        "more",
        (100..105)
            .map(|i| endpoint(i, &format!("more-{i}"), i % 2 == 0))
            .collect(),
    );
    counts(43, 45);

    // Nothing is written that says nothing new.
    let writes = audit.writes();
    let writes = writes
        .iter()
        .filter(|event| event.resource == "closurejvmtargets");
    let others: Vec<_> = writes
        .filter(|event| event.subresource != "status" || event.code != 200)
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn c60_pods_that_are_not_ready_are_told_apart() {
    let ns = Namespace::new("unready");
    let _controller = Setup::new(&[&ns.name]).start();
    ns.create("deployments", &deployment("pet"));
    let hidden = own_agent("pet").set("/spec/agents/coverage/publishNotReady", false);
    ns.create("closurejvmtargets", &hidden);
    ns.run_pods("pet", 2);
    let told = |ready: u32, instrumented: u32| {
        let what = format!("{ready} ready, {instrumented} instrumented");
        eventually(&what, || {
            let status = ns.status("pet");
            let counts = status["endpoints"] == json!({ "ready": ready, "total": 2 });
            (counts && status["instrumentedReplicas"] == instrumented).then_some(())
        });
    };
    told(2, 2);
    let pod = ns.list("pods")[0]["metadata"]["name"]
        .as_str()
        .unwrap()
        .to_owned();
    let conditions = json!([{ "type": "Ready", "status": "False" }]);
    ns.edit(
        "pods:status",
        &pod,
        &json!({ "status": { "conditions": conditions } }),
    );
    told(1, 1);
    assert_eq!(
        ns.get("services", SERVICE)["spec"]["publishNotReadyAddresses"],
        Value::Null
    );
    switch(
        &ns,
        json!({ "agents": { "coverage": { "publishNotReady": true } } }),
    );
    eventually("they are published", || {
        (ns.get("services", SERVICE)["spec"]["publishNotReadyAddresses"] == true).then_some(())
    });
}

#[test]
fn c53_a_foreign_service_is_refused_until_it_goes() {
    let ns = Namespace::new("foreign");
    let theirs = ns.create("services", &service(SERVICE));
    ns.create("deployments", &deployment("pet"));
    let _controller = Setup::new(&[&ns.name]).start();
    ns.create("closurejvmtargets", &own_agent("pet"));
    eventually("it is refused", || {
        (ns.condition("pet", "CoverageServiceReady")["reason"] == "ServiceNotOurs").then_some(())
    });
    assert!(ns.status("pet").get("coverageEndpoint").is_none());
    assert_eq!(ns.get("services", SERVICE), theirs);
    ns.delete("services", SERVICE);
    published(&ns);
}

#[test]
fn a_service_that_lost_its_owner_gets_it_back() {
    let (ns, _controller) = served("orphan");
    let before = ns.get("services", SERVICE);
    let owner = before["metadata"]["ownerReferences"].clone();
    assert_eq!(owner[0]["name"], "pet");
    let path = ns.path("services", SERVICE);
    api().patch(
        &path,
        &json!([{ "op": "remove", "path": "/metadata/ownerReferences" }]),
    );
    eventually("its owner is back", || {
        (ns.get("services", SERVICE)["metadata"]["ownerReferences"] == owner).then_some(())
    });
    let selector = json!({ "spec": { "selector": { "app": "other" } } });
    ns.edit("services", SERVICE, &selector);
    eventually("its selector is back", || {
        (ns.get("services", SERVICE)["spec"] == before["spec"]).then_some(())
    });
    // With its Target, also when that has no Deployment any more, it goes.
    ns.delete("deployments", "pet");
    withdrawn(&ns, "DeploymentNotFound");
    ns.delete("closurejvmtargets", "pet");
}

#[test]
fn a_target_made_with_kubectl_goes_with_its_service() {
    let ns = Namespace::new("kubectl");
    let _controller = Setup::new(&[&ns.name]).start();
    kubectl(
        &["-n", &ns.name, "apply", "-f", "-"],
        &[own_agent("pet"), deployment("pet")],
    );
    published(&ns);
    kubectl(&["-n", &ns.name, "delete", "closurejvmtarget", "pet"], &[]);
    eventually("the Service is collected", || {
        (!ns.exists("services", SERVICE)).then_some(())
    });
}

#[test]
fn targets_of_a_sync_are_served_when_their_deployment_comes_and_goes() {
    let ns = Namespace::new("from-sync");
    let source = Source::new().with("target.yaml", &[own_agent_of("pet", "dog")]);
    let sync = directory_sync(&ns.name, "it", &source, json!({}));
    let _controller = Setup {
        syncs: &[sync],
        ..Setup::new(&[&ns.name])
    }
    .start();
    let pending = || {
        eventually("it waits for its Deployment", || {
            let live = ns.find("closurejvmtargets", "pet")?;
            let condition = condition_of(&live, "CoverageServiceReady");
            (condition["reason"] == "DeploymentNotFound").then_some(())
        });
        withdrawn(&ns, "DeploymentNotFound");
    };
    pending();
    source.write("dog.yaml", &[deployment("dog")]);
    published(&ns);
    source.remove("dog.yaml");
    pending();
    source.write("dog.yaml", &[deployment("dog")]);
    published(&ns);
    source.write("target.yaml", &[]);
    eventually("Target and Service are gone", || {
        let target = ns.exists("closurejvmtargets", "pet");
        (!target && !ns.exists("services", SERVICE)).then_some(())
    });
}
