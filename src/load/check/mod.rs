//! Checks of what documents mean, beyond their schemas: what the API server would refuse, and what it would take though
//! nobody can mean it. Pure; knows one source and no cluster.
//!
//! Errors are what each supported release of the API server refuses, warnings what it takes. The rules are those of
//! `pkg/apis/*/validation` of Kubernetes; `tests/it/mistakes` holds them to a real API server.

mod affinity;
mod claim;
mod cluster_wide;
mod config;
mod container;
mod cron;
mod definition;
mod finding;
mod index;
mod ingress;
mod named;
mod network_policy;
mod object;
mod pod;
mod pod_reference;
mod probes;
mod quota;
mod rbac;
mod read;
mod reference;
mod resources;
mod rules;
mod scaling;
mod selected;
mod selector;
mod service;
mod slip;
mod syntax;
mod volumes;
mod webhook;
mod workload;

use self::finding::Finding;
use self::index::Index;
use super::schema::Schemas;
use super::{Diagnostic, Document};

/// Checks the documents of a source. `namespace` is where those go that name none.
pub fn check(documents: &[Document], schemas: &Schemas, namespace: &str) -> Vec<Diagnostic> {
    let index = Index::new(documents, namespace);
    documents
        .iter()
        .flat_map(|document| {
            let mut out = Vec::new();
            object::check(document, schemas, &mut out);
            kind(document, &mut out);
            references(document, &index, &mut out);
            finding::diagnostics(document, out)
        })
        .collect()
}

/// What holds for objects of one kind.
fn kind<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let id = &document.id.group_kind;
    match (id.group.as_str(), id.kind.as_str()) {
        ("", "Pod" | "PodTemplate" | "ReplicationController") | ("apps" | "batch", _) => {
            workload::check(document, out);
        }
        ("", "Service") => service::check(document, out),
        ("", "ConfigMap") => config::config_map(document, out),
        ("", "Secret") => config::secret(document, out),
        ("", "PersistentVolumeClaim") => claim::check(document, out),
        ("", "PersistentVolume") => cluster_wide::volume(document, out),
        ("", "ResourceQuota") => quota::quota(document, out),
        ("", "LimitRange") => quota::limits(document, out),
        ("", "ServiceAccount") => rules::distinct(&document.root, "secrets", &["name"], out),
        ("scheduling.k8s.io", "PriorityClass") => cluster_wide::priority(document, out),
        ("storage.k8s.io", "StorageClass") => cluster_wide::storage(document, out),
        ("networking.k8s.io", "Ingress") => ingress::check(document, out),
        ("networking.k8s.io", "NetworkPolicy") => network_policy::check(document, out),
        ("rbac.authorization.k8s.io", "Role" | "ClusterRole") => rbac::role(document, out),
        ("rbac.authorization.k8s.io", "RoleBinding" | "ClusterRoleBinding") => {
            rbac::binding(document, out);
        }
        ("autoscaling", "HorizontalPodAutoscaler") => scaling::autoscaler(document, out),
        ("policy", "PodDisruptionBudget") => scaling::budget(document, out),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => definition::check(document, out),
        (
            "admissionregistration.k8s.io",
            "ValidatingWebhookConfiguration" | "MutatingWebhookConfiguration",
        ) => webhook::check(document, out),
        _ => {}
    }
}

/// Whom the object refers to.
fn references<'n>(document: &'n Document, index: &Index<'n>, out: &mut Vec<Finding<'n>>) {
    let pod = workload::template(document).and_then(|template| read::field(template, "spec"));
    if let Some(pod) = pod {
        pod_reference::check(pod, index.namespace(document), index, out);
    }
    reference::check(document, index, out);
    let id = &document.id.group_kind;
    if (id.group.as_str(), id.kind.as_str()) == ("", "Service") {
        selected::check(document, index, out);
    }
}
