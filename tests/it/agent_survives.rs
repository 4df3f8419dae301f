//! What people and tools do to a Deployment that carries the agent: they get what they want, and the agent stays.

use serde_json::{Value, json};

use crate::support::agent::{carries, has_agent, is_bare, owners, pod, served, switch_off};
use crate::support::audit::{Audit, is_quiet};
use crate::support::controller::Setup;
use crate::support::kubectl::kubectl;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, deployment, target};
use crate::support::namespace::Namespace;

/// A Deployment as people apply it, with options of its own.
fn manifest() -> Value {
    deployment("pet").set(
        "/spec/template/spec/containers/0/env",
        json!([{ "name": "A", "value": "1" }]),
    )
}

fn kubectl_in(ns: &Namespace, arguments: &[&str], objects: &[Value]) {
    kubectl(&[&["-n", &ns.name], arguments].concat(), objects);
}

#[test]
fn what_people_do_with_kubectl_is_done_and_the_agent_stays() {
    let ns = Namespace::new("people");
    let apply = ["apply", "-f", "-"];
    kubectl_in(&ns, &apply, &[manifest()]);
    let _controller = served(&ns);
    let does = |arguments: &[&str], objects: &[Value], pointer: &str, expected: Value| {
        kubectl_in(&ns, arguments, objects);
        let live = ns.get("deployments", "pet");
        assert_eq!(live.pointer(pointer), Some(&expected), "{arguments:?}");
        assert!(has_agent(&live), "{arguments:?}: {live}");
    };
    let container = "/spec/template/spec/containers/0";
    // As pipelines do it: the same again, and something new.
    for _ in 0..3 {
        kubectl_in(&ns, &apply, &[manifest()]);
    }
    let louder = manifest().set(&format!("{container}/env/0/value"), "2");
    does(
        &apply,
        std::slice::from_ref(&louder),
        &format!("{container}/env/0/value"),
        json!("2"),
    );
    does(
        &["set", "image", "deployment/pet", "app=shop/pet:2"],
        &[],
        &format!("{container}/image"),
        json!("shop/pet:2"),
    );
    does(
        &["scale", "deployment/pet", "--replicas=5"],
        &[],
        "/spec/replicas",
        json!(5),
    );
    does(
        &["annotate", "deployment/pet", "team=pets"],
        &[],
        "/metadata/annotations/team",
        json!("pets"),
    );
    kubectl_in(&ns, &["set", "env", "deployment/pet", "B=3"], &[]);
    kubectl_in(&ns, &["rollout", "restart", "deployment/pet"], &[]);
    let live = ns.get("deployments", "pet");
    let restarted =
        &live["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"];
    assert!(restarted.is_string() && has_agent(&live), "{live}");

    // All of it is there without the agent.
    switch_off(&ns, "pet");
    let after = is_bare(&ns, "pet");
    let env = json!([{ "name": "A", "value": "2" }, { "name": "B", "value": "3" }]);
    assert_eq!(pod(&after)["containers"][0]["env"], env);
    assert_eq!(pod(&after)["containers"][0]["image"], "shop/pet:2");
    assert_eq!(after["spec"]["replicas"], 5);
    assert_eq!(
        after["spec"]["template"]["metadata"]["annotations"]["kubectl.kubernetes.io/restartedAt"],
        *restarted
    );
    // And kubectl still knows what it had applied: a list that has left the manifest goes as a whole.
    let quieter = louder.unset(&format!("{container}/env"));
    kubectl_in(&ns, &apply, &[quieter]);
    let live = ns.get("deployments", "pet");
    assert!(pod(&live)["containers"][0].get("env").is_none(), "{live}");
}

#[test]
fn c27_an_autoscaler_scales_and_nothing_is_written_for_it() {
    let ns = Namespace::new("scaled");
    let audit = Audit::new("scaled");
    ns.create("deployments", &manifest());
    ns.create("closurejvmtargets", &target("pet"));
    let _controller = Setup {
        user: Some(&audit.user),
        ..Setup::new(&[&ns.name])
    }
    .start();
    carries(&ns, "pet");
    is_quiet(&[&audit]);
    let to_deployments = || {
        let writes = audit.writes();
        writes
            .iter()
            .filter(|event| event.resource == "deployments")
            .count()
    };
    assert_eq!(to_deployments(), 1);
    let scale = json!({ "spec": { "replicas": 7 } });
    let path = ns.path("deployments:scale", "pet");
    api().edit(&path, &scale);
    is_quiet(&[&audit]);
    let live = ns.get("deployments", "pet");
    assert_eq!(live["spec"]["replicas"], 7);
    assert!(has_agent(&live));
    assert_eq!(to_deployments(), 1);
}

#[test]
fn other_appliers_and_the_agent_share_a_deployment() {
    let ns = Namespace::new("share");
    let path = ns.path("deployments", "pet");
    let before = api().apply(&path, "helm", &manifest());
    let _controller = served(&ns);
    // Theirs again, and without one variable and with a volume more.
    let other = manifest()
        .unset("/spec/template/spec/containers/0/env")
        .set(
            "/spec/template/spec/volumes",
            json!([{ "name": "data", "emptyDir": {} }]),
        );
    let applied = api().apply(&path, "helm", &other);
    assert!(has_agent(&applied), "{applied}");
    let env = pod(&applied)["containers"][0]["env"].as_array().unwrap();
    assert_eq!(env.len(), 1, "{env:?}");
    api().apply(&path, "helm", &manifest());
    switch_off(&ns, "pet");
    let after = is_bare(&ns, "pet");
    assert_eq!(after["spec"], before["spec"]);
    assert_eq!(owners(&after), owners(&before));
}

#[test]
fn an_agent_that_is_taken_out_by_hand_comes_back() {
    let ns = Namespace::new("undone");
    ns.create("deployments", &manifest());
    let _controller = served(&ns);
    let with = ns.get("deployments", "pet")["spec"].clone();
    // The template and the annotations of the ReplicaSet from before.
    kubectl_in(&ns, &["rollout", "undo", "deployment/pet"], &[]);
    eventually("it is back", || {
        let live = ns.get("deployments", "pet");
        (live["spec"] == with).then_some(())
    });
    // So does the mark that it is found by.
    kubectl_in(
        &ns,
        &["label", "deployment/pet", "closurejvm.io/agent-"],
        &[],
    );
    eventually("the label is back", || {
        let live = ns.get("deployments", "pet");
        live["metadata"]["labels"]["closurejvm.io/agent"]
            .is_string()
            .then_some(())
    });
    switch_off(&ns, "pet");
    is_bare(&ns, "pet");
}
