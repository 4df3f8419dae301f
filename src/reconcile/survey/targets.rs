//! Targets, and what they need: their Deployments and Services.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use tokio::try_join;

use super::members::id_of;
use crate::api::names::TARGET;
use crate::api::{GroupKind, ObjectId};
use crate::cluster::{Cluster, ClusterError, Kind, Kinds, SeenTarget};
use crate::plan::{Index, Known, Live, child_id, deployment_of};
use crate::render::{LiveTarget, Target, coverage_service};

/// Reads the Targets of these namespaces. Who may not read them is served none, and told why.
pub(super) async fn live_targets(
    cluster: &Cluster,
    kind: Option<&Kind>,
    namespaces: &BTreeSet<String>,
) -> Result<Result<Vec<Arc<SeenTarget>>, String>, ClusterError> {
    match kind {
        Some(kind) => match cluster.targets_in(kind, namespaces).await {
            Ok(targets) => Ok(Ok(targets)),
            Err(ClusterError::Forbidden(message)) => {
                Ok(Err(format!("{TARGET} cannot be listed: {message}")))
            }
            Err(error) => Err(error),
        },
        None => Ok(Ok(Vec::new())),
    }
}

/// One Target that cannot be read stops no other (CVE-2022-39272).
pub(super) fn sort_targets(targets: Vec<Arc<SeenTarget>>, applyset: &str, known: &mut Known) {
    for seen in targets {
        let live = &seen.metadata;
        let id = ObjectId {
            group_kind: Target::group_kind(),
            namespace: live.namespace.clone(),
            name: live.name.clone(),
        };
        match &seen.target {
            Ok(target) => drop(known.targets.insert(id.clone(), target.clone())),
            Err(why) => drop(known.unreadable.insert(id.clone(), why.clone())),
        }
        let set = if live.applyset() == Some(applyset) {
            &mut known.members
        } else {
            &mut known.others
        };
        set.insert(id, Arc::clone(live));
    }
}

/// Lists the Services of Targets while the Targets themselves are read, which takes the server ten times as long; `None`
/// when there may be no Target, or when we may not look everywhere.
pub(super) async fn early_services(
    cluster: &Cluster,
    kinds: &Kinds,
    namespaces: &BTreeSet<String>,
    with_targets: bool,
) -> Result<Option<Vec<Arc<Live>>>, ClusterError> {
    match kinds.get("v1", "Service").filter(|_| with_targets) {
        Some(kind) => match cluster.coverage_services_in(kind, namespaces).await {
            Err(ClusterError::Forbidden(_)) => Ok(None),
            answer => answer.map(Some),
        },
        None => Ok(None),
    }
}

/// Reads what Targets need. Where we may not, no Target is served, and the rest goes on.
pub(super) async fn targets_needs(
    cluster: &Cluster,
    kinds: &Kinds,
    index: &Index<'_>,
    missing: &BTreeSet<String>,
    early: Option<Vec<Arc<Live>>>,
    known: &mut Known,
) -> Result<(), ClusterError> {
    match read_needs(cluster, kinds, index, missing, early, known).await {
        Err(ClusterError::Forbidden(message)) => {
            known.blind = Some(format!("what it needs may not be read: {message}"));
            Ok(())
        }
        answer => answer,
    }
}

/// Reads Deployments of Targets, and the Services that are theirs or have the name they need.
async fn read_needs(
    cluster: &Cluster,
    kinds: &Kinds,
    index: &Index<'_>,
    missing: &BTreeSet<String>,
    early: Option<Vec<Arc<Live>>>,
    known: &mut Known,
) -> Result<(), ClusterError> {
    let in_source = index
        .values()
        .filter(|d| d.id.group_kind == Target::group_kind());
    let mut targets: BTreeMap<ObjectId, Target> = known.targets.clone();
    targets.extend(in_source.filter_map(|d| {
        let live = known
            .targets
            .get(&d.id)
            .and_then(|target| target.live.clone());
        Some((
            d.id.clone(),
            Target {
                live,
                ..Target::from_json(&d.object).ok()?
            },
        ))
    }));
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
    let ours = async {
        match early {
            Some(ours) => Ok(ours),
            None => cluster.coverage_services_in(services, &namespaces).await,
        }
    };
    let (found, ours) = try_join!(cluster.deployments_of(deployments, places), ours)?;
    for ((namespace, name), (deployment, metadata)) in found {
        let id = ObjectId {
            group_kind: GroupKind::new("apps", "Deployment"),
            namespace,
            name,
        };
        known.carriers.insert(id.clone(), metadata);
        known.deployments.insert(id, deployment);
    }
    known
        .services
        .extend(ours.into_iter().map(|live| (id_of(services, &live), live)));
    let mut taken = BTreeSet::new();
    for target in targets.values() {
        let id = child_id(target);
        let deployment = deployment_of(target, index, known);
        let wanted = coverage_service(target, deployment.as_ref()).is_ok();
        // One that was published may be there still, without the labels that it would be found by.
        let published = |live: &LiveTarget| live.status.coverage_endpoint.is_some();
        let published = target.live.as_ref().is_some_and(published);
        if !known.services.contains_key(&id) && (wanted || published) {
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

/// Reads what the one Target that is known needs.
///
/// # Errors
/// When the server cannot be asked. What we may not read is told in [`Known::blind`].
pub async fn target_needs(
    cluster: &Cluster,
    kinds: &Kinds,
    known: &mut Known,
) -> Result<(), ClusterError> {
    let services = known.targets.values().map(child_id);
    let places = services.map(|id| (id.namespace, id.name)).collect();
    // By name where a watch has all Services of Targets, instead of all those of the namespace.
    let early = match kinds.get("v1", "Service") {
        Some(kind) => cluster.watched_coverage_services(kind, &places).await?,
        None => None,
    };
    targets_needs(
        cluster,
        kinds,
        &Index::new(),
        &BTreeSet::new(),
        early,
        known,
    )
    .await
}
