//! Reads members and their children: one list for each kind.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::{StreamExt, TryStreamExt, stream};
use serde_json::Value;

use super::super::inventory::Inventory;
use super::super::survey::{id_of, seen};
use super::super::wait::has_health;
use super::node::Object;
use crate::api::{GroupKind, split_api_version};
use crate::cluster::{Cluster, ClusterError, Kind, Kinds};
use crate::plan::{Health, Live, health};
use crate::render::Target;

/// Kinds that controllers make objects of.
pub(super) const CHILDREN: [(&str, &str); 9] = [
    ("apps/v1", "DaemonSet"),
    ("apps/v1", "Deployment"),
    ("apps/v1", "ReplicaSet"),
    ("apps/v1", "StatefulSet"),
    ("batch/v1", "Job"),
    ("discovery.k8s.io/v1", "EndpointSlice"),
    // The one that servers before 1.21 have.
    ("discovery.k8s.io/v1beta1", "EndpointSlice"),
    ("v1", "Pod"),
    ("v1", "Service"),
];

/// A selector that every object matches.
const EVERYTHING: &str = "";

/// Reads all that an inventory names and `selector` matches, and what may be a child of it. Kinds that may not be listed
/// are told beside it, with the reason.
pub(super) async fn read_objects(
    cluster: &Cluster,
    kinds: &Kinds,
    inventory: &Inventory,
    selector: &str,
    concurrency: usize,
) -> Result<(Vec<Object>, BTreeMap<GroupKind, String>), ClusterError> {
    let children =
        CHILDREN.map(|(version, kind)| GroupKind::new(split_api_version(version).0, kind));
    let wanted: BTreeSet<&GroupKind> = children.iter().chain(&inventory.group_kinds).collect();
    let served = wanted
        .into_iter()
        .filter_map(|kind| kinds.any_version(kind));
    let lists = served.filter(|kind| kind.listable).map(|kind| {
        let is_child = children.contains(&kind.group_kind());
        let selector = if is_child { EVERYTHING } else { selector };
        async move {
            let objects = read_kind(cluster, kind, &inventory.namespaces, selector).await;
            seen(kind, objects)
        }
    });
    let lists: Vec<_> = lists.collect();
    let lists: Vec<_> = stream::iter(lists)
        .buffered(concurrency.max(1))
        .try_collect()
        .await?;
    let (mut objects, mut unseen) = (Vec::new(), BTreeMap::new());
    for (kind, list) in lists {
        match list {
            Ok(list) => objects.extend(list),
            Err(why) => drop(unseen.insert(kind.group_kind(), why)),
        }
    }
    Ok((objects, unseen))
}

/// Reads whole objects only where their health is more than being there. Secrets are none of those.
async fn read_kind(
    cluster: &Cluster,
    kind: &Kind,
    namespaces: &BTreeSet<String>,
    selector: &str,
) -> Result<Vec<Object>, ClusterError> {
    let group_kind = kind.group_kind();
    if group_kind != Target::group_kind() && !has_health(&group_kind) {
        let found = cluster.metadata_in(kind, namespaces, selector).await?;
        return Ok(found
            .into_iter()
            .map(|live| Object {
                id: id_of(kind, &live),
                health: match live.deletion_timestamp {
                    Some(_) => Health::Terminating,
                    None => Health::Current,
                },
                live,
            })
            .collect());
    }
    let found = cluster.objects_in(kind, namespaces, Some(selector)).await?;
    let judged = found.iter().filter(|object| !is_left_over(object));
    Ok(judged
        .filter_map(|object| {
            let live = Arc::new(Live::from_object(object).ok()?);
            Some(Object {
                id: id_of(kind, &live),
                health: health(object),
                live,
            })
        })
        .collect())
}

/// Tells whether this is a ReplicaSet that its Deployment keeps only so that it can go back to it.
fn is_left_over(object: &Value) -> bool {
    object.get("kind").is_some_and(|kind| kind == "ReplicaSet")
        && object.pointer("/metadata/ownerReferences").is_some()
        && object.pointer("/spec/replicas") == Some(&Value::from(0))
        && object.pointer("/status/replicas") == Some(&Value::from(0))
}
