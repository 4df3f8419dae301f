//! Members of apply sets, and Services of Targets: metadata is all that is read of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cache::{Object, Selection};
use super::gather::metadata_in_namespaces;
use super::{Cluster, ClusterError, Kind};
use crate::api::names::APPLYSET_PART_OF;
use crate::plan::Live;

/// The selector of the members of an apply set.
pub(super) fn selector(applyset: &str) -> String {
    format!("{APPLYSET_PART_OF}={applyset}")
}

impl Cluster {
    /// Reads the metadata of the members of an apply set, in these namespaces.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn members_in(
        &self,
        kind: &Kind,
        namespaces: &BTreeSet<String>,
        applyset: &str,
    ) -> Result<Vec<Arc<Live>>, ClusterError> {
        if let Some(cache) = self.cache_of(kind) {
            let members = cache.members_in(self, kind, namespaces, applyset).await?;
            return Ok(metadata(&members));
        }
        metadata_in_namespaces(self, kind, namespaces, &selector(applyset)).await
    }

    /// Reads the metadata of the Services of Targets, in these namespaces.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn coverage_services_in(
        &self,
        kind: &Kind,
        namespaces: &BTreeSet<String>,
    ) -> Result<Vec<Arc<Live>>, ClusterError> {
        let selection = Selection::CoverageServices;
        if let Some(cache) = self.cache_of(kind) {
            let services = cache.in_namespaces(self, kind, selection, namespaces);
            return Ok(metadata(&services.await?));
        }
        let selector = selection.selector().unwrap_or_default();
        metadata_in_namespaces(self, kind, namespaces, &selector).await
    }
}

fn metadata(objects: &[Arc<Object>]) -> Vec<Arc<Live>> {
    objects.iter().map(|o| Arc::clone(&o.metadata)).collect()
}
