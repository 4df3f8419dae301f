//! Deployments that the agent is put into.

use serde_json::{Value, json};

use super::api::path;
use super::controller::{Controller, Setup};
use super::lab::{api, eventually};
use super::manifest::target;
use super::namespace::Namespace;

/// Annotation and label of a Deployment that carries the agent.
pub const MARK: &str = "closurejvm.io/agent";

/// How the option starts that loads the agent.
pub fn agent() -> &'static str {
    "-javaagent:/covergence-agent/jacocoagent.jar="
}

/// A Target for the Deployment `pet`, and a controller that has put the agent into it.
pub fn served(ns: &Namespace) -> Controller {
    served_by(ns, Setup::new(&[&ns.name]))
}

/// The same with a controller that is set up in another way.
pub fn served_by(ns: &Namespace, setup: Setup<'_>) -> Controller {
    ns.create("closurejvmtargets", &target("pet"));
    let controller = setup.start();
    carries(ns, "pet");
    controller
}

pub fn switch_on(ns: &Namespace, target: &str) {
    switch(ns, target, true);
}

pub fn switch_off(ns: &Namespace, target: &str) {
    switch(ns, target, false);
}

fn switch(ns: &Namespace, target: &str, enabled: bool) {
    let spec = json!({ "agents": { "coverage": { "enabled": enabled } } });
    ns.edit("closurejvmtargets", target, &json!({ "spec": spec }));
}

/// Waits until a Deployment carries the agent and its Target says so.
pub fn carries(ns: &Namespace, deployment: &str) -> Value {
    let live = eventually(&format!("{deployment} carries the agent"), || {
        let live = ns.find("deployments", deployment)?;
        has_agent(&live).then_some(live)
    });
    eventually("a Target says so", || {
        let targets = ns.list("closurejvmtargets");
        let conditions = targets
            .iter()
            .map(|it| super::namespace::condition_of(it, "AgentInjected"));
        conditions
            .into_iter()
            .any(|it| it["status"] == "True")
            .then_some(())
    });
    assert!(live["metadata"]["annotations"][MARK].is_string(), "{live}");
    live
}

/// Tells whether a Deployment has all that is put in.
pub fn has_agent(live: &Value) -> bool {
    let named = |list: &Value| {
        let items = list.as_array().into_iter().flatten();
        items.clone().any(|it| it["name"] == "covergence-agent")
    };
    let containers = pod(live)["containers"].as_array();
    let mut containers = containers.into_iter().flatten();
    named(&pod(live)["initContainers"])
        && named(&pod(live)["volumes"])
        && containers.any(|it| named(&it["volumeMounts"]) && it.to_string().contains(agent()))
}

/// Waits until nothing of the agent is left in a Deployment.
pub fn is_bare(ns: &Namespace, deployment: &str) -> Value {
    eventually(&format!("{deployment} carries nothing"), || {
        let live = ns.get("deployments", deployment);
        let text = live.to_string();
        let traces = [
            "covergence-agent",
            "closurejvm.io/agent",
            "closurejvm.io/coverage-port",
        ];
        (!traces.iter().any(|trace| text.contains(trace))).then_some(live)
    })
}

pub fn template(live: &Value) -> Value {
    live["spec"]["template"].clone()
}

pub fn pod(live: &Value) -> &Value {
    &live["spec"]["template"]["spec"]
}

/// Who owns which fields, but for what Kubernetes' own controllers report, and when.
pub fn owners(live: &Value) -> Vec<Value> {
    let entries = live["metadata"]["managedFields"].as_array().unwrap();
    let others = entries
        .iter()
        .filter(|it| it["manager"] != "kube-controller-manager");
    let mut others: Vec<Value> = others
        .map(|it| {
            let mut it = it.clone();
            it.as_object_mut().unwrap().remove("time");
            it
        })
        .collect();
    others.sort_by_key(Value::to_string);
    others
}

/// Waits until there are so many ReplicaSets.
pub fn replica_sets(ns: &Namespace, count: usize) -> Vec<Value> {
    eventually(&format!("{count} ReplicaSets"), || {
        let sets = api().list(&path("replicasets", Some(&ns.name), None));
        (sets.len() == count).then_some(sets)
    })
}
