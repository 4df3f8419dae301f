//! What the API server answered to definitions and to custom objects, and that ours is the same answer.
//!
//! The tables hold the answers of Kubernetes 1.20 as they were recorded. Later versions say in which item of a list something is
//! wrong, and so do we; the comparison leaves the indices out.

mod more;

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::error::Cause;
use crate::types::Kind;

fn base() -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": { "name": "things.def.example.com" },
        "spec": {
            "group": "def.example.com", "scope": "Namespaced", "names": { "plural": "things", "kind": "Thing" },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": {
                    "spec": { "type": "object", "properties": { "a": { "type": "string" } } },
                } } },
            }],
        },
    })
}

fn kind_of(spec: &Value) -> Kind {
    let mut definition = base();
    definition["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] =
        spec.clone();
    kinds(&definition).remove(0)
}

/// Field, reason and message, without indices of lists, in order.
fn comparable(causes: impl IntoIterator<Item = [String; 3]>) -> Vec<[String; 3]> {
    let indices = regex::bytes::Regex::new(r"(?-u)\[[0-9]+\]").unwrap();
    let without = |text: &str| {
        let text = indices.replace_all(text.as_bytes(), &b""[..]).into_owned();
        String::from_utf8(text).unwrap()
    };
    let mut causes: Vec<[String; 3]> = causes
        .into_iter()
        .map(|[field, reason, message]| [without(&field), reason, without(&message)])
        .collect();
    causes.sort();
    causes
}

fn ours(causes: Vec<Cause>) -> Vec<[String; 3]> {
    comparable(
        causes
            .into_iter()
            .map(|cause| [cause.field, cause.reason.to_owned(), cause.message]),
    )
}

fn theirs(causes: &Value) -> Vec<[String; 3]> {
    let causes: Vec<[String; 3]> = serde_json::from_value(causes.clone()).unwrap_or_default();
    comparable(causes)
}

#[test]
fn custom_objects_are_kept_and_refused_as_by_the_api_server() {
    let table: BTreeMap<String, Value> = serde_json::from_str(include_str!("values.json")).unwrap();
    let spec: serde_json::Map<String, Value> = table
        .iter()
        .map(|(name, row)| (name.clone(), row["schema"].clone()))
        .collect();
    let kind = kind_of(&json!({ "type": "object", "properties": spec }));
    let mut wrong = Vec::new();
    for (name, row) in &table {
        for case in row["values"].as_array().unwrap() {
            let value = &case["value"];
            let mut object = json!({
                "apiVersion": "def.example.com/v1", "kind": "Thing", "metadata": { "name": "a" },
                "spec": { name: value },
            });
            prune(&kind, &mut object);
            default(&kind, &mut object);
            let found = ours(validate(&kind, &object, None));
            let wanted = theirs(&case["causes"]);
            if found != wanted {
                wrong.push(format!("{name} {value}: {found:#?} instead of {wanted:#?}"));
            }
            if !wanted.is_empty() {
                continue;
            }
            let kept = object["spec"].get(name);
            let wanted = match case.get("absent") {
                Some(_) => None,
                None => Some(case.get("kept").unwrap_or(value)),
            };
            if kept != wanted {
                wrong.push(format!(
                    "{name} {value}: kept {kept:?} instead of {wanted:?}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn definitions_are_refused_as_by_the_api_server() {
    let table: Vec<Value> = serde_json::from_str(include_str!("definitions.json")).unwrap();
    let mut wrong = Vec::new();
    for row in table {
        let mut definition = base();
        for (path, change) in row["changes"].as_object().unwrap() {
            let (parent, field) = path.rsplit_once('/').unwrap();
            let field = field.replace("~1", "/");
            let parent = definition.pointer_mut(parent).unwrap();
            match (parent, change.get("is")) {
                (Value::Object(fields), Some(value)) => {
                    fields.insert(field, value.clone());
                }
                (Value::Object(fields), None) => {
                    fields.remove(&field);
                }
                (other, _) => panic!("{path}: {other}"),
            }
        }
        default_definition(&mut definition);
        let found: Vec<Cause> = validate_definition(&definition, None)
            .into_iter()
            .map(shortened)
            .collect();
        let (found, wanted) = (ours(found), theirs(&row["causes"]));
        if found != wanted {
            let name = &row["name"];
            wrong.push(format!("{name}: {found:#?} instead of {wanted:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The API server shows whole schemas and versions as Go does, pointers and all; the table has an ellipsis instead.
fn shortened(mut cause: Cause) -> Cause {
    let value = cause.message.strip_prefix("Invalid value: ");
    let whole = value.filter(|value| {
        value.starts_with(['[', 'm']) && cause.field != "spec.conversion.conversionReviewVersions"
    });
    if let Some((_, why)) = whole
        .filter(|_| {
            ["spec.versions", "spec.validation.openAPIV3Schema"].contains(&cause.field.as_str())
        })
        .and_then(|value| {
            value
                .rsplit_once("}: ")
                .or_else(|| value.rsplit_once("{}: "))
        })
    {
        cause.message = format!("Invalid value: …: {why}");
    }
    cause
}
