//! The rules of `x-kubernetes-…`.

use serde_json::Value;

use super::super::fields::{entries, flag, items, text, texts};
use super::super::{forbidden, invalid, required, show, unsupported};
use crate::error::Cause;

/// Checks what a schema says of merging and of embedded objects.
pub(super) fn check(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    embedded(schema, path, causes);
    merging(schema, path, causes);
}

/// Checks what a schema says of merging.
pub(super) fn merging(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    typed(
        schema,
        path,
        "x-kubernetes-map-type",
        "object",
        &["atomic", "granular"],
        causes,
    );
    typed(
        schema,
        path,
        "x-kubernetes-list-type",
        "array",
        &["atomic", "set", "map"],
        causes,
    );
    let keys = texts(schema, "x-kubernetes-list-map-keys");
    let field = format!("{path}.x-kubernetes-list-type");
    match text(schema, "x-kubernetes-list-type") {
        "map" if keys.is_empty() => {
            let field = format!("{path}.x-kubernetes-list-map-keys");
            let why = "must not be empty if x-kubernetes-list-type is map";
            causes.push(required(field, why));
        }
        "map" => keyed(schema, &keys, path, causes),
        "" if !keys.is_empty() => {
            let why = "must be map if x-kubernetes-list-map-keys is non-empty";
            causes.push(required(field, why));
        }
        other => {
            if !keys.is_empty() {
                let why = "must be map if x-kubernetes-list-map-keys is non-empty";
                causes.push(invalid(field, &show::quoted(other), why));
            }
            if other == "set" {
                set(schema, path, causes);
            }
        }
    }
}

fn embedded(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    if !flag(schema, "x-kubernetes-embedded-resource") {
        return;
    }
    if !flag(schema, "x-kubernetes-preserve-unknown-fields")
        && entries(schema, "properties").next().is_none()
    {
        let why = "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields";
        causes.push(required(format!("{path}.properties"), why));
    }
    let found = text(schema, "type");
    if found != "object" {
        let why = "must be object if x-kubernetes-embedded-resource is true";
        causes.push(invalid(format!("{path}.type"), &show::quoted(found), why));
    }
}

fn typed(
    schema: &Value,
    path: &str,
    field: &str,
    wanted: &str,
    values: &[&str],
    causes: &mut Vec<Cause>,
) {
    let value = text(schema, field);
    if value.is_empty() {
        return;
    }
    let found = text(schema, "type");
    let why = format!("must be {wanted} if {field} is specified");
    if found.is_empty() {
        causes.push(required(format!("{path}.type"), &why));
    } else if found != wanted {
        causes.push(invalid(format!("{path}.type"), &show::quoted(found), &why));
    }
    if !values.contains(&value) {
        let field = format!("{path}.{field}");
        causes.push(unsupported(field, &show::quoted(value), values));
    }
}

fn set(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let nothing = Value::Null;
    let of = schema.get("items").unwrap_or(&nothing);
    let path = format!("{path}.items");
    if flag(of, "nullable") {
        let why = "cannot be nullable when x-kubernetes-list-type is set";
        causes.push(forbidden(format!("{path}.nullable"), why));
    }
    let why = "must be atomic as item of a list with x-kubernetes-list-type=set";
    if text(of, "type") == "object" && text(of, "x-kubernetes-map-type") != "atomic" {
        let field = format!("{path}.x-kubernetes-map-type");
        causes.push(invalid(field, "\"null\"", why));
    }
    let inner = text(of, "x-kubernetes-list-type");
    if text(of, "type") == "array" && !["", "atomic"].contains(&inner) {
        let field = format!("{path}.x-kubernetes-list-type");
        causes.push(invalid(field, &show::quoted(inner), why));
    }
}

fn keyed(schema: &Value, keys: &[&str], path: &str, causes: &mut Vec<Cause>) {
    let nothing = Value::Null;
    let of = schema.get("items").unwrap_or(&nothing);
    let found = text(of, "type");
    if found != "object" {
        let why = "must be object if parent array's x-kubernetes-list-type is map";
        let field = format!("{path}.items.type");
        causes.push(invalid(field, &show::quoted(found), why));
        return;
    }
    if flag(of, "nullable") {
        let why = "cannot be nullable when x-kubernetes-list-type is map";
        causes.push(forbidden(format!("{path}.items.nullable"), why));
    }
    let known = |key: &&str| entries(of, "properties").any(|(name, _)| name == key);
    let field = format!("{path}.x-kubernetes-list-map-keys");
    let all_known = keys.iter().all(known);
    if !all_known {
        let why = "entries must all be names of item properties";
        causes.push(invalid(field.clone(), &show::texts(keys), why));
    }
    let twice = keys
        .iter()
        .enumerate()
        .any(|(index, key)| keys.iter().take(index).any(|k| k == key));
    if twice && all_known {
        let why = "must not contain duplicate entries";
        causes.push(invalid(field, &show::texts(keys), why));
    }
    for (name, property) in entries(of, "properties") {
        if keys.contains(&name.as_str()) {
            let path = format!("{path}.items.properties[{name}]");
            key(of, name, property, &path, causes);
        }
    }
}

fn key(of: &Value, name: &str, property: &Value, path: &str, causes: &mut Vec<Cause>) {
    if flag(property, "nullable") {
        let why = "this property is in x-kubernetes-list-map-keys, so it cannot be nullable";
        causes.push(forbidden(format!("{path}.nullable"), why));
    }
    if property.get("default").is_none() && !items(of, "required").any(|field| field == name) {
        let why = "this property is in x-kubernetes-list-map-keys, so it must have a default or be a required property";
        causes.push(required(format!("{path}.default"), why));
    }
    if ["object", "array"].contains(&text(property, "type")) {
        let why = "must be a scalar type if parent array's x-kubernetes-list-type is map";
        causes.push(invalid(format!("{path}.type"), "\"object\"", why));
    }
}
