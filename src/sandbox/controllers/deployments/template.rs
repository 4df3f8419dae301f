//! Which ReplicaSet is that of a template, and how a new one looks.

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use super::{DESIRED, HASH, MOST, REVISION, REVISION_HISTORY};
use crate::sandbox::controllers::object::{meta, number, reference, set};

/// Letters that make no words.
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// Annotations of Deployments that their ReplicaSets do not get.
const OWN: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    "deprecated.deployment.rollback.to",
    REVISION,
    REVISION_HISTORY,
    DESIRED,
    MOST,
];

/// Whether a ReplicaSet is that of a template.
pub(super) fn is_of(set: &Value, template: &Value) -> bool {
    let mut own = set.pointer("/spec/template").cloned().unwrap_or_default();
    if let Some(labels) = own
        .pointer_mut("/metadata/labels")
        .and_then(Value::as_object_mut)
    {
        labels.remove(HASH);
    }
    without_empty_labels(own) == without_empty_labels(template.clone())
}

fn without_empty_labels(mut template: Value) -> Value {
    let labels = template
        .pointer("/metadata/labels")
        .and_then(Value::as_object);
    if labels.is_some_and(Map::is_empty)
        && let Some(metadata) = template.get_mut("metadata").and_then(Value::as_object_mut)
    {
        metadata.remove("labels");
    }
    template
}

/// The ReplicaSet of a Deployment's template.
pub(super) fn set_of(deployment: &Value) -> Value {
    let mut template = deployment
        .pointer("/spec/template")
        .cloned()
        .unwrap_or_default();
    let hash = hash(&template, number(deployment, "/status/collisionCount", 0));
    set(
        &mut template,
        &["metadata", "labels", HASH],
        hash.as_str().into(),
    );
    let mut selector = deployment
        .pointer("/spec/selector")
        .cloned()
        .unwrap_or_default();
    set(&mut selector, &["matchLabels", HASH], hash.as_str().into());
    let labels = template.pointer("/metadata/labels").cloned();
    let mut new = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": format!("{}-{hash}", meta(deployment, "name")),
            "namespace": meta(deployment, "namespace"),
            "labels": labels,
            "ownerReferences": [reference(deployment)],
        },
        "spec": { "replicas": 0, "selector": selector, "template": template },
    });
    let least = number(deployment, "/spec/minReadySeconds", 0);
    if least != 0 {
        set(&mut new, &["spec", "minReadySeconds"], least.into());
    }
    new
}

/// Gives a ReplicaSet the annotations of its Deployment.
pub(super) fn copy_annotations(deployment: &Value, set_of_it: &mut Value) {
    let annotations = deployment.pointer("/metadata/annotations");
    for (name, value) in annotations.and_then(Value::as_object).into_iter().flatten() {
        if !OWN.contains(&name.as_str()) {
            set(set_of_it, &["metadata", "annotations", name], value.clone());
        }
    }
}

/// Ten letters, or a few less, that stand for a template.
fn hash(template: &Value, collisions: i64) -> String {
    let mut hasher = Sha256::new();
    hasher.update(template.to_string());
    if collisions > 0 {
        hasher.update(collisions.to_le_bytes());
    }
    let number = hasher
        .finalize()
        .iter()
        .take(4)
        .fold(0_u32, |number, byte| number << 8 | u32::from(*byte));
    number
        .to_string()
        .bytes()
        .filter_map(|digit| LETTERS.get(usize::from(digit) % LETTERS.len()))
        .map(|letter| char::from(*letter))
        .collect()
}
