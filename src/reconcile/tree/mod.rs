//! From Syncs to their members and what those have brought about: what `covergence tree` shows.

mod node;
mod read;

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

pub use self::node::Node;
use self::node::{Children, Object};
use self::read::{CHILDREN, read_objects};
use super::overview::SyncView;
use super::reach::{named_sync, reach, selector};
use super::survey::find_kinds;
use crate::api::GroupKind;
use crate::api::names::{API_VERSION, SYNC};
use crate::cluster::{Cluster, ClusterError};

/// Syncs of a namespace, and below each what it has brought about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tree {
    /// Syncs, by name.
    pub syncs: Vec<SyncTree>,
    /// Kinds that may not be listed, and why: there may be more than is shown.
    pub unseen: BTreeMap<GroupKind, String>,
}

/// A Sync and its members.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SyncTree {
    /// The Sync.
    #[serde(flatten)]
    pub sync: SyncView,
    /// Its members, by kind, namespace and name.
    pub members: Vec<Node>,
}

impl Tree {
    /// Tells whether all Syncs are ready, and all objects as their specs want them.
    pub fn is_good(&self) -> bool {
        self.syncs
            .iter()
            .all(|tree| tree.sync.readiness.is_good() && tree.members.iter().all(Node::is_good))
    }
}

/// Reads the tree of one Sync, or of all in a namespace, with so many requests in flight; `None` when our kinds are not
/// installed.
///
/// # Errors
/// As the server answers, and when a Sync that was named is not there. What else may not be read is no error: it is told
/// in [`Tree::unseen`].
pub async fn tree(
    cluster: &Cluster,
    namespace: &str,
    name: Option<&str>,
    concurrency: usize,
) -> Result<Option<Tree>, ClusterError> {
    let mut versions = BTreeSet::from([API_VERSION.to_owned()]);
    versions.extend(CHILDREN.map(|(version, _)| version.to_owned()));
    let mut kinds = cluster.kinds(&versions).await?;
    let Some(kind) = kinds.get(API_VERSION, SYNC) else {
        return Ok(None);
    };
    let parents = match name {
        None => cluster.list_objects(kind, Some(namespace), None).await?,
        Some(name) => vec![named_sync(cluster, kind, namespace, name).await?],
    };
    if parents.is_empty() {
        return Ok(Some(Tree::default()));
    }
    let inventory = reach(namespace, &parents);
    find_kinds(cluster, &mut kinds, &inventory.group_kinds).await?;
    let syncs: Vec<SyncView> = parents.iter().map(SyncView::read).collect();
    let selector = selector(&syncs);
    let (objects, unseen) =
        read_objects(cluster, &kinds, &inventory, &selector, concurrency).await?;
    Ok(Some(Tree {
        syncs: grow(syncs, objects),
        unseen,
    }))
}

/// Puts every object where it belongs.
fn grow(syncs: Vec<SyncView>, objects: Vec<Object>) -> Vec<SyncTree> {
    let mut members: BTreeMap<String, Vec<Object>> = syncs
        .iter()
        .map(|sync| (sync.applyset(), Vec::new()))
        .collect();
    let mut others = Vec::new();
    for object in objects {
        let set = object.live.applyset().filter(|_| !object.live.is_copy());
        match set.and_then(|set| members.get_mut(set)) {
            Some(members) => members.push(object),
            None => others.push(object),
        }
    }
    let mut children = Children::of(others);
    let mut grown = Vec::with_capacity(syncs.len());
    for sync in syncs {
        let members = members.remove(&sync.applyset()).unwrap_or_default();
        let mut members: Vec<Node> = members
            .into_iter()
            .map(|member| children.grow_member(member))
            .collect();
        members.sort_by(|a, b| a.id.cmp(&b.id));
        grown.push(SyncTree { sync, members });
    }
    grown
}
