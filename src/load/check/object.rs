//! What holds for every object: its name, labels and annotations.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::read::{field, items};
use super::syntax::{Fault, label, label_1035, qualified, subdomain};
use super::{pod, selector};
use crate::load::schema::Schemas;
use crate::load::{Document, Node};

/// Kinds whose names are no more than a segment of a path.
const PATH_SEGMENTS: [(&str, &str); 6] = [
    ("", "Event"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    // It has no rule of its own.
    ("policy", "PodDisruptionBudget"),
];

/// Groups of which each kind has the name of a DNS subdomain, if nothing else is said.
const SUBDOMAINS: [&str; 8] = [
    "",
    "apps",
    "batch",
    "autoscaling",
    "networking.k8s.io",
    "extensions",
    "scheduling.k8s.io",
    "coordination.k8s.io",
];

/// Checks the metadata of an object.
pub(super) fn check<'n>(document: &'n Document, schemas: &Schemas, out: &mut Vec<Finding<'n>>) {
    let Some(metadata) = field(&document.root, "metadata") else {
        return;
    };
    if let Some(name) = field(metadata, "name") {
        let must = name_fault(document, schemas);
        out.extend(must.map(|must| Finding::error(name, must)));
    }
    if field(&document.root, "spec").is_none() && must_have_spec(document) {
        out.push(Finding::lacks(&document.root, "spec"));
    }
    selector::labels(metadata.get("labels"), out);
    pod::annotations(metadata, out);
    finalizers(document, metadata, out);
}

fn finalizers<'n>(document: &Document, metadata: &'n Node, out: &mut Vec<Finding<'n>>) {
    // Custom resources may have others.
    let own = SUBDOMAINS.contains(&document.id.group_kind.group.as_str());
    let mut seen = BTreeSet::new();
    for finalizer in items(metadata, "finalizers") {
        let Some(text) = finalizer.as_str() else {
            continue;
        };
        let known = matches!(text, "kubernetes" | "orphan" | "foregroundDeletion");
        let domain = (own && !known && !text.contains('/'))
            .then_some("must have a domain and `/` before it");
        let must = qualified(text).or(domain);
        out.extend(must.map(|must| Finding::error(finalizer, must)));
        if !seen.insert(text) {
            let says = "is listed twice, which server-side apply refuses";
            out.push(Finding::error(finalizer, says));
        }
    }
}

/// Whether objects of a kind mean nothing without a spec.
fn must_have_spec(document: &Document) -> bool {
    let id = &document.id.group_kind;
    matches!(
        (id.group.as_str(), id.kind.as_str()),
        (
            "",
            "Pod"
                | "Service"
                | "PersistentVolume"
                | "PersistentVolumeClaim"
                | "ReplicationController"
        ) | (
            "apps",
            "Deployment" | "StatefulSet" | "DaemonSet" | "ReplicaSet"
        ) | ("batch", "Job" | "CronJob")
    )
}

/// What the name of an object would have to be.
fn name_fault(document: &Document, schemas: &Schemas) -> Fault {
    let group_kind = &document.id.group_kind;
    let (group, kind) = (group_kind.group.as_str(), group_kind.kind.as_str());
    let name = document.id.name.as_str();
    match (group, kind) {
        ("", "Namespace") => label(name),
        ("", "Service") => label_1035(name),
        ("storage.k8s.io", "StorageClass") => subdomain(name),
        // A CronJob's Jobs get eleven more, and a Job's pods are labelled with its name.
        ("batch", "CronJob") if name.len() > 52 => Some("must have no more than 52 characters"),
        ("batch", "Job") if name.len() > 63 => Some("must have no more than 63 characters"),
        _ if PATH_SEGMENTS.contains(&(group, kind)) => None,
        _ if SUBDOMAINS.contains(&group) || schemas.defines(group_kind) => subdomain(name),
        _ => None,
    }
}
