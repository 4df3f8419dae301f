//! The agent in Deployments that are not ours: put in by an apply, taken out by a JSON patch.

use std::collections::BTreeSet;
use std::sync::Arc;

use http::HeaderValue;
use http::header::CONTENT_TYPE;
use kube::core::params::{Patch, PatchParams};
use serde_json::{Value, json};

use super::cache::{Object, Selection};
use super::read::{invalid, request, segment};
use super::write::id_of;
use super::{Cluster, ClusterError, Kind};
use crate::api::names::{AGENT_MANAGER, AGENT_RECORD};
use crate::plan::{Expected, Live, TakeOut};

/// How a JSON patch calls itself (RFC 6902, section 6).
const JSON_PATCH: HeaderValue = HeaderValue::from_static("application/json-patch+json");

impl Cluster {
    /// Reads the metadata of the Deployments of these namespaces that carry an agent that was put in; of all namespaces
    /// when none are named.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn carriers_in(
        &self,
        namespaces: &BTreeSet<String>,
    ) -> Result<Vec<Arc<Live>>, ClusterError> {
        let (kind, selection) = (Kind::deployment(), Selection::Carriers);
        let Some(cache) = self.cache_of(&kind) else {
            return self.metadata_in(&kind, namespaces, AGENT_RECORD).await;
        };
        let found = match namespaces.is_empty() {
            true => cache.everywhere::<Object>(self, &kind, selection).await?,
            false => {
                cache
                    .in_namespaces(self, &kind, selection, namespaces)
                    .await?
            }
        };
        Ok(found.iter().map(|it| Arc::clone(&it.metadata)).collect())
    }

    /// Applies the agent to the very Deployment that was judged. Fields that others have set are taken: what they held is in
    /// the record that comes along, and that they are nobody's who applies them was seen in this version.
    ///
    /// Without the uid an apply would make a Deployment that is gone anew; with it the server answers a conflict, as it does
    /// for another version (seen on v1.20.2).
    ///
    /// # Errors
    /// As the server answers; [`ClusterError::Changed`] when the Deployment has changed since, or is gone.
    pub async fn put_agent(
        &self,
        mut object: Value,
        expected: &Expected,
    ) -> Result<Live, ClusterError> {
        if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("uid".into(), json!(expected.uid));
            metadata.insert("resourceVersion".into(), json!(expected.resource_version));
        }
        self.apply_as(AGENT_MANAGER, &Kind::deployment(), &object, true)
            .await
    }

    /// Takes the agent out of the very Deployment that was judged.
    ///
    /// # Errors
    /// As the server answers; [`ClusterError::Changed`] when the Deployment has changed since.
    pub async fn take_out_agent(
        &self,
        live: &Live,
        take_out: &TakeOut,
    ) -> Result<Live, ClusterError> {
        let kind = Kind::deployment();
        let (namespace, name) = (live.namespace.as_deref(), &live.name);
        let params = PatchParams {
            field_manager: Some(take_out.manager.clone()),
            ..PatchParams::default()
        };
        let patch = Patch::Merge(&take_out.operations);
        let mut request = request(&kind, namespace)
            .patch_metadata(&segment(name), &params, &patch)
            .map_err(invalid)?;
        // The body is the same; kube's own JSON patch takes a crate to say so.
        request.headers_mut().insert(CONTENT_TYPE, JSON_PATCH);
        match self
            .patched(id_of(&kind, namespace, name), request, false)
            .await
        {
            Ok(written) => Ok(written.metadata),
            // That a test of the patch has failed is told no better than any other refusal (seen on v1.20.2).
            Err(error @ ClusterError::Invalid(_)) => {
                let now = self.get_metadata(&kind, namespace, name).await?;
                match now.is_some_and(|now| now.expected() == live.expected()) {
                    true => Err(error),
                    false => Err(ClusterError::Changed(
                        "it was written by somebody else".into(),
                    )),
                }
            }
            Err(error) => Err(error),
        }
    }
}
