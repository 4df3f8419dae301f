//! Taking out what schemas do not know.

use serde_json::{Map, Value};

use super::super::fields::flag;
use super::{child, item};

/// The fields that metadata has, whatever a schema says of it.
const METADATA: [&str; 16] = [
    "annotations",
    "clusterName",
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "finalizers",
    "generateName",
    "generation",
    "labels",
    "managedFields",
    "name",
    "namespace",
    "ownerReferences",
    "resourceVersion",
    "selfLink",
    "uid",
];

/// Prunes an object with `apiVersion`, `kind` and `metadata` of its own.
pub(super) fn whole(schema: &Value, object: &mut Value, path: &str, found: &mut Vec<String>) {
    let Value::Object(fields) = object else {
        return;
    };
    if let Some(Value::Object(metadata)) = fields.get_mut("metadata") {
        let path = child(path, "metadata");
        metadata.retain(|name, _| {
            let known = METADATA.contains(&name.as_str());
            if !known {
                found.push(child(&path, name));
            }
            known
        });
    }
    self::fields(schema, fields, true, path, found);
}

/// Whether a value has anything that its schema does not know.
pub(in super::super) fn unknown(schema: &Value, value: &Value) -> bool {
    let mut found = Vec::new();
    self::value(schema, &mut value.clone(), "", &mut found);
    !found.is_empty()
}

fn value(schema: &Value, value: &mut Value, path: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(_) if flag(schema, "x-kubernetes-embedded-resource") => {
            whole(schema, value, path, found);
        }
        Value::Object(fields) => self::fields(schema, fields, false, path, found),
        Value::Array(items) => {
            let of = schema.get("items").unwrap_or(&Value::Null);
            let open = flag(schema, "x-kubernetes-preserve-unknown-fields");
            if !of.is_null() || !open {
                for (index, value) in items.iter_mut().enumerate() {
                    self::value(of, value, &item(path, index), found);
                }
            }
        }
        _ => {}
    }
}

fn fields(
    schema: &Value,
    fields: &mut Map<String, Value>,
    whole: bool,
    path: &str,
    found: &mut Vec<String>,
) {
    let open = flag(schema, "x-kubernetes-preserve-unknown-fields");
    fields.retain(|name, value| {
        if whole && ["apiVersion", "kind", "metadata"].contains(&name.as_str()) {
            return true;
        }
        let own = schema.get("properties").and_then(|all| all.get(name));
        match (own, schema.get("additionalProperties")) {
            (Some(schema), _) => self::value(schema, value, &child(path, name), found),
            (None, Some(values)) if values != &Value::Bool(false) => {
                self::value(values, value, &child(path, name), found);
            }
            _ if open => {}
            _ => {
                found.push(child(path, name));
                return false;
            }
        }
        true
    });
}
