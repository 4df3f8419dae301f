//! New objects.

use std::sync::Arc;

use serde_json::Value;

use super::body::{self, DEFINITIONS};
use super::definitions;
use super::key::Write;
use super::lifecycle;
use super::managed;
use super::metadata::{self, metadata, text};
use super::rules;
use crate::auth;
use crate::error::ApiError;
use crate::kinds;
use crate::state::State;

/// Answers a `POST`.
pub(super) fn create(
    state: &mut State,
    write: &mut Write<'_>,
) -> Result<(u16, Arc<Value>), ApiError> {
    let mut object = body::decode(write)?;
    body::place(write, &mut object)?;
    if !text(metadata(&object), "resourceVersion").is_empty() {
        return Err(ApiError::new(
            500,
            "",
            "resourceVersion should not be set on objects to be created",
        ));
    }
    managed::created(write, &mut object);
    let object = admit(state, write, object)?;
    Ok((201, object))
}

/// Puts a new object in its place, once it is read, knows its namespace, and has its `managedFields`.
pub(super) fn admit(
    state: &mut State,
    write: &mut Write<'_>,
    mut object: Value,
) -> Result<Arc<Value>, ApiError> {
    lifecycle::may_create(state, write, &object)?;
    metadata::begin(write, &mut object);
    metadata::name(&mut object);
    text(metadata(&object), "name").clone_into(&mut write.key.name);
    auth::check(state, write.request, &object, None)?;
    if !write.custom() {
        kinds::prepare_create(state, write.kind, &mut object)?;
    }
    if &*write.key.resource == DEFINITIONS {
        definitions::begin(&mut object);
    }
    let causes = rules::new(write, &object);
    if !causes.is_empty() {
        return Err(write.invalid(causes));
    }
    if let Some(known) = state.store.get(&write.key) {
        let Write { kind, key, .. } = write;
        let mut error = ApiError::already_exists(&kind.group, &kind.plural, &key.name);
        if metadata(known).get("deletionTimestamp").is_some() {
            error.message = format!("object is being deleted: {}", error.message);
        }
        return Err(error);
    }
    if write.request.dry_run() {
        return Ok(Arc::new(object));
    }
    let object = state.store.put(write.key.clone(), object);
    lifecycle::created(state, write, &object);
    Ok(object)
}
