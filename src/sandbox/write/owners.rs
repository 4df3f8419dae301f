//! What is wrong with references to owners.

use serde_json::Value;

use super::metadata::text;
use super::rules::{invalid, items};
use crate::error::Cause;

/// What is wrong with an object's references to its owners.
pub(super) fn check(metadata: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut controllers = Vec::new();
    for owner in items(metadata, "ownerReferences") {
        causes.extend(one(owner));
        if owner.get("controller") == Some(&Value::Bool(true)) {
            controllers.push(text(owner, "name"));
        }
    }
    if let [first, second, ..] = controllers.as_slice() {
        let all = metadata.get("ownerReferences").unwrap_or(&Value::Null);
        causes.push(cause(format!(
            "Invalid value: {all}: Only one reference can have Controller set to true. Found \"true\" in references for {first} and {second}"
        )));
    }
    causes
}

fn one(owner: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let said = text(owner, "apiVersion");
    let version = match said.split('/').collect::<Vec<_>>().as_slice() {
        [version] | [_, version] => *version,
        _ => "",
    };
    for (field, value, shown, what) in [
        ("apiVersion", version, said, "version"),
        ("kind", text(owner, "kind"), "", "kind"),
        ("name", text(owner, "name"), "", "name"),
        ("uid", text(owner, "uid"), "", "uid"),
    ] {
        if value.is_empty() {
            let field = format!("metadata.ownerReferences.{field}");
            let why = vec![format!("{what} must not be empty")];
            causes.extend(invalid(&field, shown, why));
        }
    }
    if text(owner, "kind") == "Event" && matches!(said, "v1" | "events.k8s.io/v1") {
        let group = said.rsplit_once('/').map_or("", |(group, _)| group);
        causes.push(cause(format!(
            "Invalid value: {owner}: {group}/{version}, Kind=Event is disallowed from being an owner"
        )));
    }
    causes
}

fn cause(message: String) -> Cause {
    Cause {
        reason: "FieldValueInvalid",
        message,
        field: "metadata.ownerReferences".to_owned(),
    }
}
