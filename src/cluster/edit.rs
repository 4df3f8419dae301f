//! What other people's tools do to objects. The demo plays somebody else; nothing that we do in earnest is done so.

use kube::core::params::{DeleteParams, Patch, PatchParams};
use serde_json::Value;

use super::read::{invalid, request, segment};
use super::write::id_of;
use super::{Cluster, ClusterError, Kind};
use crate::metrics::ApiVerb;

/// Who is played.
const SOMEBODY: &str = "kubectl-edit";

impl Cluster {
    /// Changes an object as `kubectl edit` does: by a merge patch, whoever owns the fields.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn edit(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        patch: &Value,
    ) -> Result<(), ClusterError> {
        let params = PatchParams {
            field_manager: Some(SOMEBODY.into()),
            ..PatchParams::default()
        };
        let request = request(kind, Some(namespace))
            .patch(&segment(name), &params, &Patch::Merge(patch))
            .map_err(invalid)?;
        let id = id_of(kind, Some(namespace), name);
        self.patched(id, request, false).await.map(drop)
    }

    /// Deletes an object as `kubectl delete` does: whatever it is by now.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn delete_any(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<(), ClusterError> {
        let request = request(kind, namespace)
            .delete(&segment(name), &DeleteParams::default())
            .map_err(invalid)?;
        self.write::<Value>(ApiVerb::Delete, request)
            .await
            .map(drop)
    }
}
