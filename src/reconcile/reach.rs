//! Syncs that are looked at, and where their members are.

use serde_json::Value;

use super::inventory::Inventory;
use super::overview::SyncView;
use crate::api::names::APPLYSET_PART_OF;
use crate::cluster::{Cluster, ClusterError, Kind};

/// Reads a Sync that somebody named.
///
/// # Errors
/// As the server answers, and when it is not there.
pub async fn named_sync(
    cluster: &Cluster,
    kind: &Kind,
    namespace: &str,
    name: &str,
) -> Result<Value, ClusterError> {
    let found = cluster.get(kind, Some(namespace), name).await?;
    found.ok_or_else(|| ClusterError::NotFound(format!("there is no Sync {namespace}/{name}")))
}

/// Where the members of some Syncs of a namespace may be.
pub fn reach(namespace: &str, syncs: &[Value]) -> Inventory {
    let inventories = syncs.iter().map(|sync| Inventory::read(Some(sync)));
    let mut all = inventories.fold(Inventory::default(), |all, one| all.union(&one));
    all.namespaces.insert(namespace.to_owned());
    all
}

/// Selects the members of some Syncs. For several these are the members of all sets: a list of the sets may be too long
/// for a request.
pub fn selector(syncs: &[SyncView]) -> String {
    match syncs {
        [sync] => format!("{APPLYSET_PART_OF}={}", sync.applyset()),
        _ => APPLYSET_PART_OF.to_owned(),
    }
}
