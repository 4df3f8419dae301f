//! Leases, by which replicas know of each other.

use k8s_openapi::api::coordination::v1::Lease;
use kube::core::ApiResource;
use serde_json::Value;

use super::{Cluster, ClusterError, Kind};
use crate::api::Scope;
use crate::api::names::LEASE_MANAGER;
use crate::plan::{Expected, Live};

impl Cluster {
    /// Lists the Leases of a namespace that a selector matches, as they are at this moment: without a `resourceVersion`,
    /// servers do not answer from what they remember.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn leases(
        &self,
        namespace: &str,
        selector: &str,
    ) -> Result<Vec<Value>, ClusterError> {
        self.list_objects(&lease(), Some(namespace), Some(selector))
            .await
    }

    /// Applies a Lease and returns its metadata. One that names a uid and a `resourceVersion` is neither created nor
    /// written over another version.
    ///
    /// # Errors
    /// As the server answers; [`ClusterError::Changed`] when there is another version, or none.
    pub async fn apply_lease(&self, object: &Value) -> Result<Live, ClusterError> {
        self.apply_as(LEASE_MANAGER, &lease(), object, true).await
    }

    /// Deletes this very version of a Lease.
    ///
    /// # Errors
    /// As the server answers; [`ClusterError::Changed`] when it has changed since.
    pub async fn delete_lease(
        &self,
        namespace: &str,
        name: &str,
        expected: &Expected,
    ) -> Result<(), ClusterError> {
        self.delete(&lease(), Some(namespace), name, expected).await
    }
}

/// In `v1` since Kubernetes 1.14, so that nobody need ask.
fn lease() -> Kind {
    Kind {
        resource: ApiResource::erase::<Lease>(&()),
        scope: Scope::Namespaced,
        listable: true,
        watchable: true,
    }
}
