//! What writes of Namespaces and CustomResourceDefinitions do to the rest, and what Namespaces allow.

use std::sync::Arc;

use serde_json::{Value, json};

use super::body::DEFINITIONS;
use super::key::Write;
use super::metadata::{metadata, text};
use crate::sandbox::crd;
use crate::sandbox::error::{ApiError, Cause};
use crate::sandbox::state::State;
use crate::sandbox::store::Key;

/// Namespaces that stay.
pub(super) const PROTECTED: [&str; 3] = ["default", "kube-public", "kube-system"];

/// Whether something new may come into its namespace.
pub(super) fn may_create(state: &State, write: &Write<'_>, object: &Value) -> Result<(), ApiError> {
    if !write.kind.namespaced {
        return Ok(());
    }
    let namespace = &write.key.namespace;
    let key = Key {
        resource: "namespaces".into(),
        namespace: String::new(),
        name: namespace.clone(),
    };
    let Some(found) = state.store.get(&key) else {
        return Err(ApiError::not_found("", "namespaces", namespace));
    };
    if metadata(found).get("deletionTimestamp").is_none() {
        return Ok(());
    }
    let why = format!(
        "unable to create new content in namespace {namespace} because it is being terminated"
    );
    let name = text(metadata(object), "name");
    let mut error = ApiError::forbidden(&write.kind.group, &write.kind.plural, name, &why);
    error.details_mut().causes.push(Cause {
        reason: "NamespaceTerminating",
        message: format!("namespace {namespace} is being terminated"),
        field: "metadata.namespace".to_owned(),
    });
    Err(error)
}

/// Follows up a new object: a definition is established at once.
pub(super) fn created(state: &mut State, write: &Write<'_>, object: &Arc<Value>) {
    if &*write.key.resource == DEFINITIONS {
        establish(state, &write.key, object, &write.now);
    }
}

/// Follows up a changed object.
pub(super) fn changed(state: &mut State, write: &Write<'_>, object: &Arc<Value>) {
    if &*write.key.resource == DEFINITIONS && write.subresource().is_empty() {
        establish(state, &write.key, object, &write.now);
    }
}

/// Follows up an object that is gone: what a definition made is not served any more.
pub(super) fn gone(state: &mut State, key: &Key) {
    if &*key.resource == DEFINITIONS {
        state.kinds.remove_custom(&key.name);
    }
}

/// Serves what a definition makes, and says so in its status.
fn establish(state: &mut State, key: &Key, definition: &Arc<Value>, now: &str) {
    if metadata(definition).get("deletionTimestamp").is_some() {
        return;
    }
    state.kinds.remove_custom(&key.name);
    for kind in crd::kinds(definition) {
        state.kinds.add(kind);
    }
    let spec = definition.get("spec").unwrap_or(&Value::Null);
    let names = spec.get("names").cloned().unwrap_or_default();
    let stored = stored_versions(definition);
    let since = |r#type: &str| {
        let conditions = definition.pointer("/status/conditions");
        let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
        let found = conditions.find(|condition| text(condition, "type") == r#type);
        let time = found.and_then(|condition| condition.get("lastTransitionTime"));
        time.cloned().unwrap_or_else(|| now.into())
    };
    let status = json!({
        "conditions": [
            {
                "type": "NamesAccepted", "status": "True", "lastTransitionTime": since("NamesAccepted"),
                "reason": "NoConflicts", "message": "no conflicts found",
            },
            {
                "type": "Established", "status": "True", "lastTransitionTime": since("Established"),
                "reason": "InitialNamesAccepted", "message": "the initial names have been accepted",
            },
        ],
        "acceptedNames": names,
        "storedVersions": stored,
    });
    if definition.get("status") != Some(&status) {
        let mut definition = (**definition).clone();
        if let Some(fields) = definition.as_object_mut() {
            fields.insert("status".to_owned(), status);
        }
        state.store.put(key.clone(), definition);
    }
}

/// All versions that were ever stored.
fn stored_versions(definition: &Value) -> Vec<Value> {
    let known = definition.pointer("/status/storedVersions");
    let mut stored = known.and_then(Value::as_array).cloned().unwrap_or_default();
    let versions = definition
        .pointer("/spec/versions")
        .and_then(Value::as_array);
    let storage = versions
        .into_iter()
        .flatten()
        .find(|version| version.get("storage") == Some(&Value::Bool(true)));
    if let Some(name) = storage.and_then(|version| version.get("name"))
        && !stored.contains(name)
    {
        stored.push(name.clone());
    }
    stored
}
