//! The numbers of a Deployment's status.

use serde_json::Value;

use super::sets::Sets;
use super::wanted;
use crate::controllers::object::{counts, number};

/// Puts the numbers that its ReplicaSets give into the status of a Deployment.
pub(super) fn set(deployment: &mut Value, sets: &Sets) {
    let count = counted(sets);
    let available = count("availableReplicas");
    let mut status = counts(
        "",
        [
            (
                "observedGeneration",
                number(deployment, "/metadata/generation", 0),
            ),
            ("replicas", count("replicas")),
            ("updatedReplicas", count("updatedReplicas")),
            ("readyReplicas", count("readyReplicas")),
            ("availableReplicas", available),
            ("unavailableReplicas", (sets.total() - available).max(0)),
        ],
    );
    for kept in ["collisionCount", "conditions"] {
        if let Some(value) = deployment.pointer(&format!("/status/{kept}")) {
            status.insert(kept.to_owned(), value.clone());
        }
    }
    if let Some(fields) = deployment.as_object_mut() {
        fields.insert("status".to_owned(), status.into());
    }
}

/// The numbers, by the names of the fields.
pub(super) fn counted(sets: &Sets) -> impl Fn(&str) -> i64 + use<> {
    let replicas = sets.count("/status/replicas");
    let ready = sets.count("/status/readyReplicas");
    let available = sets.count("/status/availableReplicas");
    let updated = sets
        .new
        .as_ref()
        .map_or(0, |new| number(new, "/status/replicas", 0));
    move |name| match name {
        "replicas" => replicas,
        "updatedReplicas" => updated,
        "readyReplicas" => ready,
        _ => available,
    }
}

/// Whether a Deployment is where it wants to be.
pub(super) fn is_complete(deployment: &Value, counted: &impl Fn(&str) -> i64) -> bool {
    let wanted = wanted(deployment);
    ["replicas", "updatedReplicas", "availableReplicas"]
        .into_iter()
        .all(|name| counted(name) == wanted)
}
