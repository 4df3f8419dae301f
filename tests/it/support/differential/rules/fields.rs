//! Places in objects as `managedFields` name them: `f:spec`, `k:{"name":"app"}`.

use serde_json::{Map, Value};

/// The names on the way to a place.
pub type Way = Vec<String>;

/// An entry's manager and operation, and the version it was made with.
pub fn identity(entry: &Value) -> [&Value; 3] {
    ["manager", "operation", "apiVersion"].map(|part| &entry[part])
}

/// The entries of an object.
pub fn entries(object: &Value) -> impl Iterator<Item = &Value> {
    let entries = object["metadata"]["managedFields"].as_array();
    entries.into_iter().flatten()
}

/// Who sends a request.
pub fn sender(query: &str) -> &str {
    let parts = query.split('&');
    let mut names = parts.filter_map(|part| part.strip_prefix("fieldManager="));
    names.next().unwrap_or_default()
}

/// The part of a value that has a name.
pub fn part<'a>(value: &'a Value, name: &str) -> &'a Value {
    match name.split_once(':') {
        Some(("f", field)) => &value[field],
        Some(("k", key)) => {
            let items = value.as_array().into_iter().flatten();
            items
                .into_iter()
                .find(|item| has_key(item, key))
                .unwrap_or(&Value::Null)
        }
        _ => &Value::Null,
    }
}

pub fn at<'a>(value: &'a Value, way: &[String]) -> &'a Value {
    way.iter().fold(value, |value, name| part(value, name))
}

fn has_key(item: &Value, key: &str) -> bool {
    let key: Value = serde_json::from_str(key).unwrap_or_default();
    let mut fields = key.as_object().into_iter().flatten();
    fields.all(|(name, value)| &item[name] == value)
}

/// Takes what is at a place out of an object, and what is empty for that on the way there.
pub fn cut(value: &mut Value, way: &[String]) {
    let Some((name, rest)) = way.split_first() else {
        return;
    };
    match (value, name.split_once(':')) {
        (Value::Object(fields), Some(("f", field))) => cut_field(fields, field, rest),
        (Value::Array(items), Some(("k", key))) => {
            if rest.is_empty() {
                items.retain(|item| !has_key(item, key));
            } else if let Some(item) = items.iter_mut().find(|item| has_key(item, key)) {
                cut(item, rest);
            }
        }
        _ => {}
    }
}

/// Takes what is at a place out of the fields that an entry names.
pub fn cut_managed(fields: &mut Value, way: &[String]) {
    if let (Some((name, rest)), Value::Object(fields)) = (way.split_first(), fields) {
        match (rest, fields.get_mut(name)) {
            ([], _) => drop(fields.remove(name)),
            (_, Some(part)) => {
                cut_managed(part, rest);
                if is_hollow(part) {
                    fields.remove(name);
                }
            }
            _ => {}
        }
    }
}

fn cut_field(fields: &mut Map<String, Value>, field: &str, rest: &[String]) {
    if rest.is_empty() {
        fields.remove(field);
    } else if let Some(part) = fields.get_mut(field) {
        cut(part, rest);
        if is_hollow(part) {
            fields.remove(field);
        }
    }
}

/// Whether there is nothing in a value.
pub fn is_hollow(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// A place as conflicts name it: `.spec.containers[name="app"]`.
pub fn told(way: &[String]) -> String {
    let mut text = String::new();
    for name in way {
        match name.split_once(':') {
            Some(("f", field)) => text += &format!(".{field}"),
            Some((_, key)) => {
                let key: Value = serde_json::from_str(key).unwrap_or_default();
                let keys = key.as_object().into_iter().flatten();
                let keys: Vec<String> = keys
                    .map(|(name, value)| format!("{name}={value}"))
                    .collect();
                text += &format!("[{}]", keys.join(","));
            }
            None => {}
        }
    }
    text
}

/// A place as refusals name it, without the numbers of items: `spec.containers[].image`.
pub fn unnumbered(way: &[String]) -> String {
    let names = way.iter().map(|name| match name.split_once(':') {
        Some(("f", field)) => format!(".{field}"),
        _ => "[]".to_owned(),
    });
    let text: String = names.collect();
    text.trim_start_matches('.').to_owned()
}
