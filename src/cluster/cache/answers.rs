//! The reads that watches answer.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use tokio::time::Instant;

use super::Cache;
use super::followed::Followed;
use super::kept::{Kept, Object, Whole};
use super::store::Store;
use super::topic::Selection;
use crate::api::{Scope, split_api_version};
use crate::cluster::endpoints::Slice;
use crate::cluster::{Cluster, ClusterError, Kind, Kinds, Place};
use crate::plan::Live;

/// How a namespace is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamespaceState {
    /// It is there.
    Active,
    /// It is going: nothing can be made in it.
    Terminating,
}

impl Cache {
    /// All selected objects, if the user may see those of the whole cluster.
    pub async fn everywhere<T: Kept>(
        &self,
        cluster: &Cluster,
        kind: &Kind,
        selection: Selection,
    ) -> Result<Vec<Arc<T>>, ClusterError> {
        let watches = self
            .synced::<T>(cluster, kind, selection, &BTreeSet::new())
            .await?;
        let all =
            |watch: &Arc<Followed<T>>| watch.look(|store| Vec::from_iter(store.each().cloned()));
        Ok(watches.iter().flat_map(all).collect())
    }

    /// All selected objects of these namespaces.
    pub async fn in_namespaces<T: Kept>(
        &self,
        cluster: &Cluster,
        kind: &Kind,
        selection: Selection,
        namespaces: &BTreeSet<String>,
    ) -> Result<Vec<Arc<T>>, ClusterError> {
        let all = |store: &Store<T>| store.each().cloned().collect();
        self.pick(cluster, kind, selection, namespaces, all).await
    }

    /// Members of an apply set in these namespaces.
    pub async fn members_in(
        &self,
        cluster: &Cluster,
        kind: &Kind,
        namespaces: &BTreeSet<String>,
        applyset: &str,
    ) -> Result<Vec<Arc<Object>>, ClusterError> {
        let members = |store: &Store<Object>| store.group(applyset).cloned().collect();
        self.pick(cluster, kind, Selection::Members, namespaces, members)
            .await
    }

    /// The EndpointSlices of these Services.
    pub async fn slices_of(
        &self,
        cluster: &Cluster,
        kind: &Kind,
        services: &BTreeSet<Place>,
    ) -> Result<Vec<Arc<Slice>>, ClusterError> {
        let namespaces = services
            .iter()
            .filter_map(|place| place.0.clone())
            .collect();
        let of_service = |store: &Store<Slice>, (namespace, name): &Place| {
            let named = store.group(name).cloned();
            Vec::from_iter(named.filter(|slice| slice.metadata.namespace == *namespace))
        };
        let all = |store: &Store<Slice>| {
            let services = services.iter();
            services
                .flat_map(|service| of_service(store, service))
                .collect()
        };
        self.pick(cluster, kind, Selection::Managed, &namespaces, all)
            .await
    }

    async fn pick<T: Kept>(
        &self,
        cluster: &Cluster,
        kind: &Kind,
        selection: Selection,
        namespaces: &BTreeSet<String>,
        from: impl Fn(&Store<T>) -> Vec<Arc<T>>,
    ) -> Result<Vec<Arc<T>>, ClusterError> {
        if kind.scope == Scope::Namespaced && namespaces.is_empty() {
            return Ok(Vec::new());
        }
        let watches = self
            .synced::<T>(cluster, kind, selection, namespaces)
            .await?;
        let mut picked: Vec<Arc<T>> = watches.iter().flat_map(|watch| watch.look(&from)).collect();
        picked.retain(|object| {
            let namespace = object.live().namespace.as_ref();
            namespace.is_none_or(|namespace| namespaces.contains(namespace))
        });
        Ok(picked)
    }

    /// Those of these objects that are there.
    pub async fn of<T: Kept>(
        &self,
        cluster: &Cluster,
        kind: &Kind,
        selection: Selection,
        places: &BTreeSet<Place>,
    ) -> Result<Vec<Arc<T>>, ClusterError> {
        if places.is_empty() {
            return Ok(Vec::new());
        }
        let namespaces = places.iter().filter_map(|place| place.0.clone()).collect();
        let watches = self
            .synced::<T>(cluster, kind, selection, &namespaces)
            .await?;
        let found = watches.iter().flat_map(|watch| {
            watch.look(|store| {
                let found = places.iter().filter_map(|place| store.get(place).cloned());
                found.collect::<Vec<_>>()
            })
        });
        Ok(found.collect())
    }

