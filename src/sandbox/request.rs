//! A request about objects, once its path, query and headers are understood.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::store::Key;
use super::types::Kind;

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// What to do.
    pub verb: Verb,
    /// With objects of which kind, at the version of the path.
    pub kind: Arc<Kind>,
    /// In which namespace; `None` for all of them, and for kinds without.
    pub namespace: Option<String>,
    /// With which one; `None` for lists and creations.
    pub name: Option<String>,
    /// Such as `status`.
    pub subresource: Option<String>,
    /// Parameters by name, decoded; the last one of a name counts.
    pub query: BTreeMap<String, String>,
    /// The object, patch or options that were sent, read as JSON or YAML; `Null` for an empty body.
    pub body: Value,
    /// Who asks, after impersonation.
    pub user: User,
    /// `fieldManager`, or what the user agent's beginning makes of it.
    pub manager: String,
}

impl Request {
    /// Where the object is; without a name as long as it has none.
    pub fn key(&self) -> Key {
        Key {
            resource: self.kind.resource().into(),
            namespace: self.namespace.clone().unwrap_or_default(),
            name: self.name.clone().unwrap_or_default(),
        }
    }
}

/// What is done with objects, in the words of RBAC; the kind of a patch is told by its `Content-Type`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Reads one.
    Get,
    /// Reads many.
    List,
    /// Follows many.
    Watch,
    /// Makes one.
    Create,
    /// Replaces one.
    Update,
    /// Changes one.
    Patch(PatchType),
    /// Deletes one.
    Delete,
    /// Deletes many.
    DeleteCollection,
}

/// The four kinds of patches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PatchType {
    /// RFC 6902.
    Json,
    /// RFC 7386.
    Merge,
    /// Kubernetes' own.
    Strategic,
    /// Server-side apply.
    Apply,
}

/// Somebody who asks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct User {
    /// Name.
    pub name: String,
    /// What tells them from others of that name, such as the `uid` of a ServiceAccount; empty for none.
    pub uid: String,
    /// Groups.
    pub groups: Vec<String>,
    /// What else is known of them.
    pub extra: BTreeMap<String, Vec<String>>,
    /// Who the sender of the request is, when it impersonates.
    pub sender: Option<Box<User>>,
}

impl Verb {
    /// As roles and audit logs have it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Create => "create",
            Self::Update => "update",
            Self::Patch(_) => "patch",
            Self::Delete => "delete",
            Self::DeleteCollection => "deletecollection",
        }
    }
}

impl Request {
    /// A parameter.
    pub fn parameter(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }

    /// Whether nothing is to be kept (`dryRun=All`).
    pub fn dry_run(&self) -> bool {
        self.parameter("dryRun") == Some("All")
    }
}
