//! Members of the apply set, and objects that are to become members.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use serde_json::Value;
use tokio::try_join;

use crate::api::names::APPLYSET_PART_OF;
use crate::api::{GroupKind, ObjectId};
use crate::cluster::{Cluster, ClusterError, Kind, Kinds, Place};
use crate::plan::{Known, Live, maybe_scaled};
use crate::render::{Deployment, Desired, Target};

/// Lists the members of an apply set: metadata, and whole objects only where replicas must be read.
pub(super) async fn members(
    cluster: &Cluster,
    kinds: &Kinds,
    group_kinds: &BTreeSet<GroupKind>,
    desired: &[Desired],
    namespaces: &BTreeSet<String>,
    applyset: &str,
) -> Result<Known, ClusterError> {
    let selector = format!("{APPLYSET_PART_OF}={applyset}");
    let selector = selector.as_str();
    let kinds_of = |whole: bool| {
        let in_use = group_kinds
            .iter()
            .filter(move |kind| states_replicas(desired, kind) == whole);
        in_use
            .filter_map(|kind| kinds.any_version(kind))
            .filter(|kind| kind.listable)
    };
    let plain = try_join_all(kinds_of(false).map(|kind| async move {
        seen(kind, cluster.metadata_in(kind, namespaces, selector).await)
    }));
    let scalable = try_join_all(kinds_of(true).map(|kind| async move {
        seen(
            kind,
            cluster.objects_in(kind, namespaces, Some(selector)).await,
        )
    }));
    let (plain, scalable) = try_join!(plain, scalable)?;
    let mut known = Known::default();
    for (kind, items) in plain {
        match items {
            Ok(items) => {
                let members = items.into_iter().filter(|live| !live.is_copy());
                let members = members.map(|live| (id_of(kind, &live), live));
                known.members.extend(members);
            }
            Err(why) => drop(known.unseen.insert(group_kind(kind), why)),
        }
    }
    for (kind, items) in scalable {
        match items {
            Ok(items) => sort_workloads(kind, &items, &mut known),
            Err(why) => drop(known.unseen.insert(group_kind(kind), why)),
        }
    }
    Ok(known)
}

/// Not being allowed to list one kind is no reason not to see the others.
#[allow(clippy::type_complexity)]
fn seen<T>(
    kind: &Kind,
    answer: Result<T, ClusterError>,
) -> Result<(&Kind, Result<T, String>), ClusterError> {
    match answer {
        Ok(items) => Ok((kind, Ok(items))),
        Err(ClusterError::Forbidden(message)) => Ok((
            kind,
            Err(format!(
                "{} cannot be listed: {message}",
                kind.resource.kind
            )),
        )),
        Err(error) => Err(error),
    }
}

/// Names a live object.
pub(super) fn id_of(kind: &Kind, live: &Live) -> ObjectId {
    ObjectId {
        group_kind: group_kind(kind),
        namespace: live.namespace.clone(),
        name: live.name.clone(),
    }
}

fn group_kind(kind: &Kind) -> GroupKind {
    GroupKind::new(&kind.resource.group, &kind.resource.kind)
}

/// Kinds whose replicas must be read, since some manifest states them.
fn states_replicas(desired: &[Desired], kind: &GroupKind) -> bool {
    kind.group == "apps"
        && desired
            .iter()
            .any(|d| d.id.group_kind == *kind && d.object.pointer("/spec/replicas").is_some())
}

fn sort_workloads(kind: &Kind, objects: &[Value], known: &mut Known) {
    for object in objects {
        let Ok(live) = Live::from_object(object) else {
            continue;
        };
        let id = id_of(kind, &live);
        if let Some(replicas) = object.pointer("/spec/replicas").and_then(Value::as_i64) {
            known.replicas.insert(id.clone(), replicas);
        }
        if id.group_kind.kind == "Deployment" {
            let live = Deployment::from_live(object);
            known.deployments.extend(live.map(|d| (id.clone(), d)));
        }
        known.members.insert(id, live);
    }
}

/// Objects that the source asks for and that are not members.
pub(super) struct Others {
    /// Those that are in the cluster.
    pub found: BTreeMap<ObjectId, Live>,
    /// Those that we may not look at, and what the server says.
    pub forbidden: BTreeMap<ObjectId, String>,
    /// Namespaces that the source uses and that are not there.
    pub missing_namespaces: BTreeSet<String>,
}

