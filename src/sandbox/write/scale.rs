//! `/scale`: the numbers of replicas alone, as an `autoscaling/v1` Scale.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::change;
use super::key::Write;
use super::managed;
use super::metadata::{metadata, text};
use super::patch;
use super::update;
use crate::error::{ApiError, Cause};
use crate::merge;
use crate::patch as patches;
use crate::read::scale;
use crate::request::{PatchType, Verb};
use crate::state::State;
use crate::types::{Kind, Scale};

const VERSION: &str = "autoscaling/v1";

/// Answers a `PUT` or `PATCH` of a scale, with the scale that follows.
pub(super) fn change(
    state: &mut State,
    write: &mut Write<'_>,
) -> Result<(u16, Arc<Value>), ApiError> {
    let Some(paths) = write.kind.scale.clone() else {
        return Err(ApiError::no_such_path());
    };
    let Some(old) = state.store.get(&write.key).cloned() else {
        return Err(write.not_found());
    };
    let sent = &write.request.body;
    let new = match write.request.verb {
        Verb::Patch(PatchType::Apply) => applied(write, &old, &paths)?,
        verb => {
            let wanted = match verb {
                Verb::Patch(kind) => patched(kind, sent, scale::of(&old, &paths))?,
                _ => sent.clone(),
            };
            scaled(write, &old, &wanted, &paths)?
        }
    };
    let new = change::admit(state, write, &old, new)?;
    Ok((200, Arc::new(scale::of(&new, &paths))))
}

/// The object with the replicas of a scale.
fn scaled(
    write: &Write<'_>,
    old: &Arc<Value>,
    wanted: &Value,
    paths: &Scale,
) -> Result<Value, ApiError> {
    let replicas = replicas(write, wanted)?;
    change::precede_patch(write, old, wanted)?;
    let mut new = (**old).clone();
    set(&mut new, &paths.spec_replicas, replicas.into());
    managed::changed(write, old, &mut new);
    Ok(new)
}

/// The object with the replicas that are applied.
fn applied(write: &Write<'_>, old: &Arc<Value>, paths: &Scale) -> Result<Value, ApiError> {
    let wanted = &write.request.body;
    let version = text(wanted, "apiVersion");
    if version != VERSION {
        return Err(ApiError::bad_request(format!(
            "Incorrect version specified in apply patch. Specified patch version: {version}, expected: {VERSION}"
        )));
    }
    replicas(write, wanted)?;
    change::precede_patch(write, old, wanted)?;
    let mut part = json!({
        "apiVersion": write.api_version, "kind": write.kind.kind, "metadata": { "name": write.key.name },
    });
    let replicas = wanted.get("spec").and_then(|spec| spec.get("replicas"));
    if let Some(replicas) = replicas {
        set(&mut part, &paths.spec_replicas, replicas.clone());
    }
    let force = write.forced();
    Ok(merge::apply(
        Some(old),
        &part,
        &write.typed(),
        &write.by(),
        force,
    )?)
}

fn patched(kind: PatchType, sent: &Value, mut scale: Value) -> Result<Value, ApiError> {
    match kind {
        PatchType::Json => patches::json(&mut scale, sent).map_err(patch::refuse)?,
        // There are no lists in a scale, so that the two kinds of patches are one.
        _ => patches::merge(&mut scale, sent),
    }
    Ok(scale)
}

/// The replicas that a scale wants, once it is looked over.
fn replicas(write: &Write<'_>, scale: &Value) -> Result<i64, ApiError> {
    let kind = text(scale, "kind");
    if !matches!(kind, "" | "Scale") {
        let said = text(scale, "apiVersion").rsplit('/').next();
        let version = said.unwrap_or_default();
        return Err(ApiError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a Scale: converting ({version}.{kind}) to (autoscaling.Scale): unknown conversion"
        )));
    }
    update::agree(write, scale)?;
    let wanted = scale.get("spec").and_then(|spec| spec.get("replicas"));
    let wanted = wanted.filter(|wanted| !wanted.is_null());
    let replicas = wanted.map_or(Some(0), Value::as_i64).ok_or_else(|| {
        ApiError::bad_request(
            "Scale in version \"v1\" cannot be handled as a Scale: spec.replicas is no number",
        )
    })?;
    if replicas < 0 {
        return Err(negative(write, scale, replicas));
    }
    Ok(replicas)
}

fn negative(write: &Write<'_>, scale: &Value, replicas: i64) -> ApiError {
    let Kind {
        group,
        kind,
        scale: paths,
        ..
    } = &**write.kind;
    let cause = |field: &str, why: &str| Cause {
        reason: "FieldValueInvalid",
        message: format!("Invalid value: {replicas}: {why}"),
        field: field.to_owned(),
    };
    let name = text(metadata(scale), "name");
    match paths {
        Some(paths) if write.custom() => {
            let cause = cause(&paths.spec_replicas, "should be a non-negative integer");
            ApiError::invalid(group, kind, name, vec![cause])
        }
        _ => {
            let cause = cause("spec.replicas", "must be greater than or equal to 0");
            ApiError::invalid("autoscaling", "Scale", name, vec![cause])
        }
    }
}

/// Sets the value at a JSON path such as `.spec.replicas`.
fn set(object: &mut Value, path: &str, value: Value) {
    let mut place = object;
    for name in path.split('.').filter(|name| !name.is_empty()) {
        if !place.is_object() {
            *place = Map::new().into();
        }
        let Value::Object(fields) = place else {
            return;
        };
        place = fields.entry(name).or_insert(Value::Null);
    }
    *place = value;
}
