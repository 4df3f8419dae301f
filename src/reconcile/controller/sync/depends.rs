//! `dependsOn`: Syncs that must be ready first.

use super::live::LiveSync;
use crate::api::sync::SyncRef;
use crate::cluster::{Cluster, ClusterError};
use crate::reconcile::controller::name::Name;
use crate::reconcile::controller::problem::Problem;

/// More Syncs than anybody chains; a longer chain is not followed further in search of a circle.
const LONGEST: usize = 100;

/// Reads a Sync as the cluster has it now.
///
/// # Errors
/// As the server answers.
pub async fn read(cluster: &Cluster, name: &Name) -> Result<Option<LiveSync>, ClusterError> {
    let found = cluster.sync(&name.namespace, &name.name).await?;
    Ok(found.as_ref().and_then(LiveSync::read))
}

/// What matters of a Sync to those that depend on it: which one it is, what it asks for, and whether that is so, or will not
/// be by itself.
pub type Standing = Option<(String, Option<i64>, bool, bool)>;

/// Reads what matters of a Sync to those that depend on it; nothing when it is not there or cannot be read.
pub async fn standing(cluster: &Cluster, name: &Name) -> Standing {
    let sync = read(cluster, name).await.ok()??;
    let (is_ready, is_stalled) = (sync.is_ready(), sync.is_stalled());
    Some((sync.uid, sync.generation, is_ready, is_stalled))
}

/// Names the Syncs that a Sync depends on.
pub fn needs(sync: &LiveSync) -> Vec<Name> {
    let of = |reference: &SyncRef| Name {
        namespace: reference
            .namespace
            .clone()
            .unwrap_or_else(|| sync.name.namespace.clone()),
        name: reference.name.clone(),
    };
    let spec = sync.spec.as_ref().ok();
    spec.map_or(Vec::new(), |spec| spec.depends_on.iter().map(of).collect())
}

/// Says what a Sync has to wait for, if anything.
///
/// # Errors
/// As the server answers.
pub async fn waits_for(
    cluster: &Cluster,
    sync: &LiveSync,
) -> Result<Option<Problem>, ClusterError> {
    for need in needs(sync) {
        let Some(found) = read(cluster, &need).await? else {
            let message = format!("it depends on Sync {need}, which does not exist");
            return Ok(Some(Problem::passing("DependencyNotReady", message)));
        };
        let ready = found.is_ready();
        if let Some(circle) = circle(cluster, sync, found).await? {
            let message = format!("dependsOn goes round in a circle: {circle}");
            return Ok(Some(Problem::stalled("DependencyCycle", message)));
        }
        if !ready {
            let message = format!("it depends on Sync {need}, which is not ready");
            return Ok(Some(Problem::passing("DependencyNotReady", message)));
        }
    }
    Ok(None)
}

/// Follows what a needed Sync needs itself; tells the way when it leads back.
async fn circle(
    cluster: &Cluster,
    start: &LiveSync,
    first: LiveSync,
) -> Result<Option<String>, ClusterError> {
    let mut ways = vec![(format!("{} -> {}", start.name, first.name), first)];
    let mut seen = Vec::new();
    while let Some((way, sync)) = ways.pop() {
        if sync.name == start.name {
            return Ok(Some(way));
        }
        if seen.contains(&sync.name) || seen.len() > LONGEST {
            continue;
        }
        for need in needs(&sync) {
            if let Some(next) = read(cluster, &need).await? {
                ways.push((format!("{way} -> {}", next.name), next));
            }
        }
        seen.push(sync.name);
    }
    Ok(None)
}