/// Looks for objects that the source asks for and that are not members: they may be there all the same.
pub(super) async fn others(
    cluster: &Cluster,
    kinds: &Kinds,
    desired: &[Desired],
    known: &Known,
) -> Result<Others, ClusterError> {
    let unknown = || desired.iter().filter(|d| known.live(&d.id).is_none());
    let namespaces = unknown().filter_map(|d| d.id.namespace.as_deref());
    let missing_namespaces = missing_namespaces(cluster, kinds, namespaces).await?;
    let mut places: BTreeMap<(&str, &str), BTreeSet<Place>> = BTreeMap::new();
    for d in unknown().filter(|d| d.id.group_kind != Target::group_kind()) {
        // What is in a namespace that is not there is not there either.
        if d.id
            .namespace
            .as_ref()
            .is_none_or(|namespace| !missing_namespaces.contains(namespace))
        {
            let kind = (d.api_version.as_str(), d.id.group_kind.kind.as_str());
            places
                .entry(kind)
                .or_default()
                .insert((d.id.namespace.clone(), d.id.name.clone()));
        }
    }
    let served = places
        .into_iter()
        .filter_map(|((version, kind), places)| Some((kinds.get(version, kind)?, places)));
    let answers = try_join_all(served.map(|(kind, places)| async move {
        let answer = cluster.metadata_of(kind, places.clone()).await;
        Ok::<_, ClusterError>((places, seen(kind, answer)?))
    }));
    let mut others = Others {
        found: BTreeMap::new(),
        forbidden: BTreeMap::new(),
        missing_namespaces,
    };
    for (places, (kind, answer)) in answers.await? {
        match answer {
            Ok(found) => {
                others
                    .found
                    .extend(found.into_values().map(|live| (id_of(kind, &live), live)));
            }
            Err(why) => {
                let group_kind = group_kind(kind);
                others
                    .forbidden
                    .extend(places.into_iter().map(|(namespace, name)| {
                        let id = ObjectId {
                            group_kind: group_kind.clone(),
                            namespace,
                            name,
                        };
                        (id, why.clone())
                    }));
            }
        }
    }
    Ok(others)
}

async fn missing_namespaces<'a>(
    cluster: &Cluster,
    kinds: &Kinds,
    names: impl Iterator<Item = &'a str>,
) -> Result<BTreeSet<String>, ClusterError> {
    let places: BTreeSet<Place> = names.map(|name| (None, name.to_owned())).collect();
    let Some(kind) = kinds.get("v1", "Namespace").filter(|_| !places.is_empty()) else {
        return Ok(BTreeSet::new());
    };
    let found = match cluster.metadata_of(kind, places.clone()).await {
        Ok(found) => found,
        // Who may not look at namespaces has them, or is told so by each request.
        Err(ClusterError::Forbidden(_)) => return Ok(BTreeSet::new()),
        Err(error) => return Err(error),
    };
    Ok(places
        .into_iter()
        .filter(|place| !found.contains_key(place))
        .map(|(_, name)| name)
        .collect())
}

/// Asks for autoscalers only where a workload's replicas are no longer ours.
pub(super) async fn scaled(
    cluster: &Cluster,
    desired: &[Desired],
    known: &Known,
) -> Result<BTreeSet<ObjectId>, ClusterError> {
    let maybe: BTreeSet<&ObjectId> = maybe_scaled(desired, known).collect();
    if maybe.is_empty() {
        return Ok(BTreeSet::new());
    }
    let kinds = cluster
        .kinds_of_groups(|group| group == "autoscaling")
        .await?;
    let Some(kind) = kinds.any_version(&GroupKind::new("autoscaling", "HorizontalPodAutoscaler"))
    else {
        return Ok(BTreeSet::new());
    };
    let namespaces = maybe.iter().filter_map(|id| id.namespace.clone()).collect();
    let live = match cluster.objects_in(kind, &namespaces, None).await {
        Ok(live) => live,
        // An autoscaler may be there: its replicas are left as they are.
        Err(ClusterError::Forbidden(_)) => return Ok(maybe.into_iter().cloned().collect()),
        Err(error) => return Err(error),
    };
    let in_source = desired
        .iter()
        .filter(|d| d.id.group_kind.kind == "HorizontalPodAutoscaler")
        .map(|d| &*d.object);
    let scales = |autoscaler: &Value, id: &ObjectId| {
        let text = |pointer| autoscaler.pointer(pointer).and_then(Value::as_str);
        text("/metadata/namespace") == id.namespace.as_deref()
            && text("/spec/scaleTargetRef/kind") == Some(&id.group_kind.kind)
            && text("/spec/scaleTargetRef/name") == Some(&id.name)
    };
    let autoscalers: Vec<&Value> = live.iter().chain(in_source).collect();
    Ok(maybe
        .into_iter()
        .filter(|id| autoscalers.iter().any(|a| scales(a, id)))
        .cloned()
        .collect())
}
