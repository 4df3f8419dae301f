//! The rules of structural schemas.

use serde_json::Value;

use super::super::fields::{entries, flag, items, text};
use super::super::{forbidden, invalid, object, pattern, required, show, unsupported};
use super::extensions;
use crate::error::Cause;

/// How deep schemas may nest; deeper ones are taken as they are, for they cannot be written by hand.
const DEEPEST: usize = 100;

const TYPES: [&str; 6] = ["array", "boolean", "integer", "number", "object", "string"];

/// Fields that schemas of definitions do not have.
const UNKNOWN: [&str; 6] = [
    "id",
    "$ref",
    "definitions",
    "dependencies",
    "patternProperties",
    "additionalItems",
];

/// Fields that say how values are, not what is wrong with them, and how they are refused in `anyOf` and its like.
const NOT_IN_CHOICES: [(&str, &str); 12] = [
    ("type", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("title", "must be empty to be structural"),
    ("default", "must be undefined to be structural"),
    ("nullable", "must be false to be structural"),
    ("additionalProperties", "must be undefined to be structural"),
    (
        "x-kubernetes-preserve-unknown-fields",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-embedded-resource",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-int-or-string",
        "must be false to be structural",
    ),
    (
        "x-kubernetes-list-map-keys",
        "must be empty to be structural",
    ),
    (
        "x-kubernetes-list-type",
        "must be undefined to be structural",
    ),
    (
        "x-kubernetes-map-type",
        "must be undefined to be structural",
    ),
];

/// What a schema is part of.
#[derive(Clone, Copy)]
enum Of {
    Root,
    Field,
    Items,
}

/// Checks the schema of a whole object.
pub(super) fn check(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    if flag(schema, "nullable") {
        let why = "nullable cannot be true at the root";
        causes.push(forbidden(format!("{path}.nullable"), why));
    }
    part(schema, path, Of::Root, 0, causes);
}

fn part(schema: &Value, path: &str, of: Of, depth: usize, causes: &mut Vec<Cause>) {
    if depth > DEEPEST {
        return;
    }
    general(schema, path, causes);
    kind(schema, path, of, causes);
    extensions::check(schema, path, causes);
    if flag(schema, "x-kubernetes-embedded-resource") || matches!(of, Of::Root) {
        identity(schema, path, of, causes);
    }
    choices(
        schema,
        path,
        flag(schema, "x-kubernetes-int-or-string"),
        depth,
        causes,
    );
    default(schema, path, of, causes);
    for (name, property) in entries(schema, "properties") {
        let path = format!("{path}.properties[{name}]");
        part(property, &path, Of::Field, depth + 1, causes);
    }
    if let Some(values) = schema.get("additionalProperties").filter(|v| v.is_object()) {
        let path = format!("{path}.additionalProperties");
        part(values, &path, Of::Field, depth + 1, causes);
    }
    if let Some(of) = schema.get("items").filter(|of| of.is_object()) {
        part(of, &format!("{path}.items"), Of::Items, depth + 1, causes);
    }
}

/// What holds for all schemas, also for those in choices.
fn general(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    for field in UNKNOWN {
        if schema.get(field).is_some() {
            let why = format!("{field} is not supported");
            causes.push(forbidden(format!("{path}.{field}"), &why));
        }
    }
    if flag(schema, "uniqueItems") {
        let why =
            "uniqueItems cannot be set to true since the runtime complexity becomes quadratic";
        causes.push(forbidden(format!("{path}.uniqueItems"), why));
    }
    let values = schema.get("additionalProperties");
    if entries(schema, "properties").next().is_some()
        && values.is_some_and(|values| values != &Value::Bool(true))
    {
        let why = "additionalProperties and properties are mutual exclusive";
        causes.push(forbidden(format!("{path}.additionalProperties"), why));
    }
    if schema.get("items").is_some_and(Value::is_array) {
        let why = "items must be a schema object and not an array";
        causes.push(forbidden(format!("{path}.items"), why));
    }
    let expression = text(schema, "pattern");
    if let Some(wrong) = pattern::wrong(expression) {
        let why =
            format!("must be a valid regular expression, but isn't: error parsing regexp: {wrong}");
        causes.push(invalid(
            format!("{path}.pattern"),
            &show::quoted(expression),
            &why,
        ));
    }
    if schema.get("x-kubernetes-preserve-unknown-fields") == Some(&Value::Bool(false)) {
        let field = format!("{path}.x-kubernetes-preserve-unknown-fields");
        causes.push(invalid(field, "false", "must be true or undefined"));
    }
}

fn kind(schema: &Value, path: &str, of: Of, causes: &mut Vec<Cause>) {
    let field = format!("{path}.type");
    let either = flag(schema, "x-kubernetes-int-or-string");
    let open = flag(schema, "x-kubernetes-preserve-unknown-fields");
    match (text(schema, "type"), of) {
        ("", Of::Root) => causes.push(required(field, "must not be empty at the root")),
        ("", _) if either || open || schema.get("$ref").is_some() => {}
        ("", Of::Field) => {
            causes.push(required(
                field,
                "must not be empty for specified object fields",
            ));
        }
        ("", Of::Items) => {
            causes.push(required(
                field,
                "must not be empty for specified array items",
            ));
        }
        ("object", _) => {}
        (wrong, Of::Root) => {
            let why = "must be object at the root";
            causes.push(invalid(field, &show::quoted(wrong), why));
        }
        ("array", _) => {
            if schema.get("items").is_none() {
                causes.push(required(format!("{path}.items"), "must be specified"));
            }
        }
        (known, _) if TYPES.contains(&known) => {}
        (other, _) => causes.push(unsupported(field, &show::quoted(other), &TYPES)),
    }
    if either && open {
        let field = format!("{path}.x-kubernetes-preserve-unknown-fields");
        let why = "must be false if x-kubernetes-int-or-string is true";
        causes.push(invalid(field, "true", why));
    }
}

/// The types of `apiVersion`, `kind` and `metadata`.
fn identity(schema: &Value, path: &str, of: Of, causes: &mut Vec<Cause>) {
    for (name, property) in entries(schema, "properties") {
        let path = format!("{path}.properties[{name}]");
        let wanted = match name.as_str() {
            "apiVersion" | "kind" => "string",
            "metadata" => "object",
            _ => continue,
        };
        let found = text(property, "type");
        if found != wanted && !found.is_empty() {
            let why = format!("must be {wanted}");
            causes.push(invalid(format!("{path}.type"), &show::quoted(found), &why));
        }
        if wanted == "object" && matches!(of, Of::Root) {
            metadata(property, &path, causes);
        }
    }
}

/// Schemas may narrow the name of an object, and nothing else of its metadata.
fn metadata(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    if schema.get("default").is_some() {
        let field = format!("{path}.default");
        causes.push(forbidden(field, "must not be set in top-level metadata"));
    }
    let says_nothing =
        |field: &String| ["type", "description", "properties", "default"].contains(&field.as_str());
    let narrow = entries(schema, "properties")
        .all(|(name, _)| ["name", "generateName"].contains(&name.as_str()));
    let plain = schema
        .as_object()
        .is_none_or(|fields| fields.keys().all(says_nothing));
    if !narrow || !plain {
        let why = "must not specify anything other than name and generateName, but metadata is implicitly specified";
        causes.push(forbidden(path, why));
    }
}

fn choices(schema: &Value, path: &str, either: bool, depth: usize, causes: &mut Vec<Cause>) {
    for field in ["anyOf", "oneOf", "allOf"] {
        let both = field == "anyOf" && either && is_either(schema);
        for (index, choice) in items(schema, field).enumerate() {
            let first = field == "allOf" && index == 0;
            let path = format!("{path}.{field}[{index}]");
            in_choice(choice, &path, both, first && either, depth + 1, causes);
        }
    }
    if let Some(not) = schema.get("not") {
        in_choice(not, &format!("{path}.not"), false, false, depth + 1, causes);
    }
}

/// Checks a schema in a choice. `typed` lets it have a type, and `either` lets its own `anyOf` have types, as is usual with
/// `x-kubernetes-int-or-string`.
fn in_choice(
    schema: &Value,
    path: &str,
    typed: bool,
    either: bool,
    depth: usize,
    causes: &mut Vec<Cause>,
) {
    if depth > DEEPEST {
        return;
    }
    general(schema, path, causes);
    extensions::merging(schema, path, causes);
    for (field, why) in NOT_IN_CHOICES {
        let there = schema.get(field).is_some_and(|value| value != false);
        if there && !(typed && field == "type") {
            causes.push(forbidden(format!("{path}.{field}"), why));
        }
    }
    choices(schema, path, either, depth, causes);
    for (name, property) in entries(schema, "properties") {
        let path = format!("{path}.properties[{name}]");
        in_choice(property, &path, false, false, depth + 1, causes);
    }
    if let Some(of) = schema.get("items").filter(|of| of.is_object()) {
        let path = format!("{path}.items");
        in_choice(of, &path, false, false, depth + 1, causes);
    }
}

/// Whether the alternatives are a whole number and a text, and no more.
fn is_either(schema: &Value) -> bool {
    let types: Vec<&str> = items(schema, "anyOf").map(|c| text(c, "type")).collect();
    types == ["integer", "string"]
}

fn default(schema: &Value, path: &str, of: Of, causes: &mut Vec<Cause>) {
    let Some(default) = schema.get("default") else {
        return;
    };
    let path = format!("{path}.default");
    if object::unknown(schema, default) {
        let why = "must not have unknown fields";
        causes.push(invalid(path, &show::shown(default), why));
        return;
    }
    if matches!(of, Of::Root) {
        object::identity(default, &path, causes);
    }
    for mut wrong in object::causes(schema, default, "") {
        wrong.field = match wrong.field.as_str() {
            "" => path.clone(),
            field if field.starts_with(['[', '<']) => format!("{path}{field}"),
            field => format!("{path}.{field}"),
        };
        causes.push(wrong);
    }
}
