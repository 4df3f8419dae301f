//! Names of objects, the way kubectl prints them.

use std::fmt;

use serde::Serialize;

/// An API group and a kind, without a version: what an inventory knows an object's type by.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct GroupKind {
    /// API group; empty for the core group.
    pub group: String,
    /// Kind, as in `Deployment`.
    pub kind: String,
}

impl GroupKind {
    /// Makes one from a group (empty for core) and a kind.
    pub fn new(group: impl Into<String>, kind: impl Into<String>) -> Self {
        Self {
            group: group.into(),
            kind: kind.into(),
        }
    }

    /// That of Namespaces.
    pub fn namespace() -> Self {
        Self::new("", "Namespace")
    }

    /// That of definitions: `CustomResourceDefinition`, in whatever version.
    pub fn definition() -> Self {
        Self::new("apiextensions.k8s.io", "CustomResourceDefinition")
    }

    /// Tells whether objects of this kind are Namespaces.
    pub fn is_namespace(&self) -> bool {
        self.group.is_empty() && self.kind == "Namespace"
    }

    /// Tells whether objects of this kind define others.
    pub fn is_definition(&self) -> bool {
        self.group == "apiextensions.k8s.io" && self.kind == "CustomResourceDefinition"
    }
}

/// `Kind.group`, or `Kind` in the core group, as in `applyset.kubernetes.io/contains-group-kinds`.
impl fmt::Display for GroupKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.group.is_empty() {
            f.write_str(&self.kind)
        } else {
            write!(f, "{}.{}", self.kind, self.group)
        }
    }
}

/// Whether a kind's objects live in namespaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace.
    Namespaced,
    /// In none.
    Cluster,
}

/// Which object: group, kind, namespace and name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct ObjectId {
    /// Group and kind.
    #[serde(flatten)]
    pub group_kind: GroupKind,
    /// Namespace; absent on cluster-scoped objects, and on namespaced ones before a default is filled in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Name.
    pub name: String,
}

/// `Kind.group namespace/name`.
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.group_kind)?;
        if let Some(namespace) = &self.namespace {
            write!(f, "{namespace}/")?;
        }
        f.write_str(&self.name)
    }
}

/// Splits `apps/v1` into group and version; the core group is empty.
pub fn split_api_version(api_version: &str) -> (&str, &str) {
    api_version.split_once('/').unwrap_or(("", api_version))
}
