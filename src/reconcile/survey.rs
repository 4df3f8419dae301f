//! Finds out what the cluster has, with a handful of requests when nothing has changed.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use serde_json::Value;
use tokio::try_join;

use super::Settings;
use crate::api::names::{
    API_VERSION, APPLYSET_GROUP_KINDS, APPLYSET_NAMESPACES, APPLYSET_PART_OF, COMPONENT, MANAGED_BY,
};
use crate::api::{GroupKind, ObjectId, crds};
use crate::cluster::{Cluster, ClusterError, Kind, Kinds, Place};
use crate::load::{Diagnostic, Document, Schemas};
use crate::plan::{Index, Known, Live, child_id, index, maybe_scaled};
use crate::render::{Deployment, Desired, Resolved, Target, coverage_service, resolve};

/// What a run starts from.
pub struct Survey {
    /// What the source asks for.
    pub desired: Vec<Desired>,
    /// Documents that were left out, and why.
    pub diagnostics: Vec<Diagnostic>,
    /// The kinds in use that the server has.
    pub kinds: Kinds,
    /// What is known of the cluster.
    pub known: Known,
    /// The live Sync, parent of the apply set.
    pub parent: Option<Value>,
    /// Namespaces that the source uses and that are not there.
    pub missing_namespaces: BTreeSet<String>,
}

impl Survey {
    /// Tells whether our own kinds are in the cluster.
    pub fn has_our_kinds(&self) -> bool {
        ["Sync", "ClosureJVMTarget"]
            .iter()
            .all(|kind| self.kinds.get(API_VERSION, kind).is_some())
    }
}

/// Surveys the cluster for a run.
///
/// # Errors
/// When the server cannot be asked; then nothing is known and nothing may be done.
pub async fn survey(
    cluster: &Cluster,
    documents: &[Document],
    settings: &Settings,
) -> Result<Survey, ClusterError> {
    let mut versions: BTreeSet<String> = documents
        .iter()
        .map(|document| document.api_version.clone())
        .collect();
    versions.extend(["v1", "apps/v1", API_VERSION].map(str::to_owned));
    let mut kinds = cluster.kinds(&versions).await?;
    let applyset = settings.applyset();
    // Kinds that definitions in the source bring along, and our own, which a sync installs.
    let coming = Schemas::of_source(documents, &crds().unwrap_or_default());
    let scope = |api_version: &str, kind: &str| {
        let served = kinds.get(api_version, kind).map(|kind| kind.scope);
        served.or_else(|| coming.defined_scope(api_version, kind))
    };
    let Resolved {
        desired,
        diagnostics,
    } = resolve(documents, scope, &settings.namespace, Some(&applyset));

    let parent = match kinds.get(API_VERSION, "Sync") {
        Some(kind) => {
            cluster
                .get(kind, Some(&settings.namespace), &settings.name)
                .await?
        }
        None => None,
    };
    let inventory = Inventory::read(parent.as_ref());
    if inventory
        .group_kinds
        .iter()
        .any(|kind| kinds.any_version(kind).is_none())
    {
        let groups: BTreeSet<&str> = inventory
            .group_kinds
            .iter()
            .map(|kind| kind.group.as_str())
            .collect();
        kinds.extend(
            cluster
                .preferred_kinds(|group| groups.contains(group))
                .await?,
        );
    }
    let mut namespaces: BTreeSet<String> = desired
        .iter()
        .filter_map(|d| d.id.namespace.clone())
        .collect();
    namespaces.insert(settings.namespace.clone());
    let reach = namespaces
        .iter()
        .cloned()
        .chain(inventory.namespaces)
        .collect();

    let mut known = Known::default();
    let selector = format!("{APPLYSET_PART_OF}={applyset}");
    let mut group_kinds: BTreeSet<GroupKind> =
        desired.iter().map(|d| d.id.group_kind.clone()).collect();
    group_kinds.extend(inventory.group_kinds);
    // Targets are read whole, which tells their metadata as well.
    group_kinds.remove(&Target::group_kind());
    let kinds_of = |whole: bool| -> Vec<&Kind> {
        let in_use = group_kinds
            .iter()
            .filter(|kind| states_replicas(&desired, kind) == whole);
        in_use
            .filter_map(|kind| kinds.any_version(kind))
            .filter(|kind| kind.listable)
            .collect()
    };
    let (plain, scalable) = (kinds_of(false), kinds_of(true));
    let (members, workloads, targets) = try_join!(
        try_join_all(
            plain
                .iter()
                .map(|kind| cluster.metadata_in(kind, &reach, &selector))
        ),
        try_join_all(
            scalable
                .iter()
                .map(|kind| cluster.objects_in(kind, &reach, Some(&selector)))
        ),
        live_targets(cluster, &kinds, &reach),
    )?;
    for (kind, items) in plain.iter().zip(members) {
        known
            .members
            .extend(items.into_iter().map(|live| (id_of(kind, &live), live)));
    }
    for (kind, items) in scalable.iter().zip(workloads) {
        sort_workloads(kind, &items, &mut known);
    }
    sort_targets(targets, &applyset, &mut known);

    let index = index(&desired);
    let (others, missing_namespaces) = others(cluster, &kinds, &desired, &known).await?;
    known.others = others;
    targets_needs(cluster, &kinds, &index, &missing_namespaces, &mut known).await?;
    known.scaled = scaled(cluster, &desired, &known).await?;
    Ok(Survey {
        desired,
        diagnostics,
        kinds,
        known,
        parent,
        missing_namespaces,
    })
}

