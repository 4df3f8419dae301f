//! Reading fields of definitions, whose types may be anything before they are checked.

use serde_json::{Map, Value};

/// Whether a field is `true`.
pub(super) fn flag(value: &Value, field: &str) -> bool {
    value.get(field) == Some(&Value::Bool(true))
}

/// A text; empty when there is none.
pub(super) fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value.get(field).and_then(Value::as_str).unwrap_or_default()
}

/// The texts of a list.
pub(super) fn texts<'a>(value: &'a Value, field: &str) -> Vec<&'a str> {
    items(value, field).filter_map(Value::as_str).collect()
}

/// The items of a list.
pub(super) fn items<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    let items = value.get(field).and_then(Value::as_array);
    items.into_iter().flatten()
}

/// The entries of an object.
pub(super) fn entries<'a>(
    value: &'a Value,
    field: &str,
) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let entries = value.get(field).and_then(Value::as_object);
    entries.into_iter().flatten()
}

/// An object that there is or that is made.
pub(super) fn object<'a>(value: &'a mut Value, field: &str) -> Option<&'a mut Map<String, Value>> {
    value
        .as_object_mut()?
        .entry(field)
        .or_insert_with(|| Value::Object(Map::new()))
        .as_object_mut()
}
