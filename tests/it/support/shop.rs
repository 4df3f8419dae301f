//! A Deployment that gets the agent, and what becomes of it.

use serde_json::{Value, json};

use super::lab::eventually;
use super::manifest::{Change, deployment};
use super::namespace::Namespace;
use super::source::Source;

/// How the option starts that loads the agent.
pub const JAR: &str = "-javaagent:/covergence-agent/jacocoagent.jar=";

/// A Deployment with something in each list that the agent is added to.
pub fn shop() -> Value {
    let container = json!({
        "name": "app",
        "image": "shop/pet:1",
        "env": [
            { "name": "BASE", "value": "-Xmx64m" },
            { "name": "JAVA_TOOL_OPTIONS", "value": "$(BASE) -Dname='a b'" },
        ],
        "ports": [{ "name": "http", "containerPort": 8080 }],
        "volumeMounts": [{ "name": "data", "mountPath": "/data" }],
    });
    deployment("pet")
        .set("/spec/template/spec/containers", json!([container]))
        .set(
            "/spec/template/spec/initContainers",
            json!([{ "name": "first", "image": "shop/first:1" }]),
        )
        .set(
            "/spec/template/spec/volumes",
            json!([{ "name": "data", "emptyDir": {} }]),
        )
}

/// What a Deployment is, without who wrote it when.
pub fn essence(ns: &Namespace) -> Value {
    // The controller counts revisions there, and may tell first that it has seen what was scaled.
    let revision = "deployment.kubernetes.io/revision";
    let live = eventually("the Deployment controller has counted", || {
        let live = ns.get("deployments", "pet");
        let is_counted = live["metadata"]["annotations"][revision].is_string();
        is_counted.then_some(live)
    });
    let metadata = &live["metadata"];
    let annotations = metadata["annotations"].clone();
    let annotations = annotations.unset("/deployment.kubernetes.io~1revision");
    json!({
        "spec": live["spec"], "labels": metadata["labels"], "annotations": annotations,
        "uid": metadata["uid"],
    })
}

pub fn generation(ns: &Namespace) -> i64 {
    let live = ns.get("deployments", "pet");
    live["metadata"]["generation"].as_i64().unwrap()
}

/// Waits until the Deployment controller has seen the present spec.
pub fn seen(ns: &Namespace) {
    eventually("the Deployment controller has seen it", || {
        let live = ns.get("deployments", "pet");
        let is_seen = live["status"]["observedGeneration"] == live["metadata"]["generation"];
        is_seen.then_some(())
    });
}

/// The options of the JVM, as the cluster has them.
pub fn options(ns: &Namespace) -> Vec<String> {
    let live = ns.get("deployments", "pet");
    let env = live.pointer("/spec/template/spec/containers/0/env");
    let entries = env.and_then(Value::as_array).into_iter().flatten();
    let entries = entries.filter(|entry| entry["name"] == "JAVA_TOOL_OPTIONS");
    let value = |entry: &Value| entry["value"].as_str().unwrap_or_default().to_owned();
    entries.map(value).collect()
}

/// Names of the sets of pods, and how many each is to have.
pub fn replica_sets(ns: &Namespace) -> Vec<(String, u64)> {
    let sets = ns.list("replicasets");
    let mut sets: Vec<_> = sets
        .iter()
        .map(|set| {
            let name = set["metadata"]["name"].as_str().unwrap().to_owned();
            (name, set["spec"]["replicas"].as_u64().unwrap())
        })
        .collect();
    sets.sort();
    sets
}

/// A source with the shop, applied and seen.
pub fn applied(prefix: &str) -> (Namespace, Source) {
    let ns = Namespace::new(prefix);
    let source = Source::new().with("shop.yaml", &[shop()]);
    ns.sync(&source).ok();
    seen(&ns);
    (ns, source)
}

/// The options of the JVM by what a Deployment was.
pub fn value_of(essence: &Value) -> String {
    let value = essence.pointer("/spec/template/spec/containers/0/env/1/value");
    value.unwrap().as_str().unwrap().to_owned()
}
