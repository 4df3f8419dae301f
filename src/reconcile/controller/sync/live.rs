//! A Sync as it is in the cluster.

use serde_json::Value;

use crate::api::condition::ConditionStatus;
use crate::api::names::{MEMBERS_FINALIZER, REQUESTED_AT};
use crate::api::read_spec;
use crate::api::sync::{DeletionPolicy, SyncSpec, SyncStatus};
use crate::reconcile::controller::name::Name;
use crate::reconcile::inventory::Inventory;
use crate::reconcile::record;

/// A Sync as it is in the cluster. Anybody may have written it, also past the schema.
#[derive(Debug)]
pub struct LiveSync {
    /// Which.
    pub name: Name,
    /// uid.
    pub uid: String,
    /// Generation of the spec.
    pub generation: Option<i64>,
    /// Whether it is being deleted.
    pub going: bool,
    /// Whether it stays until we have seen to its members.
    pub held: bool,
    /// The run that somebody asks for.
    pub requested_at: Option<String>,
    /// What is asked for, or why that cannot be read.
    pub spec: Result<SyncSpec, String>,
    /// What was last said of it.
    pub status: SyncStatus,
    /// Where its members may be.
    pub inventory: Inventory,
}

impl LiveSync {
    /// Reads a live object; nothing when it has no name, which no server gives.
    pub fn read(object: &Value) -> Option<Self> {
        let text = |pointer| object.pointer(pointer).and_then(Value::as_str);
        let metadata = object.get("metadata")?;
        let finalizers = metadata.get("finalizers").and_then(Value::as_array);
        let annotation = |key| metadata.get("annotations")?.get(key)?.as_str();
        let spec = object.get("spec").unwrap_or(&Value::Null);
        Some(Self {
            name: Name::of_object(object)?,
            uid: text("/metadata/uid").unwrap_or_default().to_owned(),
            generation: metadata.get("generation").and_then(Value::as_i64),
            going: metadata.get("deletionTimestamp").is_some(),
            held: finalizers.is_some_and(|all| all.iter().any(|it| it == MEMBERS_FINALIZER)),
            requested_at: annotation(REQUESTED_AT).map(str::to_owned),
            spec: read_spec(spec),
            status: record::previous(Some(object)),
            inventory: Inventory::read(Some(object)),
        })
    }

    /// Tells whether its members go with it.
    pub fn takes_members_along(&self) -> bool {
        let policy = self
            .spec
            .as_ref()
            .ok()
            .and_then(|spec| spec.deletion_policy);
        policy == Some(DeletionPolicy::Delete)
    }

    /// Tells whether its last run made the cluster look like its source, by its present spec.
    pub fn is_ready(&self) -> bool {
        let ready = |c: &crate::api::condition::Condition| {
            c.type_ == "Ready" && c.status == ConditionStatus::True
        };
        self.status.conditions.iter().any(ready)
            && self.status.observed_generation == self.generation
    }

    /// Tells whether only a change of its spec helps.
    pub fn is_stalled(&self) -> bool {
        let conditions = &self.status.conditions;
        conditions.iter().any(|c| c.type_ == "Stalled")
    }

    /// The request that was not answered yet.
    pub fn open_request(&self) -> Option<&str> {
        let request = self.requested_at.as_deref()?;
        (self.status.last_handled_reconcile_at.as_deref() != Some(request)).then_some(request)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_cannot_be_read_is_told_and_the_rest_is_read() {
        let sync = LiveSync::read(&json!({
            "metadata": {
                "namespace": "ops", "name": "shop", "uid": "u", "generation": 3,
                "finalizers": ["other", "closurejvm.io/members"],
                "annotations": { "reconcile.fluxcd.io/requestedAt": "now" },
            },
            "spec": { "prune": "yes" },
            "status": { "observedGeneration": 3, "conditions": "none" },
        }))
        .unwrap();
        assert!(sync.spec.as_ref().is_err_and(|why| why.contains("boolean")));
        assert!(sync.held && !sync.going && !sync.is_ready());
        assert_eq!(sync.open_request(), Some("now"));
    }
}
