//! What the configuration says now: defaults of all Syncs, namespaces, and the Syncs that it holds itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::Value;
use tokio::sync::watch;

use super::name::Name;
use super::sync::Defaults;
use crate::api::Config;
use crate::api::names::{APPLIED_DIGEST, APPLYSET_PART_OF};
use crate::cluster::{Cluster, ClusterError, Kind};
use crate::plan::{AgentImages, Live};
use crate::reconcile::Limits;
use crate::render::{AgentImage, stamp};

/// What the configuration says now. Readers never wait.
pub struct Configured(watch::Sender<Arc<Said>>);

/// What one reading of the configuration says.
#[derive(Clone, Debug)]
pub struct Said {
    /// For all Syncs.
    pub defaults: Defaults,
    /// The only namespaces whose Syncs and Targets are looked after; all of them when empty.
    pub namespaces: BTreeSet<String>,
    /// Syncs of the configuration, as they are to be in the cluster.
    pub syncs: BTreeMap<Name, Value>,
    /// Syncs that were in the configuration, have left it since, and may still be in the cluster.
    pub left: BTreeSet<Name>,
}

impl Configured {
    /// Starts with a reading.
    pub fn new(said: Said) -> Self {
        Self(watch::Sender::new(Arc::new(said)))
    }

    /// Takes a new reading. What left the files before is not forgotten by that.
    pub fn set(&self, mut said: Said) {
        let before = self.said();
        let left = before.left.iter();
        let left = left.filter(|name| !said.syncs.contains_key(name));
        said.left.extend(left.cloned());
        self.0.send_replace(Arc::new(said));
    }

    /// Makes a Sync of the configuration be in the cluster as it is there, or takes it away when it has left.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn keep(&self, cluster: &Cluster, name: &Name) -> Result<(), ClusterError> {
        let said = self.said();
        if said.left.contains(name) {
            take_away(cluster, name).await?;
            self.forget_left(name);
        } else if let Some(sync) = said.syncs.get(name) {
            apply(cluster, name, sync).await?;
        }
        Ok(())
    }

    /// Once it was taken away, who makes a Sync of that name again means it.
    fn forget_left(&self, name: &Name) {
        self.0.send_modify(|said| {
            Arc::make_mut(said).left.remove(name);
        });
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
    /// What a Config says for all Syncs of a controller that runs in a namespace.
    pub fn of(config: &Config, concurrency: usize, home: &str) -> Self {
        let agent_image =
            AgentImage::new(config.agent_image.clone(), config.agent_image_pull_policy);
        Self {
            cluster_domain: config
                .cluster_domain
                .clone()
                .unwrap_or_else(|| "cluster.local".into()),
            agent_images: AgentImages {
                default: agent_image,
                allowed: config.agent_images.clone(),
            },
            concurrency,
            directories: config.directories.clone(),
            allow_remote_bases: config.allow_remote_bases,
            service_account: config.default_service_account.clone(),
            home: home.to_owned(),
            limits: Limits::of(&config.limits),
        }
    }
}

async fn take_away(cluster: &Cluster, name: &Name) -> Result<(), ClusterError> {
    let kind = Kind::sync();
    let (namespace, name) = (Some(name.namespace.as_str()), name.name.as_str());
    let live = cluster.get_metadata(&kind, namespace, name).await?;
    // One in a set has come from a source since.
    let is_the_files = |live: &Live| {
        live.ours().is_some() && live.applyset().is_none() && live.deletion_timestamp.is_none()
    };
    if let Some(live) = live.filter(is_the_files) {
        tracing::info!("it has left the configuration and is deleted");
        cluster
            .delete(&kind, namespace, name, &live.expected())
            .await?;
    }
    Ok(())
}

async fn apply(cluster: &Cluster, name: &Name, sync: &Value) -> Result<(), ClusterError> {
    let mut object = sync.clone();
    stamp(&mut object, None);
    let live = cluster.sync(&name.namespace, &name.name).await?;
    if let Some(whose) = live.as_ref().and_then(somebody_elses) {
        return Err(ClusterError::Invalid(format!(
            "the configuration has a Sync {name}, but {whose}: that one stays as it is"
        )));
    }
    if !live.is_some_and(|live| holds(&live, &object)) {
        let _: Live = cluster.apply(&Kind::sync(), &object, true).await?;
        tracing::info!("it was applied from the configuration");
    }
    Ok(())
}

/// Says why a live Sync is not the configuration's to change, if so. What `covergence sync` keeps for itself is taken over.
fn somebody_elses(live: &Value) -> Option<&'static str> {
    let has = |pointer| live.pointer(pointer).is_some_and(|value| !value.is_null());
    let annotation = |key: &str| live.pointer("/metadata/annotations")?.get(key);
    let label = |key: &str| live.pointer("/metadata/labels")?.get(key);
    if label(APPLYSET_PART_OF).is_some() {
        return Some("one of that name is a member of another set");
    }
    if has("/metadata/ownerReferences/0") {
        return Some("one of that name belongs to a controller");
    }
    let is_followed = has("/spec/source");
    (is_followed && annotation(APPLIED_DIGEST).is_none())
        .then_some("somebody has made one of that name")
}

/// Tells whether a value has all that another one states; lists count as a whole.
fn holds(live: &Value, stated: &Value) -> bool {
    match (live, stated) {
        (Value::Object(live), Value::Object(stated)) => {
            stated.iter().all(|(key, value)| match live.get(key) {
                Some(live) => holds(live, value),
                // The server keeps none of them.
                None => value.is_null(),
            })
        }
        (live, stated) => live == stated,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn reading(syncs: &[&str], left: &[&str]) -> Said {
        let name = |name: &&str| Name {
            namespace: "n".into(),
            name: (*name).to_owned(),
        };
        Said {
            defaults: Defaults::of(&Config::default(), 1, "covergence-system"),
            namespaces: BTreeSet::new(),
            syncs: syncs.iter().map(|it| (name(it), json!({}))).collect(),
            left: left.iter().map(name).collect(),
        }
    }

    #[test]
    fn what_left_the_files_is_remembered_until_it_is_gone_or_back() {
        let configured = Configured::new(reading(&[], &["a", "b", "c"]));
        configured.set(reading(&["b"], &["d"]));
        let left = || -> Vec<String> {
            let said = configured.said();
            said.left.iter().map(|name| name.name.clone()).collect()
        };
        assert_eq!(left(), ["a", "c", "d"]);
        let gone = configured.said().left.iter().next().cloned();
        configured.forget_left(&gone.unwrap());
        configured.set(reading(&[], &[]));
        assert_eq!(left(), ["c", "d"]);
    }

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
