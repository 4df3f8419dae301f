//! Patches that are no server-side apply.

use std::sync::Arc;

use serde_json::Value;

use super::body;
use super::change;
use super::key::Write;
use super::managed;
use super::metadata::text;
use super::update;
use crate::error::{ApiError, Cause};
use crate::merge;
use crate::patch::{self, PatchError};
use crate::request::PatchType;
use crate::state::State;

/// Answers a JSON, merge or strategic merge patch.
pub(super) fn patch(
    state: &mut State,
    write: &mut Write<'_>,
    kind: PatchType,
) -> Result<(u16, Arc<Value>), ApiError> {
    if kind == PatchType::Strategic && write.custom() {
        return Err(unsupported());
    }
    let Some(old) = state.store.get(&write.key).cloned() else {
        return Err(write.not_found());
    };
    let mut new = patched(write, &write.at_version(old.clone()), kind)?;
    update::agree(write, &new)?;
    body::place(write, &mut new)?;
    change::precede_patch(write, &old, &new)?;
    change::keep(write, &old, &mut new);
    managed::changed(write, &old, &mut new);
    Ok((200, change::admit(state, write, &old, new)?))
}

/// Applies the patch, and reads what comes of it as the kind.
pub(super) fn patched(
    write: &mut Write<'_>,
    old: &Value,
    kind: PatchType,
) -> Result<Value, ApiError> {
    let sent = &write.request.body;
    let mut new = old.clone();
    let done = match kind {
        PatchType::Json => {
            // It may name any part of them.
            merge::expand(&mut new);
            patch::json(&mut new, sent)
        }
        PatchType::Merge if sent.is_object() || sent.is_array() => {
            patch::merge(&mut new, sent);
            Ok(())
        }
        PatchType::Merge => Err(PatchError::Failed("Invalid JSON Patch".to_owned())),
        PatchType::Strategic => {
            let typed = write.typed();
            patch::strategic(&mut new, sent, typed.schema, typed.root)
        }
        PatchType::Apply => Err(PatchError::Unfit),
    };
    done.map_err(refuse)?;
    let strategic = kind == PatchType::Strategic;
    let unread = |object: &Value, why: &str| {
        let why = why
            .split_once(" cannot be handled as a ")
            .map_or(why, |(_, why)| {
                why.split_once(": ").map_or(why, |(_, why)| why)
            });
        let quoted = if strategic {
            patch::print(sent)
        } else {
            let mut object = object.clone();
            merge::expand(&mut object);
            object.to_string()
        };
        let cause = Cause {
            reason: "FieldValueInvalid",
            message: format!("Invalid value: {quoted:?}: {why}"),
            field: "patch".to_owned(),
        };
        ApiError::invalid("", "", "", vec![cause])
    };
    let said = text(&new, "kind");
    if write.custom() && !said.is_empty() && said != write.kind.kind {
        return Err(body::other_kind(write, &new));
    }
    if let Some(why) = stranger(write, &new) {
        return Err(unread(&new, &why));
    }
    body::name_kind(write, &mut new);
    let unknown = body::read(write, &mut new).map_err(|why| unread(&new, &why))?;
    body::validate_fields(write, &unknown).map_err(|why| unread(&new, &why))?;
    Ok(new)
}

/// Why something is no object of the kind any more.
fn stranger(write: &Write<'_>, object: &Value) -> Option<String> {
    if !object.is_object() {
        return Some("couldn't get version/kind; json parse error".to_owned());
    }
    let (kind, version) = (text(object, "kind"), text(object, "apiVersion"));
    let same = |said: &str, wanted: &str| said.is_empty() || said == wanted;
    if same(kind, &write.kind.kind) && same(version, &write.api_version) {
        return None;
    }
    Some(format!(
        "no kind {kind:?} is registered for version {version:?}"
    ))
}

pub(super) fn refuse(error: PatchError) -> ApiError {
    match error {
        PatchError::Malformed(why) => ApiError::bad_request(why),
        PatchError::Failed(why) => ApiError::new(500, "", why),
        PatchError::Unfit => {
            let why = "the server rejected our request due to an error in our request";
            let mut error = ApiError::new(422, "Invalid", why);
            error.details_mut();
            error
        }
    }
}

/// 415: there are no types to go by.
fn unsupported() -> ApiError {
    ApiError::new(
        415,
        "UnsupportedMediaType",
        "the body of the request was in an unknown format - accepted media types include: application/json-patch+json, application/merge-patch+json, application/apply-patch+yaml",
    )
}
