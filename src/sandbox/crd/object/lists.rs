//! That items of sets and of lists with keys are there but once.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::super::fields::{text, texts};
use super::super::{cause, show};
use super::{child, item, of_field};
use crate::error::Cause;

/// Checks all lists of a value.
pub(super) fn check(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                if let Some(schema) = of_field(schema, name) {
                    check(schema, value, &child(path, name), causes);
                }
            }
        }
        Value::Array(items) => {
            match text(schema, "x-kubernetes-list-type") {
                "set" => once(items.iter().cloned(), path, causes),
                "map" => {
                    let keys = texts(schema, "x-kubernetes-list-map-keys");
                    once(items.iter().map(|item| key(item, &keys)), path, causes);
                }
                _ => {}
            }
            if let Some(schema) = schema.get("items") {
                for (index, value) in items.iter().enumerate() {
                    check(schema, value, &item(path, index), causes);
                }
            }
        }
        _ => {}
    }
}

fn key(item: &Value, keys: &[&str]) -> Value {
    let key: Map<String, Value> = keys
        .iter()
        .filter_map(|name| Some(((*name).to_owned(), item.get(*name)?.clone())))
        .collect();
    Value::Object(key)
}

fn once(items: impl Iterator<Item = Value>, path: &str, causes: &mut Vec<Cause>) {
    let mut seen: HashMap<String, u32> = HashMap::new();
    for (index, value) in items.enumerate() {
        let count = seen.entry(value.to_string()).or_default();
        *count += 1;
        if *count == 2 {
            let message = format!("Duplicate value: {}", show::shown(&value));
            causes.push(cause("FieldValueDuplicate", item(path, index), message));
        }
    }
}
