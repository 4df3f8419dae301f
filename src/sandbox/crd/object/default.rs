//! Defaults of schemas.

use serde_json::Value;

use super::super::fields::{entries, flag};
use super::of_field;

/// Takes out fields that are null where their schema does not allow it.
pub(super) fn drop_nulls(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => fields.retain(|name, value| {
            let Some(schema) = of_field(schema, name) else {
                return true;
            };
            drop_nulls(schema, value);
            !value.is_null() || flag(schema, "nullable")
        }),
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|value| drop_nulls(schema, value));
            }
        }
        _ => {}
    }
}

/// Adds defaults, also to what a default has added.
pub(super) fn fill(schema: &Value, value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, schema) in entries(schema, "properties") {
                if let Some(default) = schema.get("default")
                    && !fields.contains_key(name)
                {
                    fields.insert(name.clone(), default.clone());
                }
            }
            for (name, value) in fields {
                if let Some(schema) = of_field(schema, name) {
                    fill(schema, value);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|value| fill(schema, value));
            }
        }
        _ => {}
    }
}
