//! What a source holds, by kind, namespace and name, for those who refer to it.

use std::collections::BTreeMap;

use super::read::{entries, field};
use super::slip::slip_of;
use super::workload;
use crate::api::{Scope, names};
use crate::load::schema::builtin_scope;
use crate::load::{Document, Entry, Node};

/// Kinds that others refer to by name, with their groups.
const REFERRED: [(&str, &str); 12] = [
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("", "PersistentVolumeClaim"),
    ("", "Service"),
    ("", "ReplicationController"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "ReplicaSet"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    (names::GROUP, names::TARGET),
];

type Names<'n> = BTreeMap<&'n str, &'n Document>;

/// Built once for a source; borrows from it.
pub(super) struct Index<'n> {
    /// Where objects without a namespace go.
    default: &'n str,
    /// By kind, then by namespace (empty for what has none).
    objects: BTreeMap<&'static str, BTreeMap<&'n str, Names<'n>>>,
    /// The pods that a namespace's objects are or make.
    pods: BTreeMap<&'n str, Vec<Pods<'n>>>,
    /// Which of a namespace's pods have a label.
    labelled: BTreeMap<(&'n str, &'n str, &'n str), Vec<usize>>,
}

/// The pods of one object.
pub(super) struct Pods<'n> {
    pub labels: &'n [Entry],
    pub spec: &'n Node,
}

/// What a source knows of an object that is referred to.
pub(super) enum Found<'n> {
    Here(&'n Document),
    /// Not here, but there is one of this name in another namespace.
    Elsewhere(&'n Document),
    /// Not here, but a slip of the fingers away.
    Near(&'n Document),
    /// Nothing: it may be in the cluster.
    Unknown,
}

impl<'n> Index<'n> {
    pub(super) fn new(documents: &'n [Document], default: &'n str) -> Self {
        let mut index = Self {
            default,
            objects: BTreeMap::new(),
            pods: BTreeMap::new(),
            labelled: BTreeMap::new(),
        };
        for document in documents {
            let id = &document.id;
            let kind = (id.group_kind.group.as_str(), id.group_kind.kind.as_str());
            let namespace = index.namespace(document);
            if let Some((_, kind)) = REFERRED.iter().find(|referred| **referred == kind) {
                let names = index
                    .objects
                    .entry(kind)
                    .or_default()
                    .entry(namespace)
                    .or_default();
                names.insert(&id.name, document);
            }
            if let Some(template) = workload::template(document)
                && let Some(spec) = field(template, "spec")
            {
                let labels = template
                    .get("metadata")
                    .and_then(|metadata| metadata.get("labels"));
                let pods = Pods {
                    labels: entries(labels),
                    spec,
                };
                let all = index.pods.entry(namespace).or_default();
                for label in pods.labels {
                    let value = label.value.as_str().unwrap_or_default();
                    let label = (namespace, label.key.as_str(), value);
                    index.labelled.entry(label).or_default().push(all.len());
                }
                all.push(pods);
            }
        }
        index
    }

    /// The namespace that an object is in; empty when its kind has none.
    pub(super) fn namespace(&self, document: &'n Document) -> &'n str {
        match &document.id.namespace {
            _ if builtin_scope(&document.id.group_kind) == Some(Scope::Cluster) => "",
            Some(namespace) => namespace,
            None => self.default,
        }
    }

    /// The pods of a namespace.
    pub(super) fn pods(&self, namespace: &str) -> &[Pods<'n>] {
        self.pods
            .get(namespace)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }

    /// The pods of a namespace that have a label.
    pub(super) fn labelled<'a>(
        &'a self,
        namespace: &'a str,
        label: &'a Entry,
    ) -> impl Iterator<Item = &'a Pods<'n>> {
        let value = label.value.as_str().unwrap_or_default();
        let found = self.labelled.get(&(namespace, label.key.as_str(), value));
        let all = self.pods(namespace);
        found.into_iter().flatten().filter_map(|at| all.get(*at))
    }

    /// Looks for an object.
    pub(super) fn find(&self, kind: &str, namespace: &str, name: &str) -> Found<'n> {
        let Some(namespaces) = self.objects.get(kind) else {
            return Found::Unknown;
        };
        let names = namespaces.get(namespace);
        if let Some(document) = names.and_then(|names| names.get(name)) {
            return Found::Here(document);
        }
        let near = names.and_then(|names| names.iter().find(|(other, _)| slip_of(name, other)));
        if let Some((_, document)) = near {
            return Found::Near(document);
        }
        match namespaces.values().find_map(|names| names.get(name)) {
            // The same name in several namespaces is common for what tools make in each of them.
            Some(document) if !matches!(kind, "Secret" | "ServiceAccount") => {
                Found::Elsewhere(document)
            }
            _ => Found::Unknown,
        }
    }
}
