//! Objects that take the place of others.

use std::sync::Arc;

use serde_json::Value;

use super::body;
use super::change;
use super::create;
use super::key::Write;
use super::managed;
use super::metadata::{metadata, text};
use crate::auth;
use crate::error::ApiError;
use crate::state::State;

/// Kinds whose objects a `PUT` makes where there are none.
const CREATED: [&str; 9] = [
    "clusterrolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "endpoints",
    "events",
    "leases.coordination.k8s.io",
    "limitranges",
    "rolebindings.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io",
    "runtimeclasses.node.k8s.io",
];

/// Answers a `PUT`.
pub(super) fn update(
    state: &mut State,
    write: &mut Write<'_>,
) -> Result<(u16, Arc<Value>), ApiError> {
    let mut object = body::decode(write)?;
    agree(write, &object)?;
    body::place(write, &mut object)?;
    let Some(old) = state.store.get(&write.key).cloned() else {
        if !CREATED.contains(&&*write.key.resource) || !write.subresource().is_empty() {
            return Err(write.not_found());
        }
        auth::authorize_creation(state, write.request)?;
        managed::created(write, &mut object);
        return Ok((201, create::admit(state, write, object)?));
    };
    change::precede(write, &old, &object)?;
    change::keep(write, &old, &mut object);
    managed::changed(write, &old, &mut object);
    Ok((200, change::admit(state, write, &old, object)?))
}

/// Whether an object is the one that the path names.
pub(super) fn agree(write: &Write<'_>, object: &Value) -> Result<(), ApiError> {
    let name = text(metadata(object), "name");
    let wanted = &write.key.name;
    if name.is_empty() {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({wanted} based on URL) was undeterminable: name must be provided"
        )));
    }
    if name != wanted {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({name}) does not match the name on the URL ({wanted})"
        )));
    }
    let namespace = text(metadata(object), "namespace");
    let wanted = &write.key.namespace;
    if write.kind.namespaced && !namespace.is_empty() && namespace != wanted {
        return Err(ApiError::bad_request(format!(
            "the namespace of the object ({namespace}) does not match the namespace on the request ({wanted})"
        )));
    }
    Ok(())
}
