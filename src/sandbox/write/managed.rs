//! Who manages which fields, after writes that are no server-side apply.

use serde_json::Value;

use super::key::Write;
use crate::merge;

/// Gives a new object its `managedFields`.
pub(super) fn created(write: &Write<'_>, object: &mut Value) {
    merge::update(None, object, &write.typed(), &write.by());
}

/// Gives a changed object its `managedFields`: those it came with, or else those it had, and what changed.
pub(super) fn changed(write: &Write<'_>, old: &Value, new: &mut Value) {
    merge::update(Some(old), new, &write.typed(), &write.by());
}
