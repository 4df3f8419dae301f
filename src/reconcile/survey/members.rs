//! Members of the apply set, and objects that are to become members.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use futures_util::future::try_join_all;
use serde_json::Value;
use tokio::try_join;

use crate::api::{GroupKind, ObjectId, Scope};
use crate::cluster::{Cluster, ClusterError, Facts, Kind, Kinds, Place, Workload};
use crate::plan::{Known, Live, maybe_scaled};
use crate::render::{Desired, Target};

/// Lists the members of an apply set: metadata, and whole objects only where replicas must be read.
pub(super) async fn members(
    cluster: &Cluster,
    kinds: &Kinds,
    group_kinds: &BTreeSet<GroupKind>,
    desired: &[Desired],
    namespaces: &BTreeSet<String>,
    applyset: &str,
) -> Result<Known, ClusterError> {
    let kinds_of = |whole: bool| {
        let in_use = group_kinds
            .iter()
            .filter(move |kind| states_replicas(desired, kind) == whole);
        in_use
            .filter_map(|kind| kinds.any_version(kind))
            .filter(|kind| kind.listable)
    };
    let plain = try_join_all(kinds_of(false).map(|kind| {
        in_each(kind, namespaces, move |namespaces| async move {
            cluster.members_in(kind, &namespaces, applyset).await
        })
    }));
    let scalable = try_join_all(kinds_of(true).map(|kind| {
        in_each(kind, namespaces, move |namespaces| async move {
            cluster.workloads_in(kind, &namespaces, applyset).await
        })
    }));
    let (plain, scalable) = try_join!(plain, scalable)?;
    let mut known = Known::default();
    for (kind, items, unseen) in plain {
        let members = items.into_iter().filter(|live| !live.is_copy());
        let members = members.map(|live| (id_of(kind, &live), live));
        known.members.extend(members);
        let unseen = unseen.map(|why| (kind.group_kind(), why));
        known.unseen.extend(unseen);
    }
    for (kind, items, unseen) in scalable {
        for workload in items {
            let (id, live) = note_workload(kind, workload, &mut known);
            known.members.insert(id, live);
        }
        let unseen = unseen.map(|why| (kind.group_kind(), why));
        known.unseen.extend(unseen);
    }
    Ok(known)
}

