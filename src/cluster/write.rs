//! Writes: server-side apply, deletes with preconditions, and one guarded merge patch.

use kube::core::params::{DeleteParams, Patch, PatchParams, Preconditions, PropagationPolicy};
use serde_json::{Value, json};

use super::read::{MetadataOnly, invalid, request, segment};
use super::{Cluster, ClusterError, Kind};
use crate::api::names::{FIELD_MANAGER, INVENTORY_MANAGER, STATUS_MANAGER};
use crate::plan::{Expected, Live};

impl Cluster {
    /// Applies an object and returns its metadata.
    ///
    /// # Errors
    /// As the server answers; [`ClusterError::FieldConflict`] only without `force`.
    pub async fn apply(
        &self,
        kind: &Kind,
        object: &Value,
        force: bool,
    ) -> Result<Live, ClusterError> {
        self.apply_as(FIELD_MANAGER, kind, object, force).await
    }

    /// Applies what a Sync says of its apply set, and returns the Sync's metadata.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn apply_inventory(&self, kind: &Kind, object: &Value) -> Result<Live, ClusterError> {
        self.apply_as(INVENTORY_MANAGER, kind, object, true).await
    }

    pub(super) async fn apply_as(
        &self,
        manager: &str,
        kind: &Kind,
        object: &Value,
        force: bool,
    ) -> Result<Live, ClusterError> {
        let (namespace, name) = place(object);
        let request = request(kind, namespace)
            .patch_metadata(
                &segment(name),
                &params(manager, force),
                &Patch::Apply(object),
            )
            .map_err(invalid)?;
        let applied: MetadataOnly = self.request(request).await?;
        Ok(applied.metadata)
    }

    /// Asks what an apply would make of an object, without doing it.
    ///
    /// # Errors
    /// As the server would answer the apply.
    pub async fn dry_run(
        &self,
        kind: &Kind,
        object: &Value,
        force: bool,
    ) -> Result<Value, ClusterError> {
        let (namespace, name) = place(object);
        let params = params(FIELD_MANAGER, force).dry_run();
        let request = request(kind, namespace)
            .patch(&segment(name), &params, &Patch::Apply(object))
            .map_err(invalid)?;
        self.request(request).await
    }

    /// Applies the status of one of our kinds; fields that are left out are cleared.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn apply_status(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
        status: &Value,
    ) -> Result<(), ClusterError> {
        let body = json!({
            "apiVersion": kind.resource.api_version,
            "kind": kind.resource.kind,
            "metadata": { "name": name, "namespace": namespace },
            "status": status,
        });
        let request = request(kind, Some(namespace))
            .patch_subresource(
                "status",
                &segment(name),
                &params(STATUS_MANAGER, true),
                &Patch::Apply(&body),
            )
            .map_err(invalid)?;
        self.request::<MetadataOnly>(request).await?;
        Ok(())
    }

    /// Merges a patch into the very object that was planned for; fails when it has changed since.
    ///
    /// Only for what server-side apply cannot do: taking out what another manager added.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn purge(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
        mut patch: Value,
        expected: &Expected,
    ) -> Result<(), ClusterError> {
        if let Some(patch) = patch.as_object_mut() {
            patch.insert(
                "metadata".into(),
                json!({ "uid": expected.uid, "resourceVersion": expected.resource_version }),
            );
        }
        let params = PatchParams {
            field_manager: Some(FIELD_MANAGER.into()),
            ..PatchParams::default()
        };
        let request = request(kind, namespace)
            .patch_metadata(&segment(name), &params, &Patch::Merge(&patch))
            .map_err(invalid)?;
        self.request::<MetadataOnly>(request).await?;
        Ok(())
    }

    /// Deletes the very object that was planned for. An object or kind that is gone counts as deleted.
    ///
    /// # Errors
    /// As the server answers; [`ClusterError::Changed`] when it has changed since.
    pub async fn delete(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
        expected: &Expected,
    ) -> Result<(), ClusterError> {
        let params = DeleteParams {
            propagation_policy: Some(PropagationPolicy::Background),
            preconditions: Some(Preconditions {
                uid: Some(expected.uid.clone()),
                resource_version: Some(expected.resource_version.clone()),
            }),
            ..DeleteParams::default()
        };
        let request = request(kind, namespace)
            .delete(&segment(name), &params)
            .map_err(invalid)?;
        match self.request::<Value>(request).await {
            Ok(_) | Err(ClusterError::NotFound(_)) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn params(manager: &str, force: bool) -> PatchParams {
    PatchParams {
        field_manager: Some(manager.into()),
        force,
        ..PatchParams::default()
    }
}

fn place(object: &Value) -> (Option<&str>, &str) {
    let text = |pointer| object.pointer(pointer).and_then(Value::as_str);
    (
        text("/metadata/namespace"),
        text("/metadata/name").unwrap_or_default(),
    )
}
