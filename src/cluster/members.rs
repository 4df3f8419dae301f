//! Members of apply sets, and what Targets bring about: metadata is all that is read of them.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::cache::{Object, Selection};
use super::{Cluster, ClusterError, Kind, Place};
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
        self.metadata_in(kind, namespaces, &selector(applyset))
            .await
    }

    /// Reads the metadata of what Targets have brought about of a kind, in these namespaces.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn children_in(
        &self,
        kind: &Kind,
        namespaces: &BTreeSet<String>,
    ) -> Result<Vec<Arc<Live>>, ClusterError> {
        let selection = Selection::Children;
        if let Some(cache) = self.cache_of(kind) {
            let children = cache.in_namespaces(self, kind, selection, namespaces);
            return Ok(metadata(&children.await?));
        }
        let selector = selection.selector().unwrap_or_default();
        self.metadata_in(kind, namespaces, &selector).await
    }

    /// Reads the metadata of these where what Targets bring about of a kind is watched; those that are not there are left out.
    /// `None` where they are not, or may not be.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn watched_children(
        &self,
        kind: &Kind,
        places: &BTreeSet<Place>,
    ) -> Result<Option<Vec<Arc<Live>>>, ClusterError> {
        let Some(cache) = &self.cache else {
            return Ok(None);
        };
        let selection = Selection::Children;
        match cache.of::<Object>(self, kind, selection, places).await {
            Ok(children) => Ok(Some(metadata(&children))),
            Err(ClusterError::Forbidden(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn metadata(objects: &[Arc<Object>]) -> Vec<Arc<Live>> {
    objects.iter().map(|o| Arc::clone(&o.metadata)).collect()
}
