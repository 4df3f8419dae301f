//! Server-side apply.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::body;
use super::change;
use super::create;
use super::key::Write;
use super::metadata::{metadata, text};
use super::{Written, options, update};
use crate::auth;
use crate::error::ApiError;
use crate::merge;
use crate::request::{PatchType, Request, Verb};
use crate::state::State;

/// What is applied, merged into an object as it was then, `None` for none.
pub struct Merged<'a> {
    write: Write<'a>,
    old: Option<Arc<Value>>,
    new: Value,
}

/// Answers an apply patch.
pub(super) fn apply(
    state: &mut State,
    write: &mut Write<'_>,
) -> Result<(u16, Arc<Value>), ApiError> {
    let old = state.store.get(&write.key).cloned();
    let new = merged(write, old.as_ref())?;
    admit(state, write, old, new)
}

/// Whether a request is one for [`merge()`] and [`finish`].
pub fn merges(request: &Request) -> bool {
    request.verb == Verb::Patch(PatchType::Apply)
        && matches!(request.subresource.as_deref(), None | Some("status"))
}

/// Merges what a request applies into an object. That is most of the work of an apply, and needs nothing but the object.
///
/// # Errors
/// As the API server refuses the request.
pub fn merge<'a>(request: &'a Request, old: Option<Arc<Value>>) -> Result<Merged<'a>, ApiError> {
    options::check(request)?;
    let mut write = Write::new(request);
    let new = merged(&mut write, old.as_ref())?;
    Ok(Merged { write, old, new })
}

/// Puts a merged object in its place; what somebody has changed since is merged again, as the API server does.
///
/// # Errors
/// As the API server refuses the request.
pub fn finish(state: &mut State, merged: Merged<'_>) -> Result<Written, ApiError> {
    let Merged {
        mut write,
        old,
        new,
    } = merged;
    if state.kinds.resource(&write.key.resource).is_none() {
        return Err(ApiError::no_such_path());
    }
    let now = state.store.get(&write.key);
    if now.map(Arc::as_ptr) != old.as_ref().map(Arc::as_ptr) {
        return super::write(state, write.request);
    }
    let (code, object) = admit(state, &mut write, old, new)?;
    Ok(write.written(code, object))
}

/// The object that an apply makes of an old one.
fn merged(write: &mut Write<'_>, old: Option<&Arc<Value>>) -> Result<Value, ApiError> {
    let applied = applied(write)?;
    if old.is_none() && !write.subresource().is_empty() {
        return Err(write.not_found());
    }
    let force = write.forced();
    let live = old.map(Arc::as_ref);
    let mut new = merge::apply(live, &applied, &write.typed(), &write.by(), force)?;
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
        return Ok(new);
    };
    change::precede_patch(write, old, &applied)?;
    change::keep(write, old, &mut new);
    Ok(new)
}

fn admit(
    state: &mut State,
    write: &mut Write<'_>,
    old: Option<Arc<Value>>,
    new: Value,
) -> Result<(u16, Arc<Value>), ApiError> {
    match old {
        Some(old) => Ok((200, change::admit(state, write, &old, new)?)),
        None => {
            auth::authorize_creation(state, write.request)?;
            Ok((201, create::admit(state, write, new)?))
        }
    }
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
