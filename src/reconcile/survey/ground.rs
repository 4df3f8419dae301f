//! What is known before the cluster is looked at: which kinds it has, and what the set's parent says.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::Value;
use tokio::try_join;

use super::super::inventory::Inventory;
use super::super::{Access, Settings};
use crate::api::GroupKind;
use crate::api::names::{API_VERSION, GROUP, SYNC};
use crate::cluster::{Cluster, ClusterError, Kind, Kinds};
use crate::load::Document;

/// Longer than any API that works needs to name its kinds.
const LOOK_WITHIN: Duration = Duration::from_secs(5);

/// What a survey stands on.
pub(super) struct Ground {
    /// The kinds in use that the server has.
    pub kinds: Kinds,
    /// The live Sync.
    pub parent: Option<Value>,
    /// Where members may be.
    pub inventory: Inventory,
    /// Kinds whose members we may not see, and why.
    pub unseen: BTreeMap<GroupKind, String>,
}

/// Reads the parent, and asks for the kinds that the source and the parent name.
pub(super) async fn ground(
    access: Access<'_>,
    documents: &[Document],
    settings: &Settings,
) -> Result<Ground, ClusterError> {
    let cluster = access.members;
    let mut versions: BTreeSet<String> = documents.iter().map(|d| d.api_version.clone()).collect();
    versions.extend(["v1", "apps/v1", API_VERSION].map(str::to_owned));
    let (kinds, (parent, hidden)) =
        try_join!(cluster.kinds(&versions), read_parent(access.sync, settings))?;
    let mut ground = Ground {
        kinds,
        inventory: Inventory::read(parent.as_ref()),
        parent,
        unseen: BTreeMap::new(),
    };
    if let Some(message) = hidden {
        let why = format!("the inventory cannot be read: {message}");
        ground.unseen.insert(GroupKind::new(GROUP, SYNC), why);
    }
    find_kinds(cluster, &mut ground.kinds, &ground.inventory.group_kinds).await?;
    let hidden = hidden_kinds(access.sync, &ground.kinds, &ground.inventory.group_kinds);
    ground.unseen.extend(hidden.await?);
    let installed = ground.kinds.get(API_VERSION, SYNC).is_some();
    if ground.parent.is_none() && settings.prune && installed {
        ground.look_everywhere(cluster).await?;
    }
    Ok(ground)
}

/// Reads the parent, or says why we may not.
async fn read_parent(
    cluster: &Cluster,
    settings: &Settings,
) -> Result<(Option<Value>, Option<String>), ClusterError> {
    match cluster.sync(&settings.namespace, &settings.name).await {
        Ok(parent) => Ok((parent, None)),
        Err(ClusterError::Forbidden(message)) => Ok((None, Some(message))),
        Err(error) => Err(error),
    }
}

/// Asks for those of the kinds that an inventory names which are not known yet.
pub(in crate::reconcile) async fn find_kinds(
    cluster: &Cluster,
    kinds: &mut Kinds,
    named: &BTreeSet<GroupKind>,
) -> Result<(), ClusterError> {
    if named.iter().all(|kind| kinds.any_version(kind).is_some()) {
        return Ok(());
    }
    let groups: BTreeSet<&str> = named.iter().map(|kind| kind.group.as_str()).collect();
    let found = cluster
        .kinds_of_groups(|group| groups.contains(group))
        .await?;
    kinds.extend(found);
    Ok(())
}

/// Tells which of the kinds that an inventory names are there although discovery does not list them just now: an API server
/// that has just started answers for its own kinds first. A definition that discovery does not follow gives that away.
pub(super) async fn hidden_kinds(
    cluster: &Cluster,
    kinds: &Kinds,
    named: &BTreeSet<GroupKind>,
) -> Result<BTreeMap<GroupKind, String>, ClusterError> {
    let unlisted = |kind: &&GroupKind| kinds.any_version(kind).is_none();
    if !named.iter().any(|kind| unlisted(&kind)) {
        return Ok(BTreeMap::new());
    }
    let kind = Kind::definition();
    let definitions = match cluster.list_metadata(&kind, None, None).await {
        Ok(definitions) => definitions,
        // Who may not look at definitions takes discovery at its word.
        Err(ClusterError::Forbidden(_) | ClusterError::NotFound(_)) => return Ok(BTreeMap::new()),
        Err(error) => return Err(error),
    };
    let listed: BTreeSet<String> = kinds
        .each()
        .map(|kind| format!("{}.{}", kind.resource.plural, kind.resource.group))
        .collect();
    let groups: BTreeSet<&str> = definitions
        .iter()
        .filter(|live| live.deletion_timestamp.is_none() && !listed.contains(&live.name))
        .filter_map(|live| Some(live.name.split_once('.')?.1))
        .collect();
    let hidden = named.iter().filter(unlisted);
    let hidden = hidden.filter(|kind| groups.contains(kind.group.as_str()));
    let told = hidden.map(|kind| {
        let why = format!("the API server does not serve the kind {kind} just now");
        (kind.clone(), why)
    });
    Ok(told.collect())
}

impl Ground {
    /// Without the parent nobody knows what there was: once, everything is looked through for members.
    async fn look_everywhere(&mut self, cluster: &Cluster) -> Result<(), ClusterError> {
        let (all, silent) = cluster.all_kinds(LOOK_WITHIN).await?;
        let listable = all.each().filter(|kind| kind.listable);
        self.inventory
            .group_kinds
            .extend(listable.map(Kind::group_kind));
        self.kinds.extend(all);
        self.unseen.extend(silent.into_iter().map(|api| {
            let why = format!("what {api} holds cannot be seen now");
            (GroupKind::new(api, "*"), why)
        }));
        Ok(())
    }
}
