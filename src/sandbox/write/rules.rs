//! What is wrong with an object: its metadata, then what its kind says.

use serde_json::{Map, Value};

use super::body::DEFINITIONS;
use super::key::Write;
use super::metadata::{metadata, text};
use super::names::Rule;
use super::{finalizers, owners};
use crate::error::Cause;
use crate::types::Origin;
use crate::words;
use crate::{crd, kinds};

/// Bytes that an object's annotations may have together.
const ANNOTATIONS: usize = 256 * 1024;

/// What is wrong with a new object.
pub(super) fn new(write: &Write<'_>, object: &Value) -> Vec<Cause> {
    let mut causes = naming(write, object);
    causes.extend(common(object));
    match write.kind.origin {
        Origin::BuiltIn => {
            causes.extend(kinds::validate_create(write.kind, object));
            if &*write.key.resource == DEFINITIONS {
                causes.extend(crd::validate_definition(object, None));
            }
        }
        Origin::Custom(_) => causes.extend(crd::validate(write.kind, object, None)),
        Origin::Assumed => {}
    }
    causes
}

/// What is wrong with a changed object.
pub(super) fn changed(write: &Write<'_>, new: &Value, old: &Value) -> Vec<Cause> {
    let mut causes = common(new);
    causes.extend(finalizers::late(new, old));
    causes.extend(immutable(new, old));
    match write.kind.origin {
        Origin::BuiltIn => {
            causes.extend(kinds::validate_update(write.kind, new, old));
            if &*write.key.resource == DEFINITIONS && write.subresource().is_empty() {
                causes.extend(crd::validate_definition(new, Some(old)));
            }
        }
        Origin::Custom(_) => causes.extend(crd::validate(write.kind, new, Some(old))),
        Origin::Assumed => {}
    }
    causes
}

fn naming(write: &Write<'_>, object: &Value) -> Vec<Cause> {
    let rule = Rule::of(&write.key.resource);
    let metadata = metadata(object);
    let mut causes = Vec::new();
    let beginning = text(metadata, "generateName");
    if !beginning.is_empty() {
        let problems = rule.problems(beginning, true);
        causes.extend(invalid("metadata.generateName", beginning, problems));
    }
    let name = text(metadata, "name");
    if name.is_empty() {
        causes.push(Cause {
            reason: "FieldValueRequired",
            message: "Required value: name or generateName is required".to_owned(),
            field: "metadata.name".to_owned(),
        });
    } else {
        causes.extend(invalid("metadata.name", name, rule.problems(name, false)));
    }
    causes
}

/// What is wrong with metadata that old and new objects have alike.
fn common(object: &Value) -> Vec<Cause> {
    let metadata = metadata(object);
    let mut causes = Vec::new();
    for (key, value) in entries(metadata, "labels") {
        causes.extend(invalid("metadata.labels", key, words::qualified(key)));
        let value = value.as_str().unwrap_or_default();
        causes.extend(invalid("metadata.labels", value, words::label_value(value)));
    }
    let mut size = 0;
    for (key, value) in entries(metadata, "annotations") {
        // Keys count without regard to case, as in old versions.
        let problems = words::qualified(&key.to_lowercase());
        causes.extend(invalid("metadata.annotations", key, problems));
        size += key.len() + value.as_str().unwrap_or_default().len();
    }
    if size > ANNOTATIONS {
        causes.push(Cause {
            reason: "FieldValueTooLong",
            message: format!("Too long: must have at most {ANNOTATIONS} bytes"),
            field: "metadata.annotations".to_owned(),
        });
    }
    causes.extend(owners::check(metadata));
    causes.extend(finalizers::check(metadata));
    causes
}

/// What only a deletion sets.
fn immutable(new: &Value, old: &Value) -> Vec<Cause> {
    let (new, old) = (metadata(new), metadata(old));
    let mut causes = Vec::new();
    for field in ["deletionTimestamp", "deletionGracePeriodSeconds"] {
        let value = new.get(field).filter(|value| !value.is_null());
        if value == old.get(field) {
            continue;
        }
        let shown = match value {
            None => "null".to_owned(),
            // As Go prints a time.
            Some(Value::String(time)) => {
                format!("{} +0000 UTC", time.replace('T', " ").trim_end_matches('Z'))
            }
            Some(value) => value.to_string(),
        };
        causes.push(Cause {
            reason: "FieldValueInvalid",
            message: format!("Invalid value: {shown}: field is immutable"),
            field: format!("metadata.{field}"),
        });
    }
    causes
}

pub(super) fn invalid(field: &str, value: &str, problems: Vec<String>) -> Vec<Cause> {
    let cause = |problem| Cause {
        reason: "FieldValueInvalid",
        message: format!("Invalid value: {value:?}: {problem}"),
        field: field.to_owned(),
    };
    problems.into_iter().map(cause).collect()
}

fn entries<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = (&'a String, &'a Value)> {
    let fields = value.get(field).and_then(Value::as_object);
    fields.into_iter().flat_map(Map::iter)
}

pub(super) fn items<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    let items = value.get(field).and_then(Value::as_array);
    items.into_iter().flatten()
}

pub(super) fn strings<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a str> {
    items(value, field).filter_map(Value::as_str)
}
