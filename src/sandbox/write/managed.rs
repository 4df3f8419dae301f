//! Who manages which fields, after writes that are no server-side apply.

use serde_json::Value;

use super::key::Write;
use super::metadata::metadata;
use crate::sandbox::merge;

/// Gives a new object its `managedFields`.
pub(super) fn created(write: &Write<'_>, object: &mut Value) {
    if write.kind.status
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("status");
    }
    merge::update(None, object, &write.typed(), &write.by());
}

/// Gives a changed object its `managedFields`: those it came with, or else those it had, and what changed.
pub(super) fn changed(write: &Write<'_>, old: &Value, new: &mut Value) {
    let entries = |object| {
        metadata(object)
            .get("managedFields")
            .and_then(Value::as_array)
    };
    let sent = entries(new);
    let own = write.subresource().is_empty()
        && sent != entries(old)
        && sent.is_some_and(|sent| !sent.is_empty());
    if !own {
        merge::update(Some(old), new, &write.typed(), &write.by());
        return;
    }
    let mut before = old.clone();
    if let Some(fields) = before.get_mut("metadata").and_then(Value::as_object_mut) {
        let sent = sent
            .into_iter()
            .flatten()
            .filter(|entry| entry.as_object().is_some_and(|entry| !entry.is_empty()))
            .cloned()
            .collect();
        fields.insert("managedFields".to_owned(), sent);
    }
    merge::update(Some(&before), new, &write.typed(), &write.by());
}
