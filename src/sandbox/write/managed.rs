//! Who manages which fields, after writes that are no server-side apply.

use serde_json::{Map, Value, json};

use super::key::Write;
use crate::sandbox::types::{self, Origin};
use crate::sandbox::{kinds, merge};

/// Gives a new object its `managedFields`.
pub(super) fn created(write: &Write<'_>, object: &mut Value) {
    if write.kind.status
        && !kinds::keeps_status(write.kind)
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("status");
    }
    let mut managed = object.clone();
    if write.kind.origin == Origin::BuiltIn {
        leave_out(&mut managed, &blank(write));
    }
    merge::update(None, &mut managed, &write.typed(), &write.by());
    let entries = managed
        .get_mut("metadata")
        .and_then(|metadata| metadata.get_mut("managedFields"))
        .map(Value::take);
    if let Some(fields) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        match entries {
            Some(entries) => fields.insert("managedFields".to_owned(), entries),
            None => fields.remove("managedFields"),
        };
    }
}

/// An object of the kind that has nothing but what is never absent.
fn blank(write: &Write<'_>) -> Value {
    let mut blank = json!({ "metadata": {} });
    // Nothing is wrong with nothing.
    let _ = types::read(write.kind, &mut blank);
    blank
}

/// Takes empty objects out that a blank object has as well: nobody has set them.
fn leave_out(object: &mut Value, blank: &Value) {
    let (Some(fields), Some(blank)) = (object.as_object_mut(), blank.as_object()) else {
        return;
    };
    for (name, blank) in blank {
        if !blank.is_object() {
            continue;
        }
        if let Some(value) = fields.get_mut(name) {
            leave_out(value, blank);
            if value.as_object().is_some_and(Map::is_empty) && name != "metadata" {
                fields.remove(name);
            }
        }
    }
}

/// Gives a changed object its `managedFields`: those it came with, or else those it had, and what changed.
pub(super) fn changed(write: &Write<'_>, old: &Value, new: &mut Value) {
    merge::update(Some(old), new, &write.typed(), &write.by());
}
