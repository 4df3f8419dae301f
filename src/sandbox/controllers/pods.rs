//! The pods of a workload.

use std::sync::Arc;

use serde_json::{Value, json};

use super::client;
use super::object::{
    adopted, beside, controller, is_controlled_by, is_leaving, is_true, labels, matches, meta,
    reference, set, text,
};
use crate::state::State;
use crate::store::Key;

/// A pod, and where it is.
pub(super) type Pod = (Key, Arc<Value>);

/// The pods that a workload controls.
pub(super) fn of(state: &State, key: &Key, owner: &Value) -> Vec<Pod> {
    let uid = meta(owner, "uid");
    let dependents = state.controllers.dependents(uid).into_iter();
    dependents
        .filter(|dependent| &*dependent.resource == "pods" && dependent.namespace == key.namespace)
        .filter_map(|key| Some((key.clone(), state.store.get(&key)?.clone())))
        .filter(|(_, pod)| is_controlled_by(pod, uid))
        .collect()
}

/// Whether a pod runs or will run.
pub(super) fn is_active(pod: &Value) -> bool {
    !is_leaving(pod) && !is_finished(pod)
}

/// Whether a pod has run.
pub(super) fn is_finished(pod: &Value) -> bool {
    matches!(text(pod, "/status/phase"), "Succeeded" | "Failed")
}

/// Whether a pod is ready.
pub(super) fn is_ready(pod: &Value) -> bool {
    is_true(pod, "Ready")
}

/// Takes over the pods that nobody controls and that a workload selects.
pub(super) fn adopt(state: &mut State, key: &Key, owner: &Value) {
    let selector = owner.pointer("/spec/selector");
    let alone = state.controllers.alone(key, "pods");
    let alone: Vec<Pod> = alone
        .filter_map(|key| Some((key.clone(), state.store.get(key)?.clone())))
        .filter(|(_, pod)| {
            controller(pod).is_none() && is_active(pod) && matches(labels(pod), selector)
        })
        .collect();
    for (key, pod) in alone {
        client::update(state, &key, adopted(&pod, owner));
    }
}

/// A new pod from the template of a workload, without a name.
pub(super) fn from_template(owner: &Value) -> Value {
    let template = owner.pointer("/spec/template").unwrap_or(&Value::Null);
    let mut pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "namespace": meta(owner, "namespace"),
            "ownerReferences": [reference(owner)],
        },
        "spec": template.get("spec"),
    });
    for field in ["labels", "annotations", "finalizers"] {
        if let Some(value) = template.pointer(&format!("/metadata/{field}")) {
            set(&mut pod, &["metadata", field], value.clone());
        }
    }
    pod
}

/// Makes a pod whose name begins as that of its owner.
pub(super) fn make(state: &mut State, key: &Key, owner: &Value, mut pod: Value) {
    let begin = format!("{}-", meta(owner, "name"));
    set(&mut pod, &["metadata", "generateName"], begin.into());
    client::create(state, &beside(key, "pods", ""), pod);
}

/// Deletes a pod.
pub(super) fn delete(state: &mut State, (key, pod): &Pod) {
    client::delete(state, key, pod, json!({}));
}
