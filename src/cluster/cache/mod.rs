//! Answers reads from watches, so that an unchanged cluster is asked for nothing.
//!
//! A watch starts when something is first read that it can answer, and is waited for. Each user has watches of his own
//! and sees in them what he may see. Where he may not watch the whole cluster, there is one for each namespace.

mod answers;
mod changes;
mod discovery;
mod followed;
mod hub;
mod keeper;
mod kept;
mod shared;
mod shelf;
mod source;
mod store;
#[cfg(test)]
mod store_tests;
mod topic;

use std::collections::BTreeSet;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use kube::Client;

pub use self::answers::NamespaceState;
pub use self::changes::{Change, Changes};
use self::followed::Followed;
use self::hub::Hub;
pub(super) use self::hub::Writing;
use self::keeper::Keeper;
use self::kept::Whole;
pub(super) use self::kept::{Kept, Object, Written};
use self::shared::Shared;
use self::shelf::Shelf;
pub(super) use self::topic::{Selection, Topic};
use super::endpoints::Slice;
use super::targets::SeenTarget;
use super::watch::SILENCE;
use super::{Cluster, ClusterError, Kind};
use crate::api::{ObjectId, Scope};
use crate::plan::Live;

/// The watches of a process.
pub(super) struct Cache {
    /// Who watches what is everybody's.
    owner: Cluster,
    /// For watches: its connections may be silent for long.
    client: Client,
    objects: Shelf<Object>,
    targets: Shelf<SeenTarget>,
    syncs: Shelf<Whole>,
    slices: Shelf<Slice>,
    hub: Arc<Hub>,
    shared: Arc<Shared>,
}

/// How far watches are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Watches {
    /// Their first list is under way.
    pub syncing: usize,
    /// They follow changes.
    pub synced: usize,
    /// They wait before they try again.
    pub failing: usize,
    /// How often any had to list again.
    pub relisted: u64,
}

impl Cluster {
    /// The same API server, whose reads are answered from watches where that is possible, and what the watches see.
    /// All that is made from it shares them. Whoever is to be told of its requests, or is to limit them, comes first:
    /// what is watched for all users is asked for as this cluster would.
    ///
    /// # Errors
    /// When the configuration cannot be used.
    pub fn watching(&self) -> Result<(Self, Changes), ClusterError> {
        let hub = Arc::default();
        let cache = Cache {
            owner: self.without_cache(),
            client: self.patient_client(SILENCE)?,
            objects: Shelf::default(),
            targets: Shelf::default(),
            syncs: Shelf::default(),
            slices: Shelf::default(),
            hub: Arc::clone(&hub),
            shared: Arc::default(),
        };
        let cluster = Self {
            cache: Some(Arc::new(cache)),
            ..self.clone()
        };
        Ok((cluster, Changes(hub)))
    }

    /// Checks that all that is watched for the user of the connection himself is known. A watch that he may not have is
    /// told to who reads, and not here.
    ///
    /// # Errors
    /// Which watches are not there yet, and why.
    pub fn synced(&self) -> Result<(), Vec<String>> {
        let unsynced = self.cache.as_ref().map(|cache| cache.unsynced());
        match unsynced.filter(|unsynced| !unsynced.is_empty()) {
            Some(unsynced) => Err(unsynced),
            None => Ok(()),
        }
    }

    /// Counts the watches of all users.
    pub fn watches(&self) -> Watches {
        let counted = self.cache.as_ref().map(|cache| cache.count());
        counted.unwrap_or_default()
    }

    /// Stops watches that nothing has been read from in a while: the last member of their kind is gone, or the last Sync
    /// of their user. Whoever calls this must have read all that is still of interest since.
    pub fn stop_unused(&self, since: Duration) {
        if let Some(cache) = &self.cache {
            cache.objects.stop_unused(since);
            cache.targets.stop_unused(since);
            cache.syncs.stop_unused(since);
            cache.slices.stop_unused(since);
        }
    }

