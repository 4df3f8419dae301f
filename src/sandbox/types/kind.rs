//! A kind that is served.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::merge::{NodeId, Schema};

/// A kind at one of its versions, as discovery tells of it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Kind {
    /// API group; empty for the core.
    pub group: String,
    /// Version.
    pub version: String,
    /// Kind.
    pub kind: String,
    /// Kind of its lists.
    pub list_kind: String,
    /// Name in paths.
    pub plural: String,
    /// Its singular.
    pub singular: String,
    /// What kubectl takes for it as well.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub short_names: Vec<String>,
    /// Groups of kinds it is in, such as `all`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub categories: Vec<String>,
    /// Whether its objects are in namespaces.
    pub namespaced: bool,
    /// Whether `/status` is there, so that the object's own endpoint leaves `status` as it is.
    pub status: bool,
    /// Whether `/scale` is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// Whether spec changes count the generation up.
    pub generation: bool,
    /// Where it comes from.
    pub origin: Origin,
    /// Types of its fields.
    #[serde(skip)]
    pub schema: Arc<Schema>,
    /// The type of the whole object in `schema`.
    pub root: NodeId,
    /// The structural schema of a custom kind (`openAPIV3Schema`), which also holds defaults and rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub validation: Option<Arc<Value>>,
    /// What `kubectl get` shows beside name and age.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<Column>,
}

/// A column of a table (`additionalPrinterColumns`).
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Column {
    /// Its head.
    pub name: String,
    /// `string`, `integer`, `date`, …
    pub r#type: String,
    /// Where its value is, as a JSON path such as `.spec.replicas`.
    pub path: String,
    /// 0 for what is always shown; more for `-o wide`.
    pub priority: u32,
}

/// Where the numbers of `/scale` are, as JSON paths such as `.spec.replicas`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scale {
    /// Wanted replicas.
    pub spec_replicas: String,
    /// Counted replicas.
    pub status_replicas: String,
    /// The selector as text.
    pub label_selector: Option<String>,
}

/// Where a kind comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Origin {
    /// Kubernetes itself.
    BuiltIn,
    /// The CustomResourceDefinition of this name.
    Custom(String),
    /// Nothing but that somebody uses it: any object is good.
    Assumed,
}

impl Kind {
    /// `apps/v1`, or `v1` for the core.
    pub fn api_version(&self) -> String {
        match self.group.as_str() {
            "" => self.version.clone(),
            group => format!("{group}/{}", self.version),
        }
    }

    /// `deployments.apps`, or `services` for the core: what objects of all its versions share.
    pub fn resource(&self) -> String {
        match self.group.as_str() {
            "" => self.plural.clone(),
            group => format!("{}.{group}", self.plural),
        }
    }
}
