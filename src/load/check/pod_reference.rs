//! References from pods to ConfigMaps, Secrets, claims and ServiceAccounts of the source.

use super::finding::Finding;
use super::index::Index;
use super::named::{key_of, named};
use super::read::{each, field, is_true};
use crate::load::Node;

/// A field of a pod's spec that names an object.
struct Reference {
    path: &'static str,
    kind: &'static str,
    /// The field that holds the name.
    name: &'static str,
    /// The field that holds a key of the object, if there is one.
    key: Option<&'static str>,
}

const fn reference(
    path: &'static str,
    kind: &'static str,
    name: &'static str,
    key: Option<&'static str>,
) -> Reference {
    Reference {
        path,
        kind,
        name,
        key,
    }
}

const OF_CONTAINERS: [Reference; 4] = [
    reference(
        "env[].valueFrom.configMapKeyRef",
        "ConfigMap",
        "name",
        Some("key"),
    ),
    reference(
        "env[].valueFrom.secretKeyRef",
        "Secret",
        "name",
        Some("key"),
    ),
    reference("envFrom[].configMapRef", "ConfigMap", "name", None),
    reference("envFrom[].secretRef", "Secret", "name", None),
];

const OF_PODS: [Reference; 6] = [
    reference(
        "volumes[].configMap",
        "ConfigMap",
        "name",
        Some("items[].key"),
    ),
    reference(
        "volumes[].secret",
        "Secret",
        "secretName",
        Some("items[].key"),
    ),
    reference(
        "volumes[].projected.sources[].configMap",
        "ConfigMap",
        "name",
        Some("items[].key"),
    ),
    reference(
        "volumes[].projected.sources[].secret",
        "Secret",
        "name",
        Some("items[].key"),
    ),
    reference(
        "volumes[].persistentVolumeClaim",
        "PersistentVolumeClaim",
        "claimName",
        None,
    ),
    reference("imagePullSecrets[]", "Secret", "name", None),
];

/// Checks the references of a pod.
pub(super) fn check<'n>(
    pod: &'n Node,
    namespace: &str,
    index: &Index<'n>,
    out: &mut Vec<Finding<'n>>,
) {
    for containers in ["containers[]", "initContainers[]"] {
        each(pod, containers, &mut |container| {
            for reference in &OF_CONTAINERS {
                follow(container, reference, namespace, index, out);
            }
        });
    }
    for reference in &OF_PODS {
        follow(pod, reference, namespace, index, out);
    }
    if let Some(account) =
        field(pod, "serviceAccountName").filter(|name| name.as_str() != Some("default"))
    {
        named(account, "ServiceAccount", namespace, index, out);
    }
}

fn follow<'n>(
    node: &'n Node,
    reference: &Reference,
    namespace: &str,
    index: &Index<'n>,
    out: &mut Vec<Finding<'n>>,
) {
    each(node, reference.path, &mut |source| {
        if is_true(source, "optional") {
            return;
        }
        let Some(name) = field(source, reference.name) else {
            return;
        };
        let found = named(name, reference.kind, namespace, index, out);
        if let (Some(document), Some(key)) = (found, reference.key) {
            each(source, key, &mut |key| key_of(key, document, out));
        }
    });
}