    /// The watches, if there are any and the kind can be watched.
    pub(super) fn cache_of(&self, kind: &Kind) -> Option<&Cache> {
        self.cache.as_deref().filter(|_| kind.watchable)
    }

    /// The same, with every read answered by the server. A watch has no guard either: it does not write.
    fn without_cache(&self) -> Self {
        Self {
            cache: None,
            guard: None,
            ..self.clone()
        }
    }
}

impl Cache {
    /// Gives the watches that know all objects of a kind, in these namespaces at least, once they do.
    async fn synced<T: Kept>(
        &self,
        cluster: &Cluster,
        kind: &Kind,
        selection: Selection,
        namespaces: &BTreeSet<String>,
    ) -> Result<Vec<Arc<Followed<T>>>, ClusterError> {
        let topic = |namespace: Option<&String>| Topic {
            kind: kind.clone(),
            selection,
            namespace: namespace.cloned(),
        };
        let ask = |namespace| T::shelf(self).ask(self, cluster, topic(namespace));
        if kind.is_ours() {
            // A kind that is not there yet is tried again as soon as it is defined.
            self.definitions();
        }
        let everywhere = ask(None);
        match everywhere.synced().await {
            Ok(()) => return Ok(vec![everywhere]),
            // Not allowed in the whole cluster, but perhaps where it matters.
            Err(ClusterError::Forbidden(_))
                if kind.scope == Scope::Namespaced && !namespaces.is_empty() => {}
            Err(error) => return Err(error),
        }
        let each: Vec<_> = namespaces.iter().map(Some).map(ask).collect();
        for followed in &each {
            followed.synced().await?;
        }
        Ok(each)
    }

    /// Tells whether definitions are watched, once it is known. Who asks for kinds waits for that, so that no change can
    /// fall between the answer and the watch.
    async fn watches_definitions(&self) -> bool {
        self.definitions().synced().await.is_ok()
    }

    fn definitions(&self) -> Arc<Followed<Object>> {
        let topic = Topic {
            kind: Kind::definition(),
            selection: Selection::Presence,
            namespace: None,
        };
        self.objects.ask(self, &self.owner, topic)
    }

    fn unsynced(&self) -> Vec<String> {
        let whose = &self.owner.identity;
        let mut unsynced = self.objects.unsynced(whose);
        unsynced.extend(self.targets.unsynced(whose));
        unsynced.extend(self.syncs.unsynced(whose));
        unsynced.extend(self.slices.unsynced(whose));
        unsynced.sort_unstable();
        unsynced
    }

    fn count(&self) -> Watches {
        let mut watches = Watches {
            relisted: self.hub.relisted.load(Ordering::Relaxed),
            ..Watches::default()
        };
        self.objects.count(&mut watches);
        self.targets.count(&mut watches);
        self.syncs.count(&mut watches);
        self.slices.count(&mut watches);
        watches
    }

    /// Keeps the metadata of what was read beside the watches.
    pub fn keep_metadata(&self, live: Live) -> Arc<Live> {
        let keeper = Keeper {
            selection: Selection::All,
            shared: Arc::clone(&self.shared),
        };
        keeper.metadata(live)
    }

    /// Is told that an object is about to be written.
    pub fn begin_write(&self, id: &ObjectId) -> Writing {
        self.hub.begin_write(id.clone())
    }

    /// Takes what a write was answered with, so that it is no news when a watch tells of it.
    pub fn note_written(&self, writing: &Writing, answer: &Written) {
        let kind = &writing.id().group_kind;
        self.objects.note_written(kind, answer);
        self.targets.note_written(kind, answer);
        self.syncs.note_written(kind, answer);
        writing.made(&answer.metadata.resource_version);
    }

    /// Takes it that the object is gone.
    pub fn note_deleted(&self, writing: &Writing, uid: &str) {
        let id = writing.id();
        self.objects.note_deleted(id, uid);
        self.targets.note_deleted(id, uid);
        self.syncs.note_deleted(id, uid);
        writing.deleted(uid);
    }
}

/// What one of our own panics left behind is still a map of objects.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
