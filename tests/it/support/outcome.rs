//! What a Sync has come to.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::api::{Api, path};
use super::lab::{USUAL, eventually, eventually_within};
use super::namespace::condition_of;

/// ConfigMaps: `namespace/name` and the value of `key`.
pub type Maps = BTreeMap<String, String>;

/// The ConfigMaps of a list of manifests; those without a namespace are in this one.
pub fn maps_of(objects: &[Value], namespace: &str) -> Maps {
    objects.iter().map(|map| entry(map, namespace)).collect()
}

/// All ConfigMaps of some namespaces, except for those that Kubernetes makes.
pub fn maps_in(api: &Api, namespaces: &[&str]) -> Maps {
    let mut all = Maps::new();
    for namespace in namespaces {
        let maps = api.list(&path("configmaps", Some(namespace), None));
        let own = maps
            .iter()
            .filter(|map| map["metadata"]["name"] != "kube-root-ca.crt");
        all.extend(own.map(|map| entry(map, namespace)));
    }
    all
}

fn entry(map: &Value, namespace: &str) -> (String, String) {
    let metadata = &map["metadata"];
    let namespace = metadata["namespace"].as_str().unwrap_or(namespace);
    let name = metadata["name"].as_str().unwrap();
    let value = map["data"]["key"].as_str().unwrap_or_default();
    (format!("{namespace}/{name}"), value.to_owned())
}

/// Waits until the ConfigMaps of some namespaces are exactly these.
pub fn becomes(api: &Api, namespaces: &[&str], wanted: &Maps) {
    becomes_within(USUAL, api, namespaces, wanted);
}

/// The same for as long as that may take.
pub fn becomes_within(time: Duration, api: &Api, namespaces: &[&str], wanted: &Maps) {
    let what = format!("{} ConfigMaps are as they are to be", wanted.len());
    eventually_within(time, &what, || {
        (maps_in(api, namespaces) == *wanted).then_some(())
    });
}

/// Waits until a Sync's status says of its present spec that all is well, and gives the Sync.
pub fn is_ready(api: &Api, namespace: &str, name: &str) -> Value {
    is_ready_within(USUAL, api, namespace, name)
}

/// The same for as long as that may take.
pub fn is_ready_within(time: Duration, api: &Api, namespace: &str, name: &str) -> Value {
    eventually_within(time, &format!("Sync {namespace}/{name} is ready"), || {
        find_condition(api, namespace, name, "Ready", "True", "")
    })
}

/// Waits until a Sync's status says of its present spec that it is not, and why, and gives the condition's message.
pub fn is_not_ready(api: &Api, namespace: &str, name: &str, reason: &str) -> String {
    let what = format!("Sync {namespace}/{name} is not ready: {reason}");
    let sync = eventually(&what, || {
        find_condition(api, namespace, name, "Ready", "False", reason)
    });
    let ready = condition_of(&sync, "Ready");
    ready["message"].as_str().unwrap().to_owned()
}

fn find_condition(
    api: &Api,
    namespace: &str,
    name: &str,
    condition: &str,
    status: &str,
    reason: &str,
) -> Option<Value> {
    let sync = api.find(&path("syncs", Some(namespace), Some(name)))?;
    let found = condition_of(&sync, condition);
    let current = sync["status"]["observedGeneration"] == sync["metadata"]["generation"];
    let is_it = found["status"] == status && (reason.is_empty() || found["reason"] == reason);
    (current && is_it).then_some(sync)
}
