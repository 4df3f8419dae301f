//! What becomes of the kinds of CustomResourceDefinitions, and of their objects, as the definitions come and go.

use std::sync::Arc;

use serde_json::{Value, json};

use super::body::DEFINITIONS;
use super::delete;
use super::key::{Write, now};
use super::metadata::{metadata, text};
use crate::crd;
use crate::error::ApiError;
use crate::state::State;
use crate::store::Key;
use crate::types::Origin;

/// What keeps a definition until its objects are gone.
const CLEANUP: &str = "customresourcecleanup.apiextensions.k8s.io";

/// Gives a new definition the status that it has before it is established.
pub(super) fn begin(definition: &mut Value) {
    let versions = definition
        .pointer("/spec/versions")
        .and_then(Value::as_array);
    let stored = versions
        .into_iter()
        .flatten()
        .find(|version| version.get("storage") == Some(&Value::Bool(true)));
    let stored = stored.and_then(|version| version.get("name"));
    let status = json!({
        "acceptedNames": { "plural": "", "kind": "" }, "conditions": null,
        "storedVersions": Vec::from_iter(stored),
    });
    if let Some(fields) = definition.as_object_mut() {
        fields.insert("status".to_owned(), status);
    }
}

/// Serves what a definition makes, and says so in its status.
pub(super) fn establish(state: &mut State, key: &Key, definition: &Arc<Value>) {
    if is_leaving(definition) {
        return;
    }
    state.kinds.remove_custom(&key.name);
    for kind in crd::kinds(definition) {
        state.kinds.add(kind);
    }
    let mut new = (**definition).clone();
    crd::established(&mut new);
    if new != **definition {
        state.store.put(key.clone(), new);
    }
}

/// Whether objects may be made of a kind whose definition may be leaving.
pub(super) fn may_create(state: &State, write: &Write<'_>) -> Result<(), ApiError> {
    let Origin::Custom(definition) = &write.kind.origin else {
        return Ok(());
    };
    let found = state.store.get(&key_of(definition));
    if !found.is_some_and(|definition| is_leaving(definition)) {
        return Ok(());
    }
    let why = "create not allowed while custom resource definition is terminating";
    let error = ApiError::new(405, "MethodNotAllowed", why);
    Err(error.about(&write.kind.group, &write.kind.plural, ""))
}

/// Says in a definition that it goes once its objects are gone.
pub(super) fn leave(definition: &mut Value) {
    if is_leaving(definition) {
        return;
    }
    let condition = json!({
        "type": "Terminating", "status": "True", "lastTransitionTime": now(), "reason": "InstanceDeletionPending",
        "message": "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
    });
    for (path, field, item) in [
        ("/metadata", "finalizers", CLEANUP.into()),
        ("/status", "conditions", condition),
    ] {
        let Some(Value::Object(fields)) = definition.pointer_mut(path) else {
            continue;
        };
        let list = fields.entry(field).or_insert_with(|| json!([]));
        if let Some(list) = list.as_array_mut()
            && !list.contains(&item)
        {
            list.push(item);
        }
    }
}

/// Deletes the objects of a definition that is leaving; those with finalizers are told to go.
pub(super) fn empty(state: &mut State, definition: &str, now: &str) {
    let all = state.store.list(&definition.into(), None);
    let all: Vec<(Key, Arc<Value>)> = all.map(|(key, o)| (key.clone(), o.clone())).collect();
    for (key, object) in all {
        let held = metadata(&object)
            .get("finalizers")
            .and_then(Value::as_array);
        if held.is_none_or(Vec::is_empty) {
            state.store.remove(&key);
        } else if !is_leaving(&object) {
            let mut object = (*object).clone();
            delete::mark(&mut object, 0, now);
            state.store.put(key, object);
        }
    }
    finish(state, definition);
}

/// Lets a definition that is leaving go when none of its objects is left.
pub(super) fn finish(state: &mut State, definition: &str) {
    let key = key_of(definition);
    let Some(found) = state.store.get(&key).filter(|found| is_leaving(found)) else {
        return;
    };
    if state.store.list(&definition.into(), None).next().is_some() {
        return;
    }
    let finalizers = metadata(found).get("finalizers").and_then(Value::as_array);
    let others: Vec<Value> = finalizers
        .into_iter()
        .flatten()
        .filter(|finalizer| *finalizer != CLEANUP)
        .cloned()
        .collect();
    if others.is_empty() {
        state.store.remove(&key);
        state.kinds.remove_custom(definition);
        return;
    }
    let mut found = (**found).clone();
    if let Some(Value::Object(fields)) = found.get_mut("metadata") {
        fields.insert("finalizers".to_owned(), others.into());
    }
    state.store.put(key, found);
}

fn is_leaving(object: &Value) -> bool {
    !text(metadata(object), "deletionTimestamp").is_empty()
}

fn key_of(definition: &str) -> Key {
    Key {
        resource: DEFINITIONS.into(),
        namespace: String::new(),
        name: definition.to_owned(),
    }
}
