//! What becomes of metadata that nobody sets by hand.

use std::iter::repeat_with;

use serde_json::{Map, Value};

use super::key::Write;

/// Longest beginning of a generated name, which leaves room for its end in a name of 63 characters.
const BEGINNING: usize = 58;

/// Characters of the ends of generated names: none that make words, none that look alike.
const CHARACTERS: &[u8] = b"bcdfghjklmnpqrstvwxz2456789";

/// What the API server sets alone in new objects.
const ITS_OWN: [&str; 6] = [
    "clusterName",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// What changes leave as it is.
const KEPT: [&str; 6] = [
    "clusterName",
    "creationTimestamp",
    "generation",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// What changes leave as it is once it is there; before, only a deletion sets it.
const LASTING: [&str; 2] = ["deletionTimestamp", "deletionGracePeriodSeconds"];

/// An object's metadata.
pub(super) fn metadata(object: &Value) -> &Value {
    object.get("metadata").unwrap_or(&Value::Null)
}

/// The text of a field, or nothing.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

fn fields(object: &mut Value) -> Option<&mut Map<String, Value>> {
    object.get_mut("metadata").and_then(Value::as_object_mut)
}

/// Gives a new object its uid, its time and its first generation.
pub(super) fn begin(write: &Write<'_>, object: &mut Value) {
    let Some(fields) = fields(object) else {
        return;
    };
    for field in ITS_OWN {
        fields.remove(field);
    }
    fields.insert("uid".to_owned(), uid().into());
    fields.insert("creationTimestamp".to_owned(), write.now.as_str().into());
    if write.kind.generation {
        fields.insert("generation".to_owned(), 1.into());
    }
}

/// Makes a name for a new object that has only a beginning of one.
pub(super) fn name(object: &mut Value) {
    let Some(fields) = fields(object) else {
        return;
    };
    let has = |field| {
        fields
            .get(field)
            .and_then(Value::as_str)
            .is_some_and(|text| !text.is_empty())
    };
    if has("name") || !has("generateName") {
        return;
    }
    let beginning = fields.get("generateName").and_then(Value::as_str);
    let beginning = beginning.unwrap_or_default().chars().take(BEGINNING);
    let end = repeat_with(|| fastrand::choice(CHARACTERS))
        .flatten()
        .take(5);
    let name: String = beginning.chain(end.map(|&byte| byte.into())).collect();
    fields.insert("name".to_owned(), name.into());
}

/// Carries over what no change may touch.
pub(super) fn keep(old: &Value, new: &mut Value) {
    let Some(fields) = fields(new) else {
        return;
    };
    let old = metadata(old);
    for field in KEPT {
        match old.get(field) {
            Some(value) => fields.insert(field.to_owned(), value.clone()),
            None => fields.remove(field),
        };
    }
    for field in LASTING {
        if let Some(value) = old.get(field)
            && (field == "deletionTimestamp" || fields.get(field).is_none_or(Value::is_null))
        {
            fields.insert(field.to_owned(), value.clone());
        }
    }
}

/// Counts the generation up.
pub(super) fn next_generation(object: &mut Value) {
    if let Some(fields) = fields(object) {
        let generation = fields.get("generation").and_then(Value::as_i64);
        fields.insert(
            "generation".to_owned(),
            (generation.unwrap_or(0) + 1).into(),
        );
    }
}

/// A new uid (a random UUID of version 4).
fn uid() -> String {
    let bits = fastrand::u128(..);
    let bits = bits & !(0xf << 76) | 0x4 << 76;
    let bits = bits & !(0x3 << 62) | 0x2 << 62;
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default();
    format!(
        "{}-{}-{}-{}-{}",
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32)
    )
}
