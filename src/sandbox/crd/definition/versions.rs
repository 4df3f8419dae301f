//! The versions of a definition.

use std::collections::HashSet;

use serde_json::Value;

use super::super::fields::{flag, items, text};
use super::super::{forbidden, invalid, names, required, show};
use super::structural;
use crate::error::Cause;

const TYPES: [&str; 5] = ["boolean", "date", "integer", "number", "string"];
const FORMATS: [&str; 8] = [
    "byte",
    "date",
    "date-time",
    "double",
    "float",
    "int32",
    "int64",
    "password",
];

/// What may stand beside a schema's root when there is a status subresource.
const WITH_STATUS: [(&str, &str); 21] = [
    ("Description", "description"),
    ("Type", "type"),
    ("Format", "format"),
    ("Title", "title"),
    ("Maximum", "maximum"),
    ("ExclusiveMaximum", "exclusiveMaximum"),
    ("Minimum", "minimum"),
    ("ExclusiveMinimum", "exclusiveMinimum"),
    ("MaxLength", "maxLength"),
    ("MinLength", "minLength"),
    ("Pattern", "pattern"),
    ("MaxItems", "maxItems"),
    ("MinItems", "minItems"),
    ("UniqueItems", "uniqueItems"),
    ("MultipleOf", "multipleOf"),
    ("Required", "required"),
    ("Items", "items"),
    ("Properties", "properties"),
    ("ExternalDocs", "externalDocs"),
    ("Example", "example"),
    (
        "XPreserveUnknownFields",
        "x-kubernetes-preserve-unknown-fields",
    ),
];

/// Checks that versions have names, and that one of them is stored.
pub(super) fn check_names(spec: &Value, causes: &mut Vec<Cause>) {
    let mut seen = HashSet::new();
    let mut unique = true;
    for (index, version) in items(spec, "versions").enumerate() {
        let name = text(version, "name");
        unique &= seen.insert(name);
        if let Some(wrong) = names::label(name) {
            let field = format!("spec.versions[{index}].name");
            causes.push(invalid(field, &show::quoted(name), &wrong));
        }
        deprecation(version, index, causes);
    }
    let shown = || show::shown(spec.get("versions").unwrap_or(&Value::Null));
    if !unique {
        let why = "must contain unique version names";
        causes.push(invalid("spec.versions", &shown(), why));
    }
    let stored = items(spec, "versions").filter(|version| flag(version, "storage"));
    if stored.count() != 1 {
        let why = "must have exactly one version marked as storage version";
        causes.push(invalid("spec.versions", &shown(), why));
    }
    for (index, version) in items(spec, "versions").enumerate() {
        if version.pointer("/schema/openAPIV3Schema").is_none() {
            let field = format!("spec.versions[{index}].schema.openAPIV3Schema");
            causes.push(required(field, "schemas are required"));
        }
    }
}

fn deprecation(version: &Value, index: usize, causes: &mut Vec<Cause>) {
    let warning = text(version, "deprecationWarning");
    if warning.is_empty() {
        return;
    }
    let field = format!("spec.versions[{index}].deprecationWarning");
    let shown = show::quoted(warning);
    if !flag(version, "deprecated") {
        causes.push(invalid(
            field.clone(),
            &shown,
            "can only be set for deprecated versions",
        ));
    }
    if warning.len() > 256 {
        causes.push(invalid(field, &shown, "must be <= 256 characters long"));
    }
}

/// Checks what versions hold. What all of them have alike is checked once, and said to be the spec's.
pub(super) fn check_contents(spec: &Value, causes: &mut Vec<Cause>) {
    let statuses: Vec<bool> = items(spec, "versions")
        .map(|version| version.pointer("/subresources/status").is_some())
        .collect();
    let any_status = statuses.contains(&true);
    for (path, schema, version) in parts(spec, "schema", "validation") {
        if let Some(schema) = schema.get("openAPIV3Schema") {
            let status = version.map_or(any_status, |index| statuses.get(index) == Some(&true));
            let path = format!("{path}.openAPIV3Schema");
            if status {
                beside_status(schema, &path, causes);
            }
            structural::check(schema, &path, causes);
        }
    }
    for (path, subresources, _) in parts(spec, "subresources", "subresources") {
        if let Some(scale) = subresources.get("scale") {
            check_scale(scale, &format!("{path}.scale"), causes);
        }
    }
    for (path, columns, _) in parts(spec, "additionalPrinterColumns", "additionalPrinterColumns") {
        for (index, column) in columns.as_array().into_iter().flatten().enumerate() {
            check_column(column, &format!("{path}[{index}]"), causes);
        }
    }
}

