//! Writes: server-side apply, deletes with preconditions, and one guarded merge patch.

use kube::core::params::{DeleteParams, Patch, PatchParams, Preconditions, PropagationPolicy};
use serde_json::{Value, json};

use super::cache::{Cache, Writing, Written};
use super::read::{MetadataOnly, invalid, request, segment};
use super::send::unreadable;
use super::{Cluster, ClusterError, Kind};
use crate::api::ObjectId;
use crate::api::names::{
    FIELD_MANAGER, INVENTORY_MANAGER, REQUEST_MANAGER, REQUESTED_AT, STATUS_MANAGER,
};
use crate::metrics::ApiVerb;
use crate::plan::{Expected, Live};

impl Cluster {
    /// Applies an object and returns its metadata. The agent that we have put into a Deployment ourselves gives way to what
    /// its manifest says.
    ///
    /// # Errors
    /// As the server answers; [`ClusterError::FieldConflict`] only without `force`. As with all that writes,
    /// [`ClusterError::NotOurs`] when the guard does not permit it.
    pub async fn apply(
        &self,
        kind: &Kind,
        object: &Value,
        force: bool,
    ) -> Result<Live, ClusterError> {
        match self.apply_as(FIELD_MANAGER, kind, object, force).await {
            Err(error) if error.is_about_our_agent() => {
                self.apply_as(FIELD_MANAGER, kind, object, true).await
            }
            answer => answer,
        }
    }

    /// The same, and returns the whole object as it now is.
    ///
    /// # Errors
    /// As [`apply`](Self::apply).
    pub async fn apply_whole(
        &self,
        kind: &Kind,
        object: &Value,
        force: bool,
    ) -> Result<(Live, Value), ClusterError> {
        let (namespace, name) = place(object);
        let send = |force| async move {
            let request = request(kind, namespace)
                .patch(
                    &segment(name),
                    &params(FIELD_MANAGER, force),
                    &Patch::Apply(object),
                )
                .map_err(invalid)?;
            self.patched(id_of(kind, namespace, name), request, true)
                .await
        };
        let written = match send(force).await {
            Err(error) if error.is_about_our_agent() => send(true).await?,
            answer => answer?,
        };
        Ok((written.metadata, written.object.unwrap_or_default()))
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
        let params = params(manager, force);
        let patch = Patch::Apply(object);
        let objects = request(kind, namespace);
        // What is watched whole is taken from the answer, so it must be whole as well.
        let whole = self.cache.is_some() && kind.is_ours();
        let request = if whole {
            objects.patch(&segment(name), &params, &patch)
        } else {
            objects.patch_metadata(&segment(name), &params, &patch)
        };
        self.patched(
            id_of(kind, namespace, name),
            request.map_err(invalid)?,
            whole,
        )
        .await
        .map(|written| written.metadata)
    }

    /// Asks whoever looks after a Sync for a run, as people do it.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn request_run(
        &self,
        namespace: &str,
        name: &str,
        now: &str,
    ) -> Result<(), ClusterError> {
        let kind = Kind::sync();
        let object = json!({
            "apiVersion": kind.resource.api_version,
            "kind": kind.resource.kind,
            "metadata": {
                "name": name,
                "namespace": namespace,
                "annotations": { REQUESTED_AT: now },
            },
            "spec": {},
        });
        let asked = self.apply_as(REQUEST_MANAGER, &kind, &object, true).await;
        asked.map(drop)
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
        let ask = |force| async move {
            let params = params(FIELD_MANAGER, force).dry_run();
            let request = request(kind, namespace)
                .patch(&segment(name), &params, &Patch::Apply(object))
                .map_err(invalid)?;
            self.read(ApiVerb::Patch, request).await
        };
        match ask(force).await {
            Err(error) if ClusterError::is_about_our_agent(&error) => ask(true).await,
            answer => answer,
        }
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
        let id = id_of(kind, Some(namespace), name);
        self.patched(id, request, true).await.map(drop)
    }

    /// Merges a patch into the very object that was planned for; fails when it has changed since.
    ///
    /// Only for what server-side apply cannot do: taking out what another manager added, or may have.
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
        let metadata = patch
            .as_object_mut()
            .and_then(|patch| patch.entry("metadata").or_insert(json!({})).as_object_mut());
        if let Some(metadata) = metadata {
            metadata.insert("uid".into(), json!(expected.uid));
            metadata.insert("resourceVersion".into(), json!(expected.resource_version));
        }
        let params = PatchParams {
            field_manager: Some(FIELD_MANAGER.into()),
            ..PatchParams::default()
        };
        let (objects, patch) = (request(kind, namespace), Patch::Merge(&patch));
        let whole = self.cache.is_some() && kind.is_ours();
        let request = if whole {
            objects.patch(&segment(name), &params, &patch)
        } else {
            objects.patch_metadata(&segment(name), &params, &patch)
        };
        let id = id_of(kind, namespace, name);
        let patched = self.patched(id, request.map_err(invalid)?, whole).await;
        patched.map(drop)
    }

    /// Sends a patch and notes what it made; `whole` tells whether the answer is the whole object.
    pub(super) async fn patched(
        &self,
        id: ObjectId,
        request: http::Request<Vec<u8>>,
        whole: bool,
    ) -> Result<Written, ClusterError> {
        let writing = self
            .cache
            .as_ref()
            .map(|cache| (cache, cache.begin_write(&id)));
        let answer = if whole {
            let object: Value = self.write(ApiVerb::Patch, request).await?;
            Written {
                metadata: Live::from_object(&object).map_err(|error| unreadable(&error))?,
                object: Some(object),
            }
        } else {
            let MetadataOnly { metadata } = self.write(ApiVerb::Patch, request).await?;
            Written {
                metadata,
                object: None,
            }
        };
        if let Some((cache, writing)) = writing {
            cache.note_written(&writing, &answer);
        }
        Ok(answer)
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
        let id = id_of(kind, namespace, name);
        let cache = self.cache.as_ref();
        let writing = cache.map(|cache| (cache, cache.begin_write(&id)));
        match (self.write(ApiVerb::Delete, request).await, writing) {
            (Ok(answer), Some((cache, writing))) => note_deleted(cache, &writing, expected, answer),
            (Ok(_) | Err(ClusterError::NotFound(_)), _) => {}
            (Err(error), _) => return Err(error),
        }
        Ok(())
    }
}

/// What is gone is answered with a `Status`, or with the object as it was; what something still holds up (a finalizer, or
/// what is in a namespace) with the object and when it was to go.
fn note_deleted(cache: &Cache, writing: &Writing, expected: &Expected, answer: Value) {
    match Live::from_object(&answer) {
        Ok(metadata) if metadata.deletion_timestamp.is_some() => {
            let answer = Written {
                metadata,
                object: Some(answer),
            };
            cache.note_written(writing, &answer);
        }
        _ => cache.note_deleted(writing, &expected.uid),
    }
}

pub(super) fn id_of(kind: &Kind, namespace: Option<&str>, name: &str) -> ObjectId {
    ObjectId {
        group_kind: kind.group_kind(),
        namespace: namespace.map(str::to_owned),
        name: name.to_owned(),
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
