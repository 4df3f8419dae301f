//! What else happens to pods: they are bound to nodes, and evicted.

use std::sync::Arc;

use serde_json::{Value, json};

use super::delete;
use super::key::Write;
use super::metadata::{metadata, text};
use crate::error::ApiError;
use crate::state::State;

/// Answers a Binding.
pub(super) fn bind(
    state: &mut State,
    write: &mut Write<'_>,
) -> Result<(u16, Arc<Value>), ApiError> {
    let binding = &write.request.body;
    named(write, binding, "Binding")?;
    let target = binding.get("target").unwrap_or(&Value::Null);
    let node = text(target, "name");
    let mut wrong = Vec::new();
    let kind = text(target, "kind");
    if !matches!(kind, "" | "Node") {
        wrong.push(format!(
            "target.kind: Unsupported value: {kind:?}: supported values: \"Node\", \"<empty>\""
        ));
    }
    if node.is_empty() {
        wrong.push("target.name: Required value".to_owned());
    }
    if !wrong.is_empty() {
        let why = match wrong.as_slice() {
            [one] => one.clone(),
            all => format!("[{}]", all.join(", ")),
        };
        return Err(ApiError::new(500, "", why));
    }
    let Some(pod) = state.store.get(&write.key).cloned() else {
        return Err(write.not_found());
    };
    let name = &write.key.name;
    let conflict = |why: String| ApiError::conflict("", "pods/binding", name, &why);
    if metadata(&pod).get("deletionTimestamp").is_some() {
        return Err(conflict(format!(
            "pod {name} is being deleted, cannot be assigned to a host"
        )));
    }
    let on = pod.pointer("/spec/nodeName").and_then(Value::as_str);
    if let Some(on) = on.filter(|on| !on.is_empty()) {
        return Err(conflict(format!(
            "pod {name} is already assigned to node {on:?}"
        )));
    }
    let mut pod = (*pod).clone();
    if let Some(spec) = pod.get_mut("spec").and_then(Value::as_object_mut) {
        spec.insert("nodeName".to_owned(), node.into());
    }
    scheduled(&mut pod, &write.now);
    if !write.request.dry_run() {
        state.store.put(write.key.clone(), pod);
    }
    Ok((201, done()))
}

/// Says in a pod's status that it has a node.
fn scheduled(pod: &mut Value, now: &str) {
    let condition = json!({
        "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
    });
    let Some(fields) = pod.as_object_mut() else {
        return;
    };
    let status = fields.entry("status").or_insert_with(|| json!({}));
    let Some(status) = status.as_object_mut() else {
        return;
    };
    let conditions = status.entry("conditions").or_insert_with(|| json!([]));
    if let Some(conditions) = conditions.as_array_mut() {
        conditions.retain(|known| text(known, "type") != "PodScheduled");
        conditions.push(condition);
    }
}

/// Answers an Eviction, which is a deletion; no disruption budgets are kept.
pub(super) fn evict(
    state: &mut State,
    write: &mut Write<'_>,
) -> Result<(u16, Arc<Value>), ApiError> {
    let eviction = &write.request.body;
    named(write, eviction, "Eviction")?;
    let options = eviction.get("deleteOptions").unwrap_or(&Value::Null);
    let options = delete::Options::read(write.request, options)?;
    delete::one(state, write, &options)?;
    Ok((201, done()))
}

fn named(write: &Write<'_>, object: &Value, kind: &str) -> Result<(), ApiError> {
    let name = text(metadata(object), "name");
    if !name.is_empty() && name != write.key.name {
        return Err(ApiError::bad_request(format!(
            "name in URL does not match name in {kind} object"
        )));
    }
    Ok(())
}

fn done() -> Arc<Value> {
    Arc::new(json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": 201,
    }))
}
