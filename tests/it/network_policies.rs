//! NetworkPolicies of Targets: the agent's port is for those who were named, and every other declared port stays as it was.

use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::controller::Setup;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, deployment, target};
use crate::support::namespace::{Namespace, condition_of};
use crate::support::source::Source;

const POLICIES: &str = "networkpolicies.networking.k8s.io/v1";
const NAME: &str = "pet-coverage";

/// A Deployment whose containers say which ports they have.
fn listening() -> Value {
    let ports = json!([{ "containerPort": 8080 }, { "containerPort": 53, "protocol": "UDP" }]);
    deployment("pet").set("/spec/template/spec/containers/0/ports", ports)
}

fn tests_only() -> Value {
    json!([
        { "podSelector": { "matchLabels": { "role": "tests" } }, "namespaceSelector": {} },
        { "ipBlock": { "cidr": "192.0.2.0/24", "except": ["192.0.2.1/32"] } },
    ])
}

/// A Target of an image with an agent, whose port is for tests only.
fn limited() -> Value {
    target("pet")
        .set("/spec/agents/coverage/injection", "None")
        .set("/spec/networkPolicy/from", tests_only())
}

/// Waits until the status says of the policy what it should.
fn told(ns: &Namespace, status: &str, reason: &str) {
    eventually(reason, || {
        let condition = ns.condition("pet", "NetworkPolicyReady");
        (condition["status"] == status && condition["reason"] == reason).then_some(())
    });
}

#[test]
fn the_agents_port_is_for_those_who_are_named() {
    let ns = Namespace::new("policy");
    ns.create("deployments", &listening());
    let source = Source::new().with("pet.yaml", &[limited()]);
    assert_eq!(
        ns.diff(&source).code(1).action("NetworkPolicy", NAME),
        "create"
    );
    assert_eq!(
        ns.sync(&source).ok().outcome("NetworkPolicy", NAME),
        "created"
    );
    let policy = ns.get(POLICIES, NAME);
    assert_eq!(
        policy["spec"],
        json!({
            "podSelector": { "matchLabels": { "app": "pet" } },
            "policyTypes": ["Ingress"],
            "ingress": [
                { "from": tests_only(), "ports": [{ "protocol": "TCP", "port": 6300 }] },
                { "ports": [{ "protocol": "UDP", "port": 53 }, { "protocol": "TCP", "port": 8080 }] },
            ],
        })
    );
    let owner = &policy["metadata"]["ownerReferences"][0];
    assert_eq!(
        (&owner["kind"], &owner["name"]),
        (&"ClosureJVMTarget".into(), &"pet".into())
    );
    told(&ns, "True", "NetworkPolicyApplied");
    ns.diff(&source).ok();

    // What somebody opens is closed again.
    ns.edit(POLICIES, NAME, &json!({ "spec": { "ingress": [{}] } }));
    assert_eq!(
        ns.diff(&source).code(1).action("NetworkPolicy", NAME),
        "configure"
    );
    assert_eq!(
        ns.sync(&source).ok().outcome("NetworkPolicy", NAME),
        "configured"
    );
    assert_eq!(ns.get(POLICIES, NAME)["spec"], policy["spec"]);

    // Without --prune: it has not left the source, its Target wants it no more.
    source.write("pet.yaml", &[limited().unset("/spec/networkPolicy")]);
    assert_eq!(
        ns.sync(&source).ok().outcome("NetworkPolicy", NAME),
        "deleted"
    );
    assert!(!ns.exists(POLICIES, NAME));
    assert!(ns.exists("services", NAME));
    assert!(ns.condition("pet", "NetworkPolicyReady").is_null());
    ns.diff(&source).ok();
}

#[test]
fn an_application_is_not_cut_off_for_ports_that_nobody_declared() {
    let ns = Namespace::new("policy-ports");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[limited()]);
    ns.sync(&source).ok();
    assert!(!ns.exists(POLICIES, NAME));
    told(&ns, "False", "NoDeclaredPorts");
    assert!(ns.exists("services", NAME));
    ns.diff(&source).ok();
}

#[test]
fn a_policy_of_somebody_else_is_left_alone() {
    let ns = Namespace::new("policy-foreign");
    ns.create("deployments", &listening());
    let theirs = json!({ "metadata": { "name": NAME }, "spec": { "podSelector": {} } });
    let before = ns.create(POLICIES, &theirs);
    ns.sync(&Source::new().with("pet.yaml", &[limited()]))
        .code(2);
    assert_eq!(ns.get(POLICIES, NAME), before);
    told(&ns, "False", "NetworkPolicyNotOurs");
    assert!(ns.exists("services", NAME));
}

#[test]
fn nobody_is_not_taken_for_everybody() {
    let ns = Namespace::new("policy-nobody");
    ns.create("deployments", &listening());
    let empty = limited().set("/spec/networkPolicy/from", json!([]));
    let targets = path("closurejvmtargets", Some(&ns.name), None);
    let answer = api().send("POST", &targets, "application/json", &empty);
    let refused = answer.expect_err("a list without anybody");
    assert_eq!(refused.code, 422);
    // The API server's own check of a peer that names nobody.
    let nameless = limited().set("/spec/networkPolicy/from", json!([{}]));
    ns.sync(&Source::new().with("pet.yaml", &[nameless]))
        .code(2);
    assert!(!ns.exists(POLICIES, NAME));
    told(&ns, "False", "NetworkPolicyFailed");
}

#[test]
fn the_controller_keeps_the_policy_as_the_target_has_it() {
    let ns = Namespace::new("policy-kept");
    ns.create("deployments", &listening());
    ns.create("closurejvmtargets", &limited());
    let _controller = Setup::new(&[&ns.name]).start();
    told(&ns, "True", "NetworkPolicyApplied");
    let spec = ns.get(POLICIES, NAME)["spec"].clone();
    ns.delete_at_once(POLICIES, NAME);
    let is_back = |what| {
        eventually(what, || {
            let policy = ns.find(POLICIES, NAME)?;
            (policy["spec"] == spec).then_some(())
        });
    };
    is_back("the policy is made anew");
    ns.edit(POLICIES, NAME, &json!({ "spec": { "ingress": [{}] } }));
    is_back("the policy is closed again");
    ns.edit(
        "closurejvmtargets",
        "pet",
        &json!({ "spec": { "networkPolicy": null } }),
    );
    eventually("the policy is gone, and what was said of it", || {
        let live = ns.get("closurejvmtargets", "pet");
        let told = condition_of(&live, "NetworkPolicyReady");
        (told.is_null() && !ns.exists(POLICIES, NAME)).then_some(())
    });
    assert!(ns.exists("services", NAME));
}