/// A part of versions, with where it is said to be and the version it is of: once where all versions have the same.
fn parts<'a>(
    spec: &'a Value,
    field: &str,
    common: &str,
) -> Vec<(String, &'a Value, Option<usize>)> {
    let all: Vec<Option<&Value>> = items(spec, "versions").map(|v| v.get(field)).collect();
    match all.split_first() {
        Some((Some(first), others)) if others.iter().all(|other| *other == Some(*first)) => {
            vec![(format!("spec.{common}"), *first, None)]
        }
        _ => all
            .into_iter()
            .enumerate()
            .filter_map(|(index, part)| {
                Some((
                    format!("spec.versions[{index}].{field}"),
                    part?,
                    Some(index),
                ))
            })
            .collect(),
    }
}

fn beside_status(schema: &Value, path: &str, causes: &mut Vec<Cause>) {
    let Some(fields) = schema.as_object() else {
        return;
    };
    if fields.contains_key("additionalProperties") {
        let field = format!("{path}.additionalProperties");
        causes.push(forbidden(field, "must not be used at the root"));
    }
    let allowed = |name: &String| WITH_STATUS.iter().any(|(_, known)| known == name);
    if !fields.keys().all(allowed) {
        let all: Vec<&str> = WITH_STATUS.iter().map(|(name, _)| *name).collect();
        let why = format!(
            "only {} fields are allowed at the root of the schema if the status subresource is enabled",
            format_args!("[{}]", all.join(" "))
        );
        causes.push(invalid(path, &show::shown(schema), &why));
    }
}

fn check_scale(scale: &Value, path: &str, causes: &mut Vec<Cause>) {
    let wanted: [(&str, &[&str], &str); 3] = [
        ("specReplicasPath", &["spec"], ".spec"),
        ("statusReplicasPath", &["status"], ".status"),
        (
            "labelSelectorPath",
            &["spec", "status"],
            "either .spec or .status",
        ),
    ];
    for (field, parents, told) in wanted {
        let value = text(scale, field);
        let field = format!("{path}.{field}");
        if value.is_empty() {
            if parents.len() == 1 {
                causes.push(required(field, ""));
            }
            continue;
        }
        let shown = show::quoted(value);
        if !is_simple_path(value) {
            let why = "must be a simple json path starting with .";
            causes.push(invalid(field, &shown, why));
        } else if !parents.iter().any(|parent| {
            value
                .strip_prefix('.')
                .and_then(|rest| rest.strip_prefix(parent))
                .is_some_and(|rest| rest.starts_with('.'))
        }) {
            let why = format!("should be a json path under {told}");
            causes.push(invalid(field, &shown, &why));
        }
    }
}

fn check_column(column: &Value, path: &str, causes: &mut Vec<Cause>) {
    if text(column, "name").is_empty() {
        causes.push(required(format!("{path}.name"), ""));
    }
    let r#type = text(column, "type");
    if r#type.is_empty() {
        let why = format!("must be one of {}", TYPES.join(","));
        causes.push(required(format!("{path}.type"), &why));
    } else if !TYPES.contains(&r#type) {
        let why = format!("must be one of {}", TYPES.join(","));
        causes.push(invalid(format!("{path}.type"), &show::quoted(r#type), &why));
    }
    let format = text(column, "format");
    if !format.is_empty() && !FORMATS.contains(&format) {
        let why = format!("must be one of {}", FORMATS.join(","));
        causes.push(invalid(
            format!("{path}.format"),
            &show::quoted(format),
            &why,
        ));
    }
    let json_path = text(column, "jsonPath");
    let field = format!("{path}.JSONPath");
    if json_path.is_empty() {
        causes.push(required(field, ""));
    } else if !is_simple_path(json_path) {
        let why = "must be a simple json path starting with .";
        causes.push(invalid(field, &show::quoted(json_path), why));
    }
}

fn is_simple_path(path: &str) -> bool {
    path.starts_with('.')
}
