//! What becomes of a new pod before it is kept.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::error::ApiError;
use crate::kinds::defaults::{has, put, text};
use crate::state::State;
use crate::store::Key;

/// Seconds that pods stay on a node that is not ready or not to be reached.
const PATIENCE: i64 = 300;

/// Gives a new pod its priority, its patience with nodes, and its first status.
pub(in super::super) fn create(state: &State, pod: &mut Value) -> Result<(), ApiError> {
    let name = pod.pointer("/metadata/name").and_then(Value::as_str);
    let name = name.unwrap_or_default().to_owned();
    let quality = quality(pod.get("spec").unwrap_or(&Value::Null));
    let forbid = |why: String| ApiError::forbidden("", "pods", &name, &why);
    if let Some(spec) = pod.get_mut("spec") {
        tolerate(spec);
        prioritize(state, spec).map_err(forbid)?;
        run(state, spec).map_err(forbid)?;
    }
    put(
        pod,
        "status",
        json!({ "phase": "Pending", "qosClass": quality }),
    );
    Ok(())
}

/// Keeps what admission gave to a pod, if an update forgets it.
pub(in super::super) fn prepare_update(pod: &mut Value, old: &Value) {
    let Some(spec) = pod.get_mut("spec") else {
        return;
    };
    tolerate(spec);
    for field in ["priority", "preemptionPolicy"] {
        let before = old.get("spec").and_then(|spec| spec.get(field));
        if let Some(before) = before.filter(|_| !has(spec, field)) {
            put(spec, field, before.clone());
        }
    }
}

/// Looks the pod's runtime up, which adds what it needs itself.
fn run(state: &State, spec: &mut Value) -> Result<(), String> {
    let name = text(spec, "runtimeClassName");
    if name.is_empty() {
        return match has(spec, "overhead") {
            true => Err("pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead".to_owned()),
            false => Ok(()),
        };
    }
    let key = Key {
        resource: "runtimeclasses.node.k8s.io".into(),
        namespace: String::new(),
        name: name.to_owned(),
    };
    let Some(class) = state.store.get(&key) else {
        return Err(format!("pod rejected: RuntimeClass {name:?} not found"));
    };
    if let Some(overhead) = class.pointer("/overhead/podFixed") {
        put(spec, "overhead", overhead.clone());
    }
    Ok(())
}

/// Lets a pod stay for a while on a node that is in trouble, unless it says how long itself.
fn tolerate(spec: &mut Value) {
    let Some(fields) = spec.as_object_mut() else {
        return;
    };
    let tolerations = fields.entry("tolerations").or_insert(Value::Null);
    if tolerations.is_null() {
        *tolerations = json!([]);
    }
    let Some(tolerations) = tolerations.as_array_mut() else {
        return;
    };
    for key in [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
    ] {
        let says = |toleration: &Value| {
            let said = text(toleration, "key");
            let effect = text(toleration, "effect");
            (said == key || said.is_empty()) && matches!(effect, "NoExecute" | "")
        };
        if !tolerations.iter().any(says) {
            tolerations.push(json!({
                "key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": PATIENCE,
            }));
        }
    }
}

/// Looks the pod's priority up in its class; a pod does not say it itself.
fn prioritize(state: &State, spec: &mut Value) -> Result<(), String> {
    let class = match text(spec, "priorityClassName") {
        "" => default_class(state),
        name => Some(
            named_class(state, name)
                .ok_or(format!("no PriorityClass with name {name} was found"))?,
        ),
    };
    let (name, priority, preemption) = class.unwrap_or_default();
    let preemption = match preemption.as_str() {
        "" => "PreemptLowerPriority",
        preemption => preemption,
    };
    if let Some(said) = spec.get("priority").and_then(Value::as_i64)
        && said != priority
    {
        return Err(format!(
            "the integer value of priority ({said}) must not be provided in pod spec; priority admission controller computed {priority} from the given PriorityClass name"
        ));
    }
    if has(spec, "preemptionPolicy") && text(spec, "preemptionPolicy") != preemption {
        let said = text(spec, "preemptionPolicy");
        return Err(format!(
            "the string value of PreemptionPolicy ({said}) must not be provided in pod spec; priority admission controller computed {preemption} from the given PriorityClass name"
        ));
    }
    if !name.is_empty() {
        put(spec, "priorityClassName", name);
    }
    put(spec, "priority", priority);
    put(spec, "preemptionPolicy", preemption);
    Ok(())
}

/// A class's name, value and preemption.
type Class = (String, i64, String);

fn resource() -> Arc<str> {
    "priorityclasses.scheduling.k8s.io".into()
}

fn class(class: &Value) -> Class {
    let name = class.pointer("/metadata/name").and_then(Value::as_str);
    let value = class.get("value").and_then(Value::as_i64);
    let preemption = text(class, "preemptionPolicy").to_owned();
    (
        name.unwrap_or_default().to_owned(),
        value.unwrap_or(0),
        preemption,
    )
}

fn named_class(state: &State, name: &str) -> Option<Class> {
    let key = Key {
        resource: resource(),
        namespace: String::new(),
        name: name.to_owned(),
    };
    let built_in = |value| (name.to_owned(), value, String::new());
    match (state.store.get(&key), name) {
        (Some(found), _) => Some(class(found)),
        (None, "system-cluster-critical") => Some(built_in(2_000_000_000)),
        (None, "system-node-critical") => Some(built_in(2_000_001_000)),
        _ => None,
    }
}

fn default_class(state: &State) -> Option<Class> {
    let classes = state.store.list(&resource(), None).map(|(_, class)| class);
    classes
        .filter(|class| class.get("globalDefault") == Some(&Value::Bool(true)))
        .map(|found| class(found))
        .min_by_key(|(_, value, _)| *value)
}

/// The quality of service that a pod's requests and limits make.
pub(in super::super) fn quality(spec: &Value) -> &'static str {
    let mut any = false;
    let mut guaranteed = true;
    let lists = ["containers", "initContainers"];
    let containers = lists
        .iter()
        .filter_map(|list| spec.get(list).and_then(Value::as_array))
        .flatten();
    for container in containers {
        for resource in ["cpu", "memory"] {
            let said = |list: &str| {
                let quantity = container.get("resources")?.get(list)?.get(resource)?;
                super::resources::size(quantity).filter(|&size| size != 0)
            };
            let (request, limit) = (said("requests"), said("limits"));
            any |= request.is_some() || limit.is_some();
            guaranteed &= limit.is_some() && (request.is_none() || request == limit);
        }
    }
    match (any, guaranteed) {
        (false, _) => "BestEffort",
        (true, true) => "Guaranteed",
        (true, false) => "Burstable",
    }
}
