//! Workloads, of which plans need more than metadata.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;

use super::cache::{Object, Selection};
use super::gather::{few_or_list, place_of};
use super::{Cluster, ClusterError, Kind, Place};
use crate::plan::Live;
use crate::render::Deployment;

/// What plans need of a workload beyond its metadata.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// How many replicas it is to have.
    pub replicas: Option<i64>,
    /// How a Deployment is, unless it is going.
    pub deployment: Option<Deployment>,
    /// The metadata of a Deployment, also where a watch keeps less.
    pub metadata: Option<Arc<Live>>,
}

/// A live workload.
#[derive(Clone, Debug)]
pub struct Workload {
    /// Its metadata.
    pub metadata: Arc<Live>,
    /// The rest.
    pub facts: Facts,
}

impl Workload {
    /// Reads a whole object; `None` when the server sent something that is none.
    pub fn read(kind: &Kind, object: &Value) -> Option<Self> {
        Self::read_with(kind, object, Arc::new)
    }

    /// The same; metadata is kept as `keep` says.
    fn read_with(kind: &Kind, object: &Value, keep: impl Fn(Live) -> Arc<Live>) -> Option<Self> {
        let metadata = keep(Live::from_object(object).ok()?);
        let is_deployment = kind.resource.kind == "Deployment";
        let deployment = is_deployment
            .then(|| Deployment::from_live(object))
            .flatten();
        let facts = Facts {
            replicas: object.pointer("/spec/replicas").and_then(Value::as_i64),
            metadata: deployment.as_ref().map(|_| Arc::clone(&metadata)),
            deployment,
        };
        Some(Self { metadata, facts })
    }
}

impl Cluster {
    /// Reads the members of an apply set in these namespaces.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn workloads_in(
        &self,
        kind: &Kind,
        namespaces: &BTreeSet<String>,
        applyset: &str,
    ) -> Result<Vec<Workload>, ClusterError> {
        let selector = super::members::selector(applyset);
        if let Some(cache) = self.cache_of(kind) {
            let members = cache.members_in(self, kind, namespaces, applyset).await?;
            return self.with_facts(kind, &members, Some(&selector)).await;
        }
        let objects = self.objects_in(kind, namespaces, Some(&selector)).await?;
        let read = objects
            .iter()
            .filter_map(|object| Workload::read(kind, object));
        Ok(read.collect())
    }

    /// Reads these Deployments, and their metadata; those that are not there, or going, are left out.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn deployments_of(
        &self,
        kind: &Kind,
        places: BTreeSet<Place>,
    ) -> Result<BTreeMap<Place, (Deployment, Arc<Live>)>, ClusterError> {
        let workloads = match self.cache_of(kind) {
            Some(cache) => {
                let found = cache.of(self, kind, Selection::Presence, &places).await?;
                self.with_facts(kind, &found, None).await?
            }
            None => {
                let found = self.objects_of(kind, places).await?;
                let read = found
                    .values()
                    .filter_map(|object| Workload::read(kind, object));
                read.collect()
            }
        };
        let deployments = workloads.into_iter().filter_map(|workload| {
            let place = place_of(&workload.metadata);
            let Facts {
                deployment,
                metadata,
                ..
            } = workload.facts;
            Some((place, deployment.zip(metadata)?))
        });
        Ok(deployments.collect())
    }

    /// Reads what is not known yet of objects in their current version: a version never changes.
    async fn with_facts(
        &self,
        kind: &Kind,
        objects: &[Arc<Object>],
        selector: Option<&str>,
    ) -> Result<Vec<Workload>, ClusterError> {
        let unknown = objects.iter().filter(|object| object.facts.get().is_none());
        let unknown = unknown.map(|object| place_of(&object.metadata)).collect();
        let read = self.workloads_of(kind, unknown, selector).await?;
        let known = objects.iter().filter_map(|object| {
            let metadata = Arc::clone(&object.metadata);
            if let Some(facts) = object.facts.get() {
                let facts = facts.clone();
                return Some(Workload { metadata, facts });
            }
            // One that is not there any more, or a later one than the watch has told of yet.
            let read = read.get(&place_of(&metadata))?;
            if read.metadata.resource_version != metadata.resource_version {
                return Some(read.clone());
            }
            let facts = object.facts.get_or_init(|| read.facts.clone()).clone();
            Some(Workload { metadata, facts })
        });
        Ok(known.collect())
    }

    async fn workloads_of(
        &self,
        kind: &Kind,
        places: BTreeSet<Place>,
        selector: Option<&str>,
    ) -> Result<BTreeMap<Place, Workload>, ClusterError> {
        let read = |object: &Value| {
            let keep = |live| match &self.cache {
                Some(cache) => cache.keep_metadata(live),
                None => Arc::new(live),
            };
            Workload::read_with(kind, object, keep)
        };
        let one = |(namespace, name): Place| async move {
            let object = self.get(kind, namespace.as_deref(), &name).await?;
            let read = object.and_then(|object| read(&object));
            Ok(read.map(|workload| ((namespace, name), workload)))
        };
        let list = |namespace: Option<String>| async move {
            let items = self
                .list_objects(kind, namespace.as_deref(), selector)
                .await?;
            let read = items.iter().filter_map(read);
            Ok(read.map(|w| (place_of(&w.metadata), w)).collect())
        };
        few_or_list(places, one, list).await
    }
}
