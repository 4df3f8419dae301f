//! Reads of many objects with as few and as small requests as the case allows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::try_join_all;
use serde_json::Value;

use super::{Cluster, ClusterError, Kind};
use crate::api::Scope;
use crate::plan::Live;

/// Up to so many namespaces are listed one by one. The server reads all objects of a kind for a list of the whole
/// cluster, also when a selector leaves few of them.
const NAMESPACES_ONE_BY_ONE: usize = 4;

/// Up to so many objects of a namespace are read one by one; more are cheaper as a list (2,000 reads a second
/// against 30 ms for a list of 500, measured on v1.20.2).
const OBJECTS_ONE_BY_ONE: usize = 3;

/// Namespace (none for cluster-scoped kinds) and name.
pub type Place = (Option<String>, String);

impl Cluster {
    /// Lists the metadata of what a selector matches, in these namespaces.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn metadata_in(
        &self,
        kind: &Kind,
        namespaces: &BTreeSet<String>,
        selector: &str,
    ) -> Result<Vec<Arc<Live>>, ClusterError> {
        let list = |namespace: Option<String>| async move {
            self.list_metadata(kind, namespace.as_deref(), Some(selector))
                .await
        };
        let found = in_namespaces(kind, namespaces, list, |live| live.namespace.as_deref()).await?;
        Ok(found.into_iter().map(Arc::new).collect())
    }

    /// Lists whole objects, in these namespaces.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn objects_in(
        &self,
        kind: &Kind,
        namespaces: &BTreeSet<String>,
        selector: Option<&str>,
    ) -> Result<Vec<Value>, ClusterError> {
        let list = |namespace: Option<String>| async move {
            self.list_objects(kind, namespace.as_deref(), selector)
                .await
        };
        in_namespaces(kind, namespaces, list, |object| {
            object.pointer("/metadata/namespace")?.as_str()
        })
        .await
    }

    /// Reads the metadata of these objects; those that are not there are left out.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn metadata_of(
        &self,
        kind: &Kind,
        places: BTreeSet<Place>,
    ) -> Result<BTreeMap<Place, Arc<Live>>, ClusterError> {
        if let Some(found) = self.watched_namespaces(kind, &places).await? {
            return Ok(found);
        }
        let one = |(namespace, name): Place| async move {
            let live = self.get_metadata(kind, namespace.as_deref(), &name).await?;
            Ok(live.map(|live| ((namespace, name), Arc::new(live))))
        };
        let list = |namespace: Option<String>| async move {
            let items = self.list_metadata(kind, namespace.as_deref(), None).await?;
            let items = items.into_iter().map(Arc::new);
            Ok(items.map(|live| (place_of(&live), live)).collect())
        };
        few_or_list(places, one, list).await
    }

    /// Reads these objects whole; those that are not there are left out.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn objects_of(
        &self,
        kind: &Kind,
        places: BTreeSet<Place>,
    ) -> Result<BTreeMap<Place, Value>, ClusterError> {
        let one = |(namespace, name): Place| async move {
            let object = self.get(kind, namespace.as_deref(), &name).await?;
            Ok(object.map(|object| ((namespace, name), object)))
        };
        let list = |namespace: Option<String>| async move {
            let text = |object: &Value, pointer| {
                object
                    .pointer(pointer)
                    .and_then(Value::as_str)
                    .map(str::to_owned)
            };
            let items = self.list_objects(kind, namespace.as_deref(), None).await?;
            let place = |o: &Value| {
                (
                    text(o, "/metadata/namespace"),
                    text(o, "/metadata/name").unwrap_or_default(),
                )
            };
            Ok(items
                .into_iter()
                .map(|object| (place(&object), object))
                .collect())
        };
        few_or_list(places, one, list).await
    }
}

/// Lists in each of a few namespaces, or everywhere.
pub(super) async fn in_namespaces<T, F, G>(
    kind: &Kind,
    namespaces: &BTreeSet<String>,
    list: impl Fn(Option<String>) -> F,
    namespace_of: G,
) -> Result<Vec<T>, ClusterError>
where
    F: Future<Output = Result<Vec<T>, ClusterError>>,
    G: Fn(&T) -> Option<&str>,
{
    if kind.scope == Scope::Cluster {
        return list(None).await;
    }
    if namespaces.len() > NAMESPACES_ONE_BY_ONE {
        match list(None).await {
            Ok(mut items) => {
                items.retain(|item| {
                    namespace_of(item).is_some_and(|namespace| namespaces.contains(namespace))
                });
                return Ok(items);
            }
            // Not allowed in the whole cluster, but perhaps where it matters.
            Err(ClusterError::Forbidden(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let lists = try_join_all(
        namespaces
            .iter()
            .map(|namespace| list(Some(namespace.clone()))),
    )
    .await?;
    Ok(lists.into_iter().flatten().collect())
}

/// Names the place of an object.
pub(super) fn place_of(live: &Live) -> Place {
    (live.namespace.clone(), live.name.clone())
}

/// Reads a few objects of a namespace one by one, and more as a list.
pub(super) async fn few_or_list<T, F, G>(
    places: BTreeSet<Place>,
    one: impl Fn(Place) -> F,
    list: impl Fn(Option<String>) -> G,
) -> Result<BTreeMap<Place, T>, ClusterError>
where
    F: Future<Output = Result<Option<(Place, T)>, ClusterError>>,
    G: Future<Output = Result<BTreeMap<Place, T>, ClusterError>>,
{
    let mut by_namespace: BTreeMap<Option<String>, BTreeSet<Place>> = BTreeMap::new();
    for place in places {
        by_namespace
            .entry(place.0.clone())
            .or_default()
            .insert(place);
    }
    let found = try_join_all(by_namespace.into_iter().map(|(namespace, places)| {
        let (one, list) = (&one, &list);
        async move {
            if places.len() > OBJECTS_ONE_BY_ONE {
                match list(namespace).await {
                    Ok(mut all) => {
                        all.retain(|place, _| places.contains(place));
                        return Ok(all);
                    }
                    Err(ClusterError::Forbidden(_)) => {}
                    Err(error) => return Err(error),
                }
            }
            let found = try_join_all(places.into_iter().map(one)).await?;
            Ok::<_, ClusterError>(found.into_iter().flatten().collect())
        }
    }))
    .await?;
    Ok(found.into_iter().flatten().collect())
}
