//! Finds out what the cluster has, with a handful of requests when nothing has changed.

mod ground;
mod members;
mod targets;

use std::collections::BTreeSet;

use serde_json::Value;
use tokio::try_join;

pub(super) use self::ground::find_kinds;
use self::ground::{Ground, ground, hidden_kinds};
use self::members::{find_scaled, others};
pub(super) use self::members::{id_of, seen};
pub(super) use self::targets::target_needs;
use self::targets::{early_services, live_targets, sort_targets, targets_needs};
use super::compute::compute;
use super::inventory::Inventory;
use super::{Access, Settings};
use crate::api::names::{API_VERSION, SYNC, TARGET};
use crate::api::{GroupKind, crds};
use crate::cluster::{ClusterError, Kinds};
use crate::load::{Diagnostic, Document, Schemas};
use crate::plan::{Known, index};
use crate::render::{Composed, Desired, Resolved, Target, resolve};

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
    /// What became of the agents of the source's Targets in the source's Deployments.
    pub composed: Composed,
}

impl Survey {
    /// Tells whether our own kinds are in the cluster.
    pub fn has_our_kinds(&self) -> bool {
        [SYNC, TARGET]
            .iter()
            .all(|kind| self.kinds.get(API_VERSION, kind).is_some())
    }
}

/// Surveys the cluster for a run.
///
/// # Errors
/// When the server cannot be asked; then nothing is known and nothing may be done. What we may not read is no error:
/// it is told in [`Known::unseen`] and [`Known::forbidden`].
pub async fn survey(
    access: Access<'_>,
    documents: &[Document],
    settings: &Settings,
) -> Result<Survey, ClusterError> {
    let Ground {
        kinds,
        parent,
        inventory,
        unseen,
    } = ground(access, documents, settings).await?;
    let cluster = access.members;

    // Kinds that definitions in the source bring along, and our own, which a sync installs.
    let coming = Schemas::of_source(documents, &crds().unwrap_or_default());
    let scope = |api_version: &str, kind: &str| {
        let served = kinds.get(api_version, kind).map(|kind| kind.scope);
        served.or_else(|| coming.defined_scope(api_version, kind))
    };
    let applyset = settings.applyset();
    let Resolved {
        desired,
        diagnostics,
    } = compute(|| resolve(documents, scope, &settings.target_namespace, &applyset));

    let mut reach: BTreeSet<String> = desired
        .iter()
        .filter_map(|d| d.id.namespace.clone())
        .collect();
    reach.insert(settings.namespace.clone());
    reach.extend(inventory.namespaces);
    let mut group_kinds: BTreeSet<GroupKind> =
        desired.iter().map(|d| d.id.group_kind.clone()).collect();
    group_kinds.extend(inventory.group_kinds);
    // Targets that are served are read whole, which tells their metadata as well.
    let serve = settings.serve_targets;
    let with_targets = serve && group_kinds.remove(&Target::group_kind());

    let (mut known, targets, services) = try_join!(
        members::members(cluster, &kinds, &group_kinds, &desired, &reach, &applyset),
        live_targets(
            cluster,
            kinds.get(API_VERSION, TARGET).filter(|_| serve),
            &reach
        ),
        early_services(cluster, &kinds, &reach, with_targets),
    )?;
    known.unseen.extend(unseen);
    match targets {
        Ok(targets) => sort_targets(targets, &applyset, &mut known),
        Err(why) if with_targets => {
            let asked_for = desired
                .iter()
                .filter(|d| d.id.group_kind == Target::group_kind());
            known
                .forbidden
                .extend(asked_for.map(|d| (d.id.clone(), why.clone())));
            known.unseen.insert(Target::group_kind(), why);
        }
        Err(_) => {}
    }
    let missing_namespaces = others(cluster, &kinds, &desired, serve, &mut known).await?;
    if serve {
        targets_needs(
            cluster,
            &kinds,
            &index(&desired),
            &missing_namespaces,
            services,
            &mut known,
        )
        .await?;
    }
    find_scaled(cluster, &desired, &mut known).await?;
    Ok(Survey {
        desired,
        diagnostics,
        kinds,
        known,
        parent,
        missing_namespaces,
        composed: Composed::new(),
    })
}

/// Finds the members of a set by what it said of itself; it may be gone by now.
///
/// # Errors
/// When the server cannot be asked.
pub(super) async fn members_of(
    access: Access<'_>,
    inventory: &Inventory,
    settings: &Settings,
) -> Result<(Kinds, Known), ClusterError> {
    let (cluster, mut kinds) = (access.members, Kinds::default());
    find_kinds(cluster, &mut kinds, &inventory.group_kinds).await?;
    let hidden = hidden_kinds(access.sync, &kinds, &inventory.group_kinds).await?;
    let mut namespaces = inventory.namespaces.clone();
    namespaces.insert(settings.namespace.clone());
    let (group_kinds, set) = (&inventory.group_kinds, settings.applyset());
    let mut known = members::members(cluster, &kinds, group_kinds, &[], &namespaces, &set).await?;
    known.unseen.extend(hidden);
    Ok((kinds, known))
}
