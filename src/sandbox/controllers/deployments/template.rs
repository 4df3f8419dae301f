//! Which ReplicaSet is that of a template, and how a new one looks.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::{DESIRED, HASH, MOST, REVISION, REVISION_HISTORY};
use crate::controllers::object::{meta, number, reference, set};

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
    let own = set.pointer("/spec/template");
    same(own, Some(template), "metadata", |own, other| {
        same(own, other, "labels", |own, other| {
            fields(own)
                .filter(|(name, _)| *name != HASH)
                .eq(fields(other))
        })
    })
}

/// Whether two objects are the same, when one field of them is judged by itself; what is not there is empty.
fn same(
    left: Option<&Value>,
    right: Option<&Value>,
    field: &str,
    judge: impl FnOnce(Option<&Value>, Option<&Value>) -> bool,
) -> bool {
    let [left_rest, right_rest] =
        [left, right].map(|object| fields(object).filter(|(name, _)| *name != field));
    let [left, right] = [left, right].map(|object| object?.get(field));
    left_rest.eq(right_rest) && judge(left, right)
}

fn fields(object: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    object.and_then(Value::as_object).into_iter().flatten()
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

/// The annotations that a ReplicaSet gets from its Deployment.
pub(super) fn annotations(deployment: &Value) -> impl Iterator<Item = (&str, &str)> {
    fields(deployment.pointer("/metadata/annotations"))
        .filter(|(name, _)| !OWN.contains(&name.as_str()))
        .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
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
