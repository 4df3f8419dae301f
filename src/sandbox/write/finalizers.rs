//! What is wrong with finalizers.

use serde_json::Value;

use super::metadata::metadata;
use super::rules::{invalid, strings};
use crate::error::Cause;
use crate::words;

/// Finalizers without a group.
const FINALIZERS: [&str; 3] = ["kubernetes", "orphan", "foregroundDeletion"];

/// What is wrong with an object's finalizers.
pub(super) fn check(metadata: &Value) -> Vec<Cause> {
    let all: Vec<&str> = strings(metadata, "finalizers").collect();
    let mut causes = Vec::new();
    for name in &all {
        causes.extend(invalid("metadata.finalizers", name, words::qualified(name)));
    }
    if all.contains(&"orphan") && all.contains(&"foregroundDeletion") {
        causes.push(Cause {
            reason: "FieldValueInvalid",
            message: format!(
                "Invalid value: {}: finalizer orphan and foregroundDeletion cannot be both set",
                go_strings(&all)
            ),
            field: "metadata.finalizers".to_owned(),
        });
    }
    for (index, name) in all.iter().enumerate() {
        if !name.contains('/') && !FINALIZERS.contains(name) {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            let field = format!("metadata.finalizers[{index}]");
            causes.extend(invalid(&field, name, vec![why.to_owned()]));
        }
    }
    causes
}

/// Texts as Go shows a list of them.
fn go_strings(texts: &[&str]) -> String {
    let texts: Vec<String> = texts.iter().map(|text| format!("{text:?}")).collect();
    format!("[]string{{{}}}", texts.join(", "))
}

/// Finalizers that come too late, for an object that is going.
pub(super) fn late(new: &Value, old: &Value) -> Option<Cause> {
    let (new, old) = (metadata(new), metadata(old));
    old.get("deletionTimestamp")?;
    let mut late: Vec<&str> = strings(new, "finalizers")
        .filter(|name| strings(old, "finalizers").all(|known| known != *name))
        .collect();
    if late.is_empty() {
        return None;
    }
    late.sort_unstable();
    Some(Cause {
        reason: "FieldValueForbidden",
        message: format!(
            "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers {}",
            go_strings(&late)
        ),
        field: "metadata.finalizers".to_owned(),
    })
}
