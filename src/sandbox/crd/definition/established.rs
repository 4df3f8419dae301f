//! What becomes of the status of a definition that is accepted.

use serde_json::{Value, json};

use super::super::fields::{flag, items, object, text};

/// Says in a definition's status that its names are accepted, that it is served, and in which versions its objects are stored.
pub fn established(definition: &mut Value) {
    let spec = definition.get("spec").unwrap_or(&Value::Null);
    let names = spec.get("names").cloned().unwrap_or_default();
    let stored: Vec<Value> = items(spec, "versions")
        .filter(|version| flag(version, "storage"))
        .map(|version| text(version, "name").into())
        .collect();
    let now = jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string();
    let Some(status) = object(definition, "status") else {
        return;
    };
    status.insert("acceptedNames".to_owned(), names);
    let conditions = status.entry("conditions").or_insert(Value::Null);
    if conditions.is_null() {
        *conditions = json!([]);
    }
    if let Some(conditions) = conditions.as_array_mut() {
        for (kind, reason, message) in [
            ("NamesAccepted", "NoConflicts", "no conflicts found"),
            (
                "Established",
                "InitialNamesAccepted",
                "the initial names have been accepted",
            ),
        ] {
            if !conditions.iter().any(|known| text(known, "type") == kind) {
                conditions.push(json!({
                    "type": kind, "status": "True", "lastTransitionTime": now,
                    "reason": reason, "message": message,
                }));
            }
        }
    }
    let versions = status.entry("storedVersions").or_insert(Value::Null);
    if versions.is_null() {
        *versions = json!([]);
    }
    if let Some(versions) = versions.as_array_mut() {
        for version in stored {
            if !versions.contains(&version) {
                versions.push(version);
            }
        }
    }
}
