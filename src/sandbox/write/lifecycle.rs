//! What writes of Namespaces and CustomResourceDefinitions do to the rest, and what Namespaces allow.

use std::sync::Arc;

use serde_json::Value;

use super::body::DEFINITIONS;
use super::definitions;
use super::key::Write;
use super::metadata::{metadata, text};
use crate::error::{ApiError, Cause};
use crate::state::State;
use crate::store::Key;

/// Namespaces that stay.
pub(super) const PROTECTED: [&str; 3] = ["default", "kube-public", "kube-system"];

/// Whether something new of its kind may come, and into its namespace.
pub(super) fn may_create(state: &State, write: &Write<'_>, object: &Value) -> Result<(), ApiError> {
    definitions::may_create(state, write)?;
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
        definitions::establish(state, &write.key, object);
    }
}

/// Follows up a changed object.
pub(super) fn changed(state: &mut State, write: &Write<'_>, object: &Arc<Value>) {
    if &*write.key.resource == DEFINITIONS && write.subresource().is_empty() {
        definitions::establish(state, &write.key, object);
    }
}

/// Follows up an object that is gone: what a definition made is not served any more, and a definition that waited for the last
/// of its objects goes as well.
pub(super) fn gone(state: &mut State, key: &Key) {
    if &*key.resource == DEFINITIONS {
        state.kinds.remove_custom(&key.name);
    } else {
        definitions::finish(state, &key.resource);
    }
}
