//! Letting go of an object: it stays as it is, and is nobody's.

use kube::core::params::{Patch, PatchParams};
use serde_json::{Value, json};

use super::read::{invalid, request, segment};
use super::write::id_of;
use super::{Cluster, ClusterError, Kind};
use crate::api::names::{APPLIED_DIGEST, APPLYSET_PART_OF, FIELD_MANAGER};
use crate::plan::Live;

impl Cluster {
    /// Takes our marks off the very object that was read, and gives up our share of its fields; what they hold stays.
    ///
    /// Server-side apply cannot do that: who applies less gives fields up, and the server then takes them out.
    ///
    /// # Errors
    /// As the server answers; [`ClusterError::Changed`] when the object has changed since.
    pub async fn release(&self, kind: &Kind, live: &Live) -> Result<(), ClusterError> {
        let (namespace, name) = (live.namespace.as_deref(), &live.name);
        let params = PatchParams {
            field_manager: Some(FIELD_MANAGER.into()),
            ..PatchParams::default()
        };
        let read = request(kind, namespace)
            .get(&segment(name), &kube::core::params::GetParams::default())
            .map_err(invalid)?;
        let object: Option<Value> = self.optional(read).await?;
        let Some(object) = object else { return Ok(()) };
        let metadata = object.get("metadata").unwrap_or(&Value::Null);
        if metadata.get("uid") != Some(&json!(live.uid)) {
            return Ok(());
        }
        let entries = metadata.get("managedFields").and_then(Value::as_array);
        let is_ours = |entry: &&Value| entry.get("manager") == Some(&json!(FIELD_MANAGER));
        let others: Vec<&Value> = entries
            .into_iter()
            .flatten()
            .filter(|entry| !is_ours(entry))
            .collect();
        let patch = json!({ "metadata": {
            "uid": live.uid,
            "resourceVersion": metadata.get("resourceVersion"),
            "labels": { APPLYSET_PART_OF: null },
            "annotations": { APPLIED_DIGEST: null },
            // An empty list would mean: as before.
            "managedFields": if others.is_empty() { json!([{}]) } else { json!(others) },
        } });
        let request = request(kind, namespace)
            .patch_metadata(&segment(name), &params, &Patch::Merge(&patch))
            .map_err(invalid)?;
        self.patched(id_of(kind, namespace, name), request, false)
            .await
            .map(drop)
    }
}
