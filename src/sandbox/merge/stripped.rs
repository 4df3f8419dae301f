//! Fields that nobody manages.

use super::set::FieldSet;

const METADATA: &[&str] = &[
    "name",
    "namespace",
    "creationTimestamp",
    "selfLink",
    "uid",
    "clusterName",
    "generation",
    "managedFields",
    "resourceVersion",
];

/// Takes out of a set what identifies an object and what the API server itself writes.
pub(super) fn strip(set: &mut FieldSet) {
    for name in ["apiVersion", "kind"] {
        set.fields.remove(name);
    }
    if let Some(metadata) = set.fields.get_mut("metadata") {
        metadata.own = false;
        for name in METADATA {
            metadata.fields.remove(name);
        }
        if metadata.is_empty() {
            set.fields.remove("metadata");
        }
    }
}
