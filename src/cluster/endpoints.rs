//! EndpointSlices, as far as pods are counted in them.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;

use super::cache::Selection;
use super::gather::in_namespaces;
use super::read::Part;
use super::{Cluster, ClusterError, Kind, Place};
use crate::plan::Live;

/// Label of a slice: the Service it is for.
pub const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// The pods of one EndpointSlice.
#[derive(Clone, Debug)]
pub struct Slice {
    /// Its metadata.
    pub metadata: Arc<Live>,
    /// uid of each pod, or its address where there is none, and whether it is ready.
    pub pods: Vec<(String, bool)>,
}

impl Slice {
    /// Name of the Service it is for.
    pub fn service(&self) -> Option<&str> {
        self.metadata.labels.get(SERVICE_NAME)
    }
}

/// A slice as the server sends it.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct WireSlice {
    metadata: Live,
    endpoints: Option<Vec<Endpoint>>,
}

/// An endpoint of a slice.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Endpoint {
    pub addresses: Option<Vec<String>>,
    conditions: Option<Conditions>,
    pub target_ref: Option<TargetRef>,
}

#[derive(Clone, Debug, Deserialize)]
struct Conditions {
    ready: Option<bool>,
    serving: Option<bool>,
}

/// What an endpoint is.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct TargetRef {
    pub kind: Option<String>,
    pub name: Option<String>,
    pub uid: Option<String>,
}

impl Endpoint {
    /// Tells whether it is ready: `ready` is always true where not-ready addresses are published; `serving` (since v1.22)
    /// is the truth.
    pub(super) fn is_ready(&self) -> bool {
        let conditions = self.conditions.as_ref();
        conditions
            .and_then(|it| it.serving.or(it.ready))
            .unwrap_or(true)
    }
}

impl Slice {
    /// Reads one; its metadata is kept as `keep` says.
    pub(super) fn read(slice: WireSlice, keep: impl Fn(Live) -> Arc<Live>) -> Self {
        let pod = |endpoint: Endpoint| {
            let ready = endpoint.is_ready();
            let address = || endpoint.addresses.unwrap_or_default().into_iter().next();
            let pod = endpoint.target_ref.and_then(|target| target.uid);
            Some((pod.or_else(address)?, ready))
        };
        let endpoints = slice.endpoints.unwrap_or_default();
        Self {
            metadata: keep(slice.metadata),
            pods: endpoints.into_iter().filter_map(pod).collect(),
        }
    }
}

impl Cluster {
    /// Finds the kind EndpointSlice in a version that the server has; `v1` is there since v1.21.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn slice_kind(&self) -> Result<Option<Kind>, ClusterError> {
        let versions = ["discovery.k8s.io/v1", "discovery.k8s.io/v1beta1"].map(str::to_owned);
        let kinds = self.kinds(&versions.clone().into()).await?;
        let mut found = versions
            .iter()
            .filter_map(|version| kinds.get(version, "EndpointSlice"));
        Ok(found.next().cloned())
    }

    /// Reads the EndpointSlices of these Services of ours, and perhaps of others in their namespaces: slices carry their
    /// Service's labels (since v1.20), so that one list finds ours.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn slices_of(
        &self,
        kind: &Kind,
        services: &BTreeSet<Place>,
    ) -> Result<Vec<Arc<Slice>>, ClusterError> {
        if let Some(cache) = self.cache_of(kind) {
            return cache.slices_of(self, kind, services).await;
        }
        let namespaces: BTreeSet<String> = services
            .iter()
            .filter_map(|place| place.0.clone())
            .collect();
        let selector = Selection::Managed.selector();
        let selector = selector.as_deref();
        let list = |namespace: Option<String>| async move {
            self.list::<WireSlice>(kind, namespace.as_deref(), selector, Part::Whole)
                .await
        };
        let slices = in_namespaces(kind, &namespaces, list, |slice| {
            slice.metadata.namespace.as_deref()
        });
        let slices = slices.await?.into_iter();
        Ok(slices.map(|s| Arc::new(Slice::read(s, Arc::new))).collect())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_pod_is_ready_when_it_serves() {
        let pod = |uid: &str, conditions| json!({ "addresses": ["10.0.0.1"], "conditions": conditions, "targetRef": { "uid": uid } });
        let slice = json!({
            "metadata": { "namespace": "n", "labels": { "kubernetes.io/service-name": "s" } },
            "endpoints": [
                pod("a", json!({ "ready": true })),
                pod("b", json!({ "ready": true, "serving": false })),
                { "addresses": ["10.0.0.3"] },
            ],
        });
        let read = |slice| Slice::read(serde_json::from_value(slice).unwrap(), Arc::new);
        let slice = read(slice);
        let pods = [("a", true), ("b", false), ("10.0.0.3", true)];
        assert_eq!(slice.pods, pods.map(|(pod, ready)| (pod.to_owned(), ready)));
        assert_eq!(slice.service(), Some("s"));
        let none = json!({ "metadata": {}, "endpoints": null });
        let none = read(none);
        assert!(none.pods.is_empty() && none.service().is_none());
    }
}
