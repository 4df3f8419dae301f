//! Requests that kinds take, as far as clients look them up: whether there is a dry run, a validation of fields, a patch.

use serde_json::{Map, Value, json};

use super::definitions::Dialect;
use crate::types::{Kind, Origin};

/// `/apis/{group}/{version}`, or `/api/v1` for the core.
pub fn prefix(group: &str, version: &str) -> String {
    match group {
        "" => format!("/api/{version}"),
        group => format!("/apis/{group}/{version}"),
    }
}

/// The paths of a kind; `definition` is the name of its type.
pub fn of(kind: &Kind, definition: &str, dialect: Dialect) -> Vec<(String, Value)> {
    let prefix = prefix(&kind.group, &kind.version);
    let all = match kind.namespaced {
        true => format!("{prefix}/namespaces/{{namespace}}/{}", kind.plural),
        false => format!("{prefix}/{}", kind.plural),
    };
    let one = format!("{all}/{{name}}");
    let operations = |verbs: &[(&str, &str)]| {
        let operations = verbs.iter().map(|(method, action)| {
            (
                method.to_string(),
                operation(kind, definition, action, dialect),
            )
        });
        Value::Object(operations.collect())
    };
    let many = operations(&[
        ("get", "list"),
        ("post", "post"),
        ("delete", "deletecollection"),
    ]);
    let single = operations(&[
        ("get", "get"),
        ("put", "put"),
        ("patch", "patch"),
        ("delete", "delete"),
    ]);
    vec![(all, many), (one, single)]
}

fn operation(kind: &Kind, definition: &str, action: &str, dialect: Dialect) -> Value {
    let Kind {
        group,
        version,
        kind: name,
        ..
    } = kind;
    let mut operation = json!({
        "x-kubernetes-action": action,
        "x-kubernetes-group-version-kind": { "group": group, "version": version, "kind": name },
        "responses": { "200": { "description": "OK" } },
    });
    let Some(fields) = operation.as_object_mut() else {
        return operation;
    };
    let names: &[&str] = match action {
        "post" | "put" => &["dryRun", "fieldManager", "fieldValidation"],
        "patch" => &["dryRun", "fieldManager", "fieldValidation", "force"],
        "delete" => &["dryRun", "gracePeriodSeconds", "propagationPolicy"],
        "deletecollection" => &[
            "dryRun",
            "fieldSelector",
            "labelSelector",
            "propagationPolicy",
        ],
        _ => &["fieldSelector", "labelSelector", "limit", "continue"],
    };
    let parameters = names.iter().map(|name| parameter(name, dialect)).collect();
    fields.insert("parameters".to_owned(), parameters);
    if matches!(action, "post" | "put" | "patch") {
        add_body(
            fields,
            &media_types(kind, action),
            &dialect.reference(definition),
            dialect,
        );
    }
    operation
}

fn add_body(operation: &mut Map<String, Value>, types: &[&str], of: &Value, dialect: Dialect) {
    match dialect {
        Dialect::V2 => {
            operation.insert("consumes".to_owned(), json!(types));
        }
        Dialect::V3 => {
            let content: Map<String, Value> = types
                .iter()
                .map(|it| (it.to_string(), json!({ "schema": of })))
                .collect();
            operation.insert("requestBody".to_owned(), json!({ "content": content }));
        }
    }
}

fn media_types(kind: &Kind, action: &str) -> Vec<&'static str> {
    if action != "patch" {
        return vec!["application/json", "application/yaml"];
    }
    let mut types = vec![
        "application/apply-patch+yaml",
        "application/json-patch+json",
        "application/merge-patch+json",
    ];
    if kind.origin == Origin::BuiltIn {
        types.push("application/strategic-merge-patch+json");
    }
    types
}

fn parameter(name: &str, dialect: Dialect) -> Value {
    let of = match name {
        "force" => "boolean",
        "limit" | "gracePeriodSeconds" => "integer",
        _ => "string",
    };
    match dialect {
        Dialect::V2 => json!({ "name": name, "in": "query", "type": of, "uniqueItems": true }),
        Dialect::V3 => {
            json!({ "name": name, "in": "query", "schema": { "type": of, "uniqueItems": true } })
        }
    }
}
