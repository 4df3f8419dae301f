//! How Syncs, Targets and Campaigns are known to the controller.

use std::fmt;

use serde_json::Value;

use crate::api::ObjectId;
use crate::api::names::API_VERSION;
use crate::cluster::ObjectRef;

/// Namespace and name of a Sync, a Target or a Campaign.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Name {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
}

impl Name {
    /// Names an object that has a namespace.
    pub fn of(id: &ObjectId) -> Option<Self> {
        Some(Self {
            namespace: id.namespace.clone()?,
            name: id.name.clone(),
        })
    }

    /// Names a whole object.
    pub fn of_object(object: &Value) -> Option<Self> {
        let text = |pointer| Some(object.pointer(pointer)?.as_str()?.to_owned());
        Some(Self {
            namespace: text("/metadata/namespace")?,
            name: text("/metadata/name")?,
        })
    }

    /// An object of ours of this name, as Events name it.
    pub fn reference(&self, kind: &str, uid: &str) -> ObjectRef {
        ObjectRef {
            api_version: API_VERSION.into(),
            kind: kind.into(),
            namespace: Some(self.namespace.clone()),
            name: self.name.clone(),
            uid: uid.into(),
        }
    }

    /// What decides which replica looks after this Sync.
    pub fn sync_shard(&self) -> String {
        format!("sync/{self}")
    }

    /// What decides which replica looks after this Target.
    pub fn target_shard(&self) -> String {
        format!("target/{self}")
    }

    /// What decides which replica looks after this Campaign.
    pub fn campaign_shard(&self) -> String {
        format!("campaign/{self}")
    }
}

/// `namespace/name`.
impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.namespace, self.name)
    }
}
