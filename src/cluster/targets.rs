//! Targets as they are in the cluster.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use super::cache::Selection;
use super::gather::in_namespaces;
use super::read::Part;
use super::{Cluster, ClusterError, Kind};
use crate::plan::Live;
use crate::render::{LiveTarget, Target};

/// The parts of an object that a controller looks at; its metadata would be the larger half of it as JSON.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Parts {
    pub metadata: Live,
    pub spec: Option<Value>,
    pub status: Option<Value>,
}

/// A Target in the cluster. One that cannot be read is one as well, and stops no other (CVE-2022-39272).
#[derive(Debug)]
pub struct SeenTarget {
    /// Its metadata.
    pub metadata: Arc<Live>,
    /// What it asks for, or why that cannot be read.
    pub target: Result<Target, String>,
}

impl SeenTarget {
    /// Reads one; its metadata is kept as `keep` says.
    pub(super) fn read(parts: Parts, keep: impl Fn(Live) -> Arc<Live>) -> Self {
        let Parts {
            metadata,
            spec,
            status,
        } = parts;
        let live = LiveTarget {
            uid: metadata.uid.clone(),
            generation: metadata.generation,
            status: LiveTarget::read_status(status.as_ref()),
            terminating: metadata.deletion_timestamp.is_some(),
            applyset: metadata.applyset().map(str::to_owned),
        };
        let namespace = metadata.namespace.clone().unwrap_or_default();
        Self {
            target: Target::new(namespace, metadata.name.clone(), spec.as_ref(), Some(live)),
            metadata: keep(metadata),
        }
    }
}

impl Cluster {
    /// Reads the Targets of these namespaces.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn targets_in(
        &self,
        kind: &Kind,
        namespaces: &BTreeSet<String>,
    ) -> Result<Vec<Arc<SeenTarget>>, ClusterError> {
        if let Some(cache) = self.cache_of(kind) {
            return cache
                .in_namespaces(self, kind, Selection::All, namespaces)
                .await;
        }
        let list = |namespace: Option<String>| async move {
            self.list::<Parts>(kind, namespace.as_deref(), None, Part::Whole)
                .await
        };
        let parts = in_namespaces(kind, namespaces, list, |parts| {
            parts.metadata.namespace.as_deref()
        });
        Ok(seen(parts.await?))
    }

    /// Reads all Targets that there are.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn targets(&self, kind: &Kind) -> Result<Vec<Arc<SeenTarget>>, ClusterError> {
        match self.cache_of(kind) {
            Some(cache) => cache.everywhere(self, kind, Selection::All).await,
            None => Ok(seen(
                self.list::<Parts>(kind, None, None, Part::Whole).await?,
            )),
        }
    }

    /// Reads a Target, if it is there.
    ///
    /// # Errors
    /// As the server answers, but for "not found".
    pub async fn target(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Arc<SeenTarget>>, ClusterError> {
        let kind = Kind::target();
        if let Some(cache) = &self.cache {
            let place = BTreeSet::from([(Some(namespace.to_owned()), name.to_owned())]);
            let found = cache.of(self, &kind, Selection::All, &place).await?;
            return Ok(found.into_iter().next());
        }
        let parts = self.one::<Parts>(&kind, Some(namespace), name, Part::Whole);
        Ok(parts
            .await?
            .map(|parts| Arc::new(SeenTarget::read(parts, Arc::new))))
    }
}

fn seen(parts: Vec<Parts>) -> Vec<Arc<SeenTarget>> {
    let seen = |parts| Arc::new(SeenTarget::read(parts, Arc::new));
    parts.into_iter().map(seen).collect()
}
