//! Parts and changes of objects.

use serde_json::{Value, json};

use super::dice::Dice;

/// What stays in every part: without it the rest is about nothing.
const NEEDED: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "name",
    "port",
    "protocol",
    "containerPort",
    "mountPath",
    "key",
    "type",
    "uid",
    "apiGroup",
    "resourceName",
];

/// Part of a value.
pub fn thinned(dice: &mut Dice, value: &Value, percent: u32) -> Value {
    match value {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| NEEDED.contains(&name.as_str()) || !dice.chance(percent))
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect::<Vec<_>>()
            .into_iter()
            .map(|(name, value)| {
                let part = thinned(dice, &value, percent / 2);
                (name, part)
            })
            .collect(),
        Value::Array(items) => {
            let items = items.iter().map(|item| thinned(dice, item, percent / 2));
            items.collect()
        }
        value => value.clone(),
    }
}

/// Puts null in the place of some fields: a patch takes those out.
pub fn holes(dice: &mut Dice, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if !NEEDED.contains(&name.as_str()) && dice.chance(12) {
                    *value = Value::Null;
                } else {
                    holes(dice, value);
                }
            }
        }
        Value::Array(items) => {
            for item in items {
                holes(dice, item);
            }
        }
        _ => {}
    }
}

/// A JSON patch with a few operations on fields that such an object may have.
pub fn operations(dice: &mut Dice, object: &Value) -> Value {
    let mut places = Vec::new();
    list(object, String::new(), &mut places);
    let places: Vec<_> = places
        .into_iter()
        .filter(|(path, _)| {
            !["/apiVersion", "/kind", "/metadata", "/metadata/name"].contains(&path.as_str())
        })
        .collect();
    if places.is_empty() {
        return json!([]);
    }
    (0..dice.between(1, 2))
        .map(|_| {
            let (path, value) = dice.pick(&places).clone();
            match dice.between(0, 9) {
                0..6 => json!({ "op": "add", "path": path, "value": value }),
                6..8 => json!({ "op": "replace", "path": path, "value": value }),
                8 => json!({ "op": "remove", "path": path }),
                _ => json!({ "op": "test", "path": path, "value": value }),
            }
        })
        .collect()
}

fn list(value: &Value, path: String, places: &mut Vec<(String, Value)>) {
    if !path.is_empty() {
        places.push((path.clone(), value.clone()));
    }
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                list(value, format!("{path}/{name}"), places);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                list(item, format!("{path}/{at}"), places);
            }
        }
        _ => {}
    }
}
