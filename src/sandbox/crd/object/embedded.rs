//! Whole objects within custom ones (`x-kubernetes-embedded-resource`).

use serde_json::Value;

use super::super::fields::{flag, text};
use super::super::{invalid, names, required, show};
use super::{child, item, of_field};
use crate::error::Cause;

/// Checks that all of them say what they are.
pub(super) fn check(schema: &Value, value: &Value, path: &str, causes: &mut Vec<Cause>) {
    match value {
        Value::Object(fields) => {
            if flag(schema, "x-kubernetes-embedded-resource") {
                identity(value, path, causes);
            }
            for (name, value) in fields {
                if let Some(schema) = of_field(schema, name) {
                    check(schema, value, &child(path, name), causes);
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for (index, value) in items.iter().enumerate() {
                    check(schema, value, &item(path, index), causes);
                }
            }
        }
        _ => {}
    }
}

/// What is wrong with `apiVersion` and `kind`.
pub(in super::super) fn identity(value: &Value, path: &str, causes: &mut Vec<Cause>) {
    let field = child(path, "apiVersion");
    match text(value, "apiVersion") {
        "" => causes.push(required(field, "must not be empty")),
        version if version.matches('/').count() > 1 => causes.push(invalid(
            field,
            &show::quoted(version),
            &format!("unexpected GroupVersion string: {version}"),
        )),
        _ => {}
    }
    let field = child(path, "kind");
    match text(value, "kind") {
        "" => causes.push(required(field, "must not be empty")),
        kind => {
            if let Some(wrong) = names::label(&kind.to_lowercase()) {
                let why = format!("may have mixed case, but should otherwise match: {wrong}");
                causes.push(invalid(field, &show::quoted(kind), &why));
            }
        }
    }
}
