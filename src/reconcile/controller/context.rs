//! What all units of the controller share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;

use super::campaign::Harvest;
use super::configured::Configured;
use super::known::KnownSyncs;
use super::name::Name;
use super::queue::{Queue, Why};
use super::sync::{self, Entry, Reading};
use super::tended::Tended;
use crate::api::ObjectId;
use crate::cluster::{Cluster, ClusterError, EventRecorder, WriteGuard};
use crate::lease::Shards;
use crate::metrics::Metrics;
use crate::plan::Step;
use crate::reconcile::{Done, Outcome, applyset_id};

/// What is remembered of Syncs.
#[derive(Default)]
pub struct Entries {
    by_name: HashMap<Name, Arc<Entry>>,
    /// Names by the ids of apply sets.
    by_set: HashMap<String, Name>,
}

/// What all units of the controller share.
pub struct Context {
    /// The connection as ourselves. Its reads are answered from watches where they can be.
    pub cluster: Cluster,
    /// What is ours to look after.
    pub shards: Shards,
    /// What happened so far.
    pub metrics: Metrics,
    /// Tells people in the cluster.
    pub recorder: EventRecorder,
    /// What the configuration says.
    pub configured: Configured,
    /// How sources are read.
    pub reading: Reading,
    /// Ends everything.
    pub stop: CancellationToken,
    /// Syncs to look at.
    pub syncs: Queue<Name>,
    /// Which Syncs there are.
    pub known: KnownSyncs,
    /// Targets to look at.
    pub targets: Queue<Name>,
    /// What is remembered of the Syncs that this replica looks after.
    pub entries: Mutex<Entries>,
    /// Tells of objects that units have written: of those, no change tells.
    pub written: mpsc::UnboundedSender<ObjectId>,
    /// Asks for a look at everything.
    pub look_at_everything: Notify,
    /// What is remembered of the Targets that this replica looks after.
    pub tended: Tended,
    /// Campaigns to look at.
    pub campaigns: Queue<Name>,
    /// What is remembered of the Campaigns that this replica looks after.
    pub harvest: Harvest,
}

impl Context {
    /// Tells whether a Sync is this replica's to look after.
    pub fn looks_after_sync(&self, name: &Name) -> bool {
        self.configured.covers(&name.namespace) && self.shards.owns(&name.sync_shard())
    }

    /// Tells whether a Target is this replica's to look after.
    pub fn looks_after_target(&self, name: &Name) -> bool {
        self.configured.covers(&name.namespace) && self.shards.owns(&name.target_shard())
    }

    /// Tells whether a Campaign is this replica's to look after.
    pub fn looks_after_campaign(&self, name: &Name) -> bool {
        self.configured.covers(&name.namespace) && self.shards.owns(&name.campaign_shard())
    }

    /// What is remembered of a Sync; fresh when nothing is.
    pub fn entry(&self, name: &Name) -> Arc<Entry> {
        let mut entries = self.entries();
        let set = applyset_id(&name.namespace, &name.name);
        entries.by_set.insert(set, name.clone());
        Arc::clone(entries.by_name.entry(name.clone()).or_default())
    }

    /// What is remembered of a Sync, if anything.
    pub fn known_entry(&self, name: &Name) -> Option<Arc<Entry>> {
        self.entries().by_name.get(name).cloned()
    }

    /// The Sync of an apply set that this replica looks after, and what is remembered of it.
    pub fn entry_of_set(&self, applyset: &str) -> Option<(Name, Arc<Entry>)> {
        let entries = self.entries();
        let name = entries.by_set.get(applyset)?;
        Some((name.clone(), Arc::clone(entries.by_name.get(name)?)))
    }

    /// Forgets a Sync, and follows its source no more.
    pub fn forget(&self, name: &Name) {
        let mut entries = self.entries();
        entries
            .by_set
            .remove(&applyset_id(&name.namespace, &name.name));
        if entries.by_name.remove(name).is_some() {
            self.metrics.forget_sync(&name.namespace, &name.name);
        }
    }

    fn entries(&self) -> MutexGuard<'_, Entries> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells of what a step has written, since of that no change tells; at once, since a run may wait for what others make
    /// of it.
    pub fn note_written(&self, step: &Step, done: &Done) {
        let Done { outcome, .. } = done;
        if matches!(
            outcome,
            Outcome::Created | Outcome::Configured | Outcome::Deleted
        ) {
            // Nobody is left to be told when this fails.
            let _ = self.written.send(step.id.clone());
        }
    }

    /// Looks again at the Syncs that depend on this one.
    pub fn wake_dependants(&self, name: &Name) {
        let entries = self.entries();
        let depends = |entry: &Arc<Entry>| {
            entry
                .last
                .get()
                .is_some_and(|sync| sync::needs(&sync).contains(name))
        };
        for (other, _) in entries.by_name.iter().filter(|(_, entry)| depends(entry)) {
            self.syncs.add(other.clone(), Why::Look);
        }
    }

    /// A connection as a ServiceAccount, with its rights only, and watches of its own.
    ///
    /// # Errors
    /// When there can be no account of that name.
    pub fn as_account(
        &self,
        cluster: &Cluster,
        namespace: &str,
        account: &str,
    ) -> Result<Cluster, ClusterError> {
        cluster.as_service_account(namespace, account)
    }

    /// A connection that writes only as long as a unit is ours.
    pub fn guarded(&self, cluster: &Cluster, shard: String) -> Cluster {
        cluster.guarded(Arc::new(Ours {
            shards: self.shards.clone(),
            stop: self.stop.clone(),
            shard,
        }))
    }
}

/// A unit that we may write for while it is ours and nothing has told us to end.
struct Ours {
    shards: Shards,
    stop: CancellationToken,
    shard: String,
}

impl WriteGuard for Ours {
    fn permit(&self) -> Option<Box<dyn Send>> {
        if self.stop.is_cancelled() {
            return None;
        }
        let permit = self.shards.permit(&self.shard)?;
        Some(Box::new(permit))
    }
}
