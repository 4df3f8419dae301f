//! What is wrong with an object: its metadata, then what its kind says.

use serde_json::{Map, Value};

use super::body::DEFINITIONS;
use super::key::Write;
use super::metadata::{metadata, text};
use super::names::{self, Rule};
use crate::sandbox::error::Cause;
use crate::sandbox::types::Origin;
use crate::sandbox::{crd, kinds};

/// Bytes that an object's annotations may have together.
const ANNOTATIONS: usize = 256 * 1024;

/// Finalizers without a group.
const FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

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
    causes.extend(late_finalizers(new, old));
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
        causes.extend(invalid("metadata.labels", key, names::qualified(key)));
        let value = value.as_str().unwrap_or_default();
        causes.extend(invalid("metadata.labels", value, names::value(value)));
    }
    let mut size = 0;
    for (key, value) in entries(metadata, "annotations") {
        // Keys count without regard to case, as in old versions.
        let problems = names::qualified(&key.to_lowercase());
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
    causes.extend(owners(metadata));
    causes.extend(finalizers(metadata));
    causes
}

fn owners(metadata: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut controllers = Vec::new();
    for owner in items(metadata, "ownerReferences") {
        let version = text(owner, "apiVersion").rsplit('/').next();
        for (field, value, what) in [
            ("apiVersion", version.unwrap_or_default(), "version"),
            ("kind", text(owner, "kind"), "kind"),
            ("name", text(owner, "name"), "name"),
            ("uid", text(owner, "uid"), "uid"),
        ] {
            if value.is_empty() {
                let field = format!("metadata.ownerReferences.{field}");
                causes.extend(invalid(
                    &field,
                    "",
                    vec![format!("{what} must not be empty")],
                ));
            }
        }
        if owner.get("controller") == Some(&Value::Bool(true)) {
            controllers.push(format!("{}/{}", text(owner, "kind"), text(owner, "name")));
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        causes.push(Cause {
            reason: "FieldValueInvalid",
            message: format!(
                "Invalid value: {}: Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}",
                metadata.get("ownerReferences").unwrap_or(&Value::Null)
            ),
            field: "metadata.ownerReferences".to_owned(),
        });
    }
    causes
}

fn finalizers(metadata: &Value) -> Vec<Cause> {
    let all: Vec<&str> = strings(metadata, "finalizers").collect();
    let mut causes = Vec::new();
    for (index, name) in all.iter().enumerate() {
        causes.extend(invalid("metadata.finalizers", name, names::qualified(name)));
        if !name.contains('/') && !FINALIZERS.contains(name) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            let field = format!("metadata.finalizers[{index}]");
            causes.extend(invalid(&field, name, vec![why.to_owned()]));
        }
    }
    if all.contains(&"orphan") && all.contains(&"foregroundDeletion") {
        causes.push(Cause {
            reason: "FieldValueInvalid",
            message: format!(
                "Invalid value: {}: finalizer orphan and foregroundDeletion cannot be both set",
                metadata.get("finalizers").unwrap_or(&Value::Null)
            ),
            field: "metadata.finalizers".to_owned(),
        });
    }
    causes
}

/// Finalizers that come too late, for an object that is going.
fn late_finalizers(new: &Value, old: &Value) -> Option<Cause> {
    let (new, old) = (metadata(new), metadata(old));
    old.get("deletionTimestamp")?;
    let mut late: Vec<&str> = strings(new, "finalizers")
        .filter(|name| strings(old, "finalizers").all(|known| known != *name))
        .collect();
    if late.is_empty() {
        return None;
    }
    late.sort_unstable();
    let late: Vec<String> = late.iter().map(|name| format!("{name:?}")).collect();
    Some(Cause {
        reason: "FieldValueForbidden",
        message: format!(
            "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
            late.join(", ")
        ),
        field: "metadata.finalizers".to_owned(),
    })
}

fn invalid(field: &str, value: &str, problems: Vec<String>) -> Vec<Cause> {
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

fn items<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a Value> {
    let items = value.get(field).and_then(Value::as_array);
    items.into_iter().flatten()
}

fn strings<'a>(value: &'a Value, field: &str) -> impl Iterator<Item = &'a str> {
    items(value, field).filter_map(Value::as_str)
}