/// What the parent's annotations say the set may hold.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Kinds.
    pub group_kinds: BTreeSet<GroupKind>,
    /// Namespaces other than the parent's.
    pub namespaces: BTreeSet<String>,
}

impl Inventory {
    /// Reads it from the live parent.
    pub fn read(parent: Option<&Value>) -> Self {
        let annotations = parent.and_then(|parent| parent.pointer("/metadata/annotations"));
        let list = |key: &str| {
            let text = annotations
                .and_then(|a| a.get(key))
                .and_then(Value::as_str)
                .unwrap_or_default();
            text.split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty())
        };
        Self {
            group_kinds: list(APPLYSET_GROUP_KINDS)
                .map(|text| {
                    text.split_once('.')
                        .map_or_else(|| GroupKind::new("", text), |(k, g)| GroupKind::new(g, k))
                })
                .collect(),
            namespaces: list(APPLYSET_NAMESPACES).map(str::to_owned).collect(),
        }
    }
}

fn id_of(kind: &Kind, live: &Live) -> ObjectId {
    ObjectId {
        group_kind: GroupKind::new(&kind.resource.group, &kind.resource.kind),
        namespace: live.namespace.clone(),
        name: live.name.clone(),
    }
}

async fn live_targets(
    cluster: &Cluster,
    kinds: &Kinds,
    namespaces: &BTreeSet<String>,
) -> Result<Vec<Value>, ClusterError> {
    match kinds.get(API_VERSION, "ClosureJVMTarget") {
        Some(kind) => cluster.objects_in(kind, namespaces, None).await,
        None => Ok(Vec::new()),
    }
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
            known
                .deployments
                .insert(id.clone(), Deployment::from_json(object));
        }
        known.members.insert(id, live);
    }
}

/// One Target that cannot be read stops no other (CVE-2022-39272).
fn sort_targets(targets: Vec<Value>, applyset: &str, known: &mut Known) {
    for object in targets {
        let Ok(live) = Live::from_object(&object) else {
            continue;
        };
        let id = ObjectId {
            group_kind: Target::group_kind(),
            namespace: live.namespace.clone(),
            name: live.name.clone(),
        };
        match Target::from_json(&object) {
            Ok(target) => drop(known.targets.insert(id.clone(), target)),
            Err(why) => drop(known.unreadable.insert(id.clone(), why)),
        }
        let set = if live.applyset() == Some(applyset) {
            &mut known.members
        } else {
            &mut known.others
        };
        set.insert(id, live);
    }
}

