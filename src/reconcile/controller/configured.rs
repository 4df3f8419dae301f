//! What the configuration says now: defaults of all Syncs, namespaces, and the Syncs that it holds itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;

use super::name::Name;
use super::sync::Defaults;
use crate::api::Config;
use crate::cluster::{Cluster, ClusterError, Kind};
use crate::plan::Live;
use crate::render::stamp;

/// What the configuration says now. Readers never wait.
pub struct Configured(watch::Sender<Arc<Said>>);

/// What one reading of the configuration says.
#[derive(Debug)]
pub struct Said {
    /// For all Syncs.
    pub defaults: Defaults,
    /// The only namespaces whose Syncs and Targets are looked after; all of them when empty.
    pub namespaces: BTreeSet<String>,
    /// Syncs of the configuration, as they are to be in the cluster.
    pub syncs: BTreeMap<Name, Value>,
    /// Syncs that were in the configuration and have left it since.
    pub left: BTreeSet<Name>,
}

impl Said {
    /// What has left by an earlier reading has still left: the cluster may not have been told of it yet.
    pub fn remember(&mut self, before: &Self) {
        let left = before.left.iter();
        let left = left.filter(|name| !self.syncs.contains_key(name));
        self.left.extend(left.cloned());
    }
}

impl Configured {
    /// Starts with a reading.
    pub fn new(said: Said) -> Self {
        Self(watch::Sender::new(Arc::new(said)))
    }

    /// Takes a new reading.
    pub fn set(&self, said: Said) {
        self.0.send_replace(Arc::new(said));
    }

    /// What the last reading says.
    pub fn said(&self) -> Arc<Said> {
        Arc::clone(&self.0.borrow())
    }

    /// Tells whether Syncs and Targets of a namespace are looked after.
    pub fn covers(&self, namespace: &str) -> bool {
        let said = self.said();
        said.namespaces.is_empty() || said.namespaces.contains(namespace)
    }
}

impl Defaults {
    /// What a Config says for all Syncs.
    pub fn of(config: &Config, concurrency: usize) -> Self {
        Self {
            cluster_domain: config
                .cluster_domain
                .clone()
                .unwrap_or_else(|| "cluster.local".into()),
            concurrency,
            directories: config.directories.clone(),
            service_account: config.default_service_account.clone(),
        }
    }
}

/// Makes a Sync of the configuration be in the cluster as it is there, or takes it away when it has left.
///
/// # Errors
/// As the server answers.
pub async fn keep(cluster: &Cluster, said: &Said, name: &Name) -> Result<(), ClusterError> {
    let kind = Kind::sync();
    let (namespace, own) = (Some(name.namespace.as_str()), name.name.as_str());
    if said.left.contains(name) {
        let Some(live) = cluster.get_metadata(&kind, namespace, own).await? else {
            return Ok(());
        };
        // One that is a member is another Sync's now, as when it was moved from the configuration into a source.
        let is_ours = live.ours().is_some() && live.applyset().is_none();
        if is_ours && live.deletion_timestamp.is_none() {
            tracing::info!("it has left the configuration and is deleted");
            cluster
                .delete(&kind, namespace, own, &live.expected())
                .await?;
        }
        return Ok(());
    }
    let Some(sync) = said.syncs.get(name) else {
        return Ok(());
    };
    let mut object = sync.clone();
    stamp(&mut object, None);
    let live = cluster.sync(&name.namespace, own).await?;
    if !live.is_some_and(|live| holds(&live, &object)) {
        let _: Live = cluster.apply(&kind, &object, true).await?;
        tracing::info!("it was applied from the configuration");
    }
    Ok(())
}

/// Tells whether a value has all that another one states; lists count as a whole.
fn holds(live: &Value, stated: &Value) -> bool {
    match (live, stated) {
        (Value::Object(live), Value::Object(stated)) => stated
            .iter()
            .all(|(key, value)| live.get(key).is_some_and(|live| holds(live, value))),
        (live, stated) => live == stated,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_others_add_is_theirs_and_what_they_change_is_not() {
        let stated = json!({ "spec": { "prune": true, "dependsOn": [{ "name": "a" }] } });
        let live = |spec| holds(&json!({ "kind": "Sync", "spec": spec }), &stated);
        assert!(live(
            json!({ "prune": true, "suspend": true, "dependsOn": [{ "name": "a" }] })
        ));
        assert!(!live(
            json!({ "prune": false, "dependsOn": [{ "name": "a" }] })
        ));
        assert!(!live(json!({ "prune": true, "dependsOn": [] })));
        assert!(!live(json!({ "prune": true })));
    }
}