    /// The kinds of an `apiVersion`.
    pub async fn kinds(
        &self,
        cluster: &Cluster,
        api_version: &str,
    ) -> Result<Option<Kinds>, ClusterError> {
        let watched = self.watches_definitions().await;
        let discovery = &self.hub.discovery;
        if let Some(known) = discovery.kinds(api_version, watched) {
            return Ok(known);
        }
        let asked = Instant::now();
        let answer = cluster.ask_kinds(api_version).await?;
        discovery.keep_kinds(api_version, asked, answer.clone());
        Ok(answer)
    }

    /// All `apiVersion`s of some groups.
    pub async fn versions_of_groups(
        &self,
        cluster: &Cluster,
        groups: impl Fn(&str) -> bool,
    ) -> Result<BTreeSet<String>, ClusterError> {
        let discovery = &self.hub.discovery;
        let mut versions = match discovery.versions() {
            Some(known) => known,
            None => {
                let asked = Instant::now();
                let answer = cluster.api_versions().await?;
                discovery.keep_versions(asked, answer.clone());
                answer
            }
        };
        versions.retain(|version| groups(split_api_version(version).0));
        Ok(versions)
    }
}

impl Cluster {
    /// Reads a Sync, if it is there. One that is watched comes without its `managedFields`.
    ///
    /// # Errors
    /// As the server answers, but for "not found".
    pub async fn sync(&self, namespace: &str, name: &str) -> Result<Option<Value>, ClusterError> {
        self.whole(&Kind::sync(), namespace, name).await
    }

    /// Reads all Syncs that there are. Those that are watched come without their `managedFields`.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn syncs(&self) -> Result<Vec<Arc<Value>>, ClusterError> {
        self.wholes(&Kind::sync()).await
    }

    /// Reads a Campaign, if it is there, as [`sync`](Self::sync) does.
    ///
    /// # Errors
    /// As the server answers, but for "not found".
    pub async fn campaign(
        &self,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, ClusterError> {
        self.whole(&Kind::campaign(), namespace, name).await
    }

    /// Reads all Campaigns that there are, as [`syncs`](Self::syncs) does.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn campaigns(&self) -> Result<Vec<Arc<Value>>, ClusterError> {
        self.wholes(&Kind::campaign()).await
    }

    async fn whole(
        &self,
        kind: &Kind,
        namespace: &str,
        name: &str,
    ) -> Result<Option<Value>, ClusterError> {
        let Some(cache) = self.cache_of(kind) else {
            return self.get(kind, Some(namespace), name).await;
        };
        let place = BTreeSet::from([(Some(namespace.to_owned()), name.to_owned())]);
        let found = cache
            .of::<Whole>(self, kind, Selection::All, &place)
            .await?;
        Ok(found.first().map(|whole| Value::clone(&whole.object)))
    }

    async fn wholes(&self, kind: &Kind) -> Result<Vec<Arc<Value>>, ClusterError> {
        let Some(cache) = self.cache_of(kind) else {
            let all = self.list_objects(kind, None, None).await?;
            return Ok(all.into_iter().map(Arc::new).collect());
        };
        let all = cache
            .everywhere::<Whole>(self, kind, Selection::All)
            .await?;
        Ok(all.iter().map(|whole| Arc::clone(&whole.object)).collect())
    }

    /// Says how a namespace is; `None` when it is not there.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn namespace_state(
        &self,
        name: &str,
    ) -> Result<Option<NamespaceState>, ClusterError> {
        let place = (None, name.to_owned());
        let found = self
            .metadata_of(&Kind::namespace(), BTreeSet::from([place]))
            .await?;
        Ok(found.into_values().next().map(|live: Arc<Live>| {
            if live.deletion_timestamp.is_some() {
                NamespaceState::Terminating
            } else {
                NamespaceState::Active
            }
        }))
    }

    /// Those namespaces that a watch knows to be there; `None` when it cannot tell.
    pub(in crate::cluster) async fn watched_namespaces(
        &self,
        kind: &Kind,
        places: &BTreeSet<Place>,
    ) -> Result<Option<BTreeMap<Place, Arc<Live>>>, ClusterError> {
        let Some(cache) = self
            .cache
            .as_ref()
            .filter(|_| kind.group_kind().is_namespace())
        else {
            return Ok(None);
        };
        match cache.of::<Object>(self, kind, Selection::All, places).await {
            Ok(found) => {
                let found = found.iter().map(|object| &object.metadata);
                let found = found.map(|live| ((None, live.name.clone()), Arc::clone(live)));
                Ok(Some(found.collect()))
            }
            // Each of them may be readable all the same.
            Err(ClusterError::Forbidden(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}
