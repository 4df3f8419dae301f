//! Server-side apply.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::body;
use super::change;
use super::create;
use super::key::Write;
use super::metadata::{metadata, text};
use super::update;
use crate::sandbox::auth;
use crate::sandbox::error::ApiError;
use crate::sandbox::merge;
use crate::sandbox::state::State;

/// Answers an apply patch.
pub(super) fn apply(
    state: &mut State,
    write: &mut Write<'_>,
) -> Result<(u16, Arc<Value>), ApiError> {
    let applied = applied(write)?;
    let old = state.store.get(&write.key).cloned();
    if old.is_none() && !write.subresource().is_empty() {
        return Err(write.not_found());
    }
    let force = write.forced();
    let mut new = merge::apply(old.as_deref(), &applied, &write.typed(), &write.by(), force)?;
    body::read(write, &mut new).map_err(ApiError::bad_request)?;
    update::agree(write, &applied)?;
    body::place(write, &mut new)?;
    let Some(old) = old else {
        let uid = text(metadata(&applied), "uid");
        if !uid.is_empty() {
            return Err(write.conflict(&format!(
                "uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            )));
        }
        auth::authorize_creation(state, write.request)?;
        return Ok((201, create::admit(state, write, new)?));
    };
    change::precede_patch(write, &old, &applied)?;
    change::keep(write, &old, &mut new);
    Ok((200, change::admit(state, write, &old, new)?))
}

/// What is applied: the body, without what its endpoint does not look at.
fn applied<'a>(write: &Write<'a>) -> Result<Cow<'a, Value>, ApiError> {
    let body = &write.request.body;
    let Some(fields) = body.as_object() else {
        return Err(ApiError::bad_request(format!(
            "error decoding YAML: {body} is no object"
        )));
    };
    let version = text(body, "apiVersion");
    if version != write.api_version {
        return Err(ApiError::bad_request(format!(
            "Incorrect version specified in apply patch. Specified patch version: {version}, expected: {}",
            write.api_version
        )));
    }
    let kind = text(body, "kind");
    if kind != write.kind.kind {
        return Err(ApiError::bad_request(format!(
            "the kind in the data ({kind}) does not match the expected kind ({})",
            write.kind.kind
        )));
    }
    if metadata(body)
        .get("managedFields")
        .is_some_and(|entries| !entries.is_null())
    {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    let looked_at = |field: &str| match (write.subresource(), field) {
        (_, "apiVersion" | "kind" | "metadata") => true,
        ("", "status") => !write.kind.status,
        ("", _) => true,
        (_, field) => field == "status",
    };
    if fields.keys().all(|field| looked_at(field)) {
        return Ok(Cow::Borrowed(body));
    }
    let fields = fields.iter().filter(|(field, _)| looked_at(field));
    let fields = fields.map(|(field, value)| (field.clone(), value.clone()));
    Ok(Cow::Owned(fields.collect()))
}