/// Looks for objects that the source asks for and that are not members: they may be there all the same.
async fn others(
    cluster: &Cluster,
    kinds: &Kinds,
    desired: &[Desired],
    known: &Known,
) -> Result<(BTreeMap<ObjectId, Live>, BTreeSet<String>), ClusterError> {
    let mut others = known.others.clone();
    let candidates: Vec<&Desired> = desired
        .iter()
        .filter(|d| known.live(&d.id).is_none() && d.id.group_kind != Target::group_kind())
        .collect();
    let in_namespaces = desired.iter().filter(|d| known.live(&d.id).is_none());
    let missing = missing_namespaces(
        cluster,
        kinds,
        in_namespaces.filter_map(|d| d.id.namespace.as_deref()),
    )
    .await?;
    let mut places: BTreeMap<(&str, &str), BTreeSet<Place>> = BTreeMap::new();
    for d in candidates {
        // What is in a namespace that is not there is not there either.
        if d.id
            .namespace
            .as_ref()
            .is_none_or(|namespace| !missing.contains(namespace))
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
    let found = try_join_all(served.map(|(kind, places)| async move {
        let found = cluster.metadata_of(kind, places).await?;
        Ok::<_, ClusterError>(
            found
                .into_values()
                .map(|live| (id_of(kind, &live), live))
                .collect::<Vec<_>>(),
        )
    }))
    .await?;
    others.extend(found.into_iter().flatten());
    Ok((others, missing))
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

/// Reads what Targets need: their Deployments, and the Services that are theirs or have the name they need.
async fn targets_needs(
    cluster: &Cluster,
    kinds: &Kinds,
    index: &Index<'_>,
    missing: &BTreeSet<String>,
    known: &mut Known,
) -> Result<(), ClusterError> {
    let in_source = index
        .values()
        .filter(|d| d.id.group_kind == Target::group_kind());
    let mut targets: BTreeMap<ObjectId, Target> = known.targets.clone();
    targets
        .extend(in_source.filter_map(|d| Some((d.id.clone(), Target::from_json(&d.object).ok()?))));
    targets.retain(|_, target| !missing.contains(&target.namespace));
    let (Some(deployments), Some(services)) = (
        kinds.get("apps/v1", "Deployment"),
        kinds.get("v1", "Service"),
    ) else {
        return Ok(());
    };
    let places = targets
        .values()
        .map(Target::deployment_id)
        .filter(|id| !known.deployments.contains_key(id))
        .map(|id| (id.namespace, id.name))
        .collect();
    let namespaces: BTreeSet<String> = targets.values().map(|t| t.namespace.clone()).collect();
    let selector = format!(
        "{}={},{}={}",
        MANAGED_BY.0, MANAGED_BY.1, COMPONENT.0, COMPONENT.1
    );
    let (found, ours) = try_join!(
        cluster.objects_of(deployments, places),
        cluster.metadata_in(services, &namespaces, &selector),
    )?;
    for ((namespace, name), object) in found {
        let id = ObjectId {
            group_kind: GroupKind::new("apps", "Deployment"),
            namespace,
            name,
        };
        known.deployments.insert(id, Deployment::from_json(&object));
    }
    known
        .services
        .extend(ours.into_iter().map(|live| (id_of(services, &live), live)));
    let mut taken = BTreeSet::new();
    for target in targets.values() {
        let id = child_id(target);
        let deployment = crate::plan::deployment_of(target, index, known);
        if !known.services.contains_key(&id)
            && coverage_service(target, deployment.as_ref()).is_ok()
        {
            taken.insert((id.namespace, id.name));
        }
    }
    let found = cluster.metadata_of(services, taken).await?;
    known.services.extend(
        found
            .into_values()
            .map(|live| (id_of(services, &live), live)),
    );
    Ok(())
}

/// Asks for autoscalers only where a workload's replicas are no longer ours.
async fn scaled(
    cluster: &Cluster,
    desired: &[Desired],
    known: &Known,
) -> Result<BTreeSet<ObjectId>, ClusterError> {
    let maybe: BTreeSet<&ObjectId> = maybe_scaled(desired, known).collect();
    if maybe.is_empty() {
        return Ok(BTreeSet::new());
    }
    let kinds = cluster
        .preferred_kinds(|group| group == "autoscaling")
        .await?;
    let Some(kind) = kinds.any_version(&GroupKind::new("autoscaling", "HorizontalPodAutoscaler"))
    else {
        return Ok(BTreeSet::new());
    };
    let namespaces = maybe.iter().filter_map(|id| id.namespace.clone()).collect();
    let live = cluster.objects_in(kind, &namespaces, None).await?;
    let in_source = desired
        .iter()
        .filter(|d| d.id.group_kind.kind == "HorizontalPodAutoscaler")
        .map(|d| &d.object);
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