/// Lists a kind in all these namespaces at once. Where that is not allowed, each is asked for by itself, so that one
/// that may not be looked into hides nothing in the others; then it is told why some may be unseen.
async fn in_each<'a, T, F>(
    kind: &'a Kind,
    namespaces: &BTreeSet<String>,
    list: impl Fn(BTreeSet<String>) -> F,
) -> Result<(&'a Kind, Vec<T>, Option<String>), ClusterError>
where
    F: Future<Output = Result<Vec<T>, ClusterError>>,
{
    let mut unseen = match seen(kind, list(namespaces.clone()).await)? {
        (kind, Ok(items)) => return Ok((kind, items, None)),
        (_, Err(why)) => Some(why),
    };
    let mut all = Vec::new();
    if kind.scope == Scope::Namespaced && namespaces.len() > 1 {
        for namespace in namespaces {
            match seen(kind, list(BTreeSet::from([namespace.clone()])).await)? {
                (_, Ok(items)) => all.extend(items),
                (_, Err(why)) => unseen = Some(why),
            }
        }
    }
    Ok((kind, all, unseen))
}

/// Not being allowed to list one kind is no reason not to see the others.
#[allow(clippy::type_complexity)]
pub(in crate::reconcile) fn seen<T>(
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
pub(in crate::reconcile) fn id_of(kind: &Kind, live: &Live) -> ObjectId {
    ObjectId {
        group_kind: kind.group_kind(),
        namespace: live.namespace.clone(),
        name: live.name.clone(),
    }
}

/// Kinds whose replicas must be read, since some manifest states them.
fn states_replicas(desired: &[Desired], kind: &GroupKind) -> bool {
    kind.group == "apps"
        && desired
            .iter()
            .any(|d| d.id.group_kind == *kind && d.object.pointer("/spec/replicas").is_some())
}

/// Notes what plans need of a workload beyond its metadata, and returns that.
fn note_workload(kind: &Kind, workload: Workload, known: &mut Known) -> (ObjectId, Arc<Live>) {
    let Workload { metadata, facts } = workload;
    let id = id_of(kind, &metadata);
    let Facts {
        replicas,
        deployment,
        metadata: _,
    } = facts;
    known.replicas.extend(replicas.map(|n| (id.clone(), n)));
    known
        .deployments
        .extend(deployment.map(|d| (id.clone(), d)));
    (id, metadata)
}

/// What is found of a kind.
enum Found {
    Metadata(Vec<Arc<Live>>),
    Whole(Vec<Workload>),
}

/// Looks for objects that the source asks for and that are not members: they may be there all the same.
///
/// Those that we may not look at are noted as forbidden, and so are those whose namespace is going. Returns the
/// namespaces that the source uses and that are not there.
pub(super) async fn others(
    cluster: &Cluster,
    kinds: &Kinds,
    desired: &[Desired],
    all_targets_known: bool,
    known: &mut Known,
) -> Result<BTreeSet<String>, ClusterError> {
    let unknown = || desired.iter().filter(|d| known.live(&d.id).is_none());
    let namespaces = unknown().filter_map(|d| d.id.namespace.as_deref());
    let Absent {
        missing: missing_namespaces,
        going,
    } = absent_namespaces(cluster, kinds, namespaces).await?;
    // Apart by namespaces: one that may not be looked into says nothing of the others.
    let mut places: BTreeMap<(&str, &str, Option<&str>), BTreeSet<Place>> = BTreeMap::new();
    let is_known = |d: &Desired| all_targets_known && d.id.group_kind == Target::group_kind();
    let mut forbidden = Vec::new();
    for d in unknown() {
        let ObjectId {
            namespace, name, ..
        } = &d.id;
        let within = |set: &BTreeSet<String>| namespace.as_ref().is_some_and(|it| set.contains(it));
        if within(&going) {
            let why = "its namespace is being deleted; run again when that is gone";
            forbidden.push((d.id.clone(), why.to_owned()));
        } else if !within(&missing_namespaces) && !is_known(d) {
            // What is in a namespace that is not there is not there either.
            let kind = d.id.group_kind.kind.as_str();
            places
                .entry((d.api_version.as_str(), kind, namespace.as_deref()))
                .or_default()
                .insert((namespace.clone(), name.clone()));
        }
    }
    known.forbidden.extend(forbidden);
    let served = places
        .into_iter()
        .filter_map(|((version, kind, _), places)| Some((kinds.get(version, kind)?, places)));
    let answers = try_join_all(served.map(|(kind, places)| async move {
        // A workload that is adopted may have an autoscaler as well as a member.
        let found = if states_replicas(desired, &kind.group_kind()) {
            let found = cluster.objects_of(kind, places.clone()).await;
            let read = |object: &Value| Workload::read(kind, object);
            found.map(|found| Found::Whole(found.values().filter_map(read).collect()))
        } else {
            let found = cluster.metadata_of(kind, places.clone()).await;
            found.map(|found| Found::Metadata(found.into_values().collect()))
        };
        Ok::<_, ClusterError>((places, seen(kind, found)?))
    }));
    for (places, (kind, answer)) in answers.await? {
        match answer {
            Ok(Found::Metadata(found)) => {
                let found = found.into_iter().map(|live| (id_of(kind, &live), live));
                known.others.extend(found);
            }
            Ok(Found::Whole(workloads)) => {
                for workload in workloads {
                    let (id, live) = note_workload(kind, workload, known);
                    known.others.insert(id, live);
                }
            }
            Err(why) => {
                let ids = places.into_iter().map(|(namespace, name)| ObjectId {
                    group_kind: kind.group_kind(),
                    namespace,
                    name,
                });
                known.forbidden.extend(ids.map(|id| (id, why.clone())));
            }
        }
    }
    Ok(missing_namespaces)
}

/// Namespaces in which nothing can be made now.
#[derive(Default)]
struct Absent {
    /// They are not there.
    missing: BTreeSet<String>,
    /// They are being deleted.
    going: BTreeSet<String>,
}

async fn absent_namespaces<'a>(
    cluster: &Cluster,
    kinds: &Kinds,
    names: impl Iterator<Item = &'a str>,
) -> Result<Absent, ClusterError> {
    let places: BTreeSet<Place> = names.map(|name| (None, name.to_owned())).collect();
    let Some(kind) = kinds.get("v1", "Namespace").filter(|_| !places.is_empty()) else {
        return Ok(Absent::default());
    };
    let found = match cluster.metadata_of(kind, places.clone()).await {
        Ok(found) => found,
        // Who may not look at namespaces has them, or is told so by each request.
        Err(ClusterError::Forbidden(_)) => return Ok(Absent::default()),
        Err(error) => return Err(error),
    };
    let mut absent = Absent::default();
    for place in places {
        match found.get(&place) {
            None => absent.missing.insert(place.1),
            Some(live) => live.deletion_timestamp.is_some() && absent.going.insert(place.1),
        };
    }
    Ok(absent)
}

/// Finds the workloads that an autoscaler scales. Asks only where replicas are no longer what a manifest states.
pub(super) async fn find_scaled(
    cluster: &Cluster,
    desired: &[Desired],
    known: &mut Known,
) -> Result<(), ClusterError> {
    let maybe: BTreeSet<&ObjectId> = maybe_scaled(desired, known).collect();
    // The one version that all clusters have, and what it has become: the target is the same in each.
    const VERSIONS: [&str; 2] = ["autoscaling/v1", "autoscaling/v2"];
    let autoscaler = GroupKind::new("autoscaling", "HorizontalPodAutoscaler");
    if maybe.is_empty() {
        return Ok(());
    }
    let mut kind = None;
    for version in VERSIONS {
        let kinds = cluster.kinds(&BTreeSet::from([version.to_owned()])).await?;
        kind = kinds.any_version(&autoscaler).cloned();
        if kind.is_some() {
            break;
        }
    }
    let Some(kind) = &kind else {
        return Ok(());
    };
    let namespaces = maybe.iter().filter_map(|id| id.namespace.clone()).collect();
    let live = match cluster.objects_in(kind, &namespaces, None).await {
        Ok(live) => live,
        // An autoscaler may be there: its replicas are left as they are.
        Err(ClusterError::Forbidden(_)) => {
            known.scaled = maybe.into_iter().cloned().collect();
            return Ok(());
        }
        Err(error) => return Err(error),
    };
    let in_source = desired
        .iter()
        .filter(|d| d.id.group_kind == autoscaler)
        .map(|d| &*d.object);
    let scaled: BTreeSet<(&str, &str, &str)> =
        live.iter().chain(in_source).filter_map(scales).collect();
    let is_scaled = |id: &&ObjectId| {
        let namespace = id.namespace.as_deref().unwrap_or_default();
        scaled.contains(&(namespace, id.group_kind.kind.as_str(), id.name.as_str()))
    };
    known.scaled = maybe.into_iter().filter(is_scaled).cloned().collect();
    Ok(())
}

/// Namespace, kind and name of what an autoscaler scales.
fn scales(autoscaler: &Value) -> Option<(&str, &str, &str)> {
    let text = |pointer| autoscaler.pointer(pointer).and_then(Value::as_str);
    Some((
        text("/metadata/namespace")?,
        text("/spec/scaleTargetRef/kind")?,
        text("/spec/scaleTargetRef/name")?,
    ))
}
