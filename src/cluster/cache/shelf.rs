//! All watches that keep the same of their objects.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio_util::task::AbortOnDropHandle;

use super::followed::Followed;
use super::keeper::Keeper;
use super::kept::{Kept, Written};
use super::source::Source;
use super::topic::{Topic, TopicKey};
use super::{Cache, Watches, locked};
use crate::api::{GroupKind, ObjectId};
use crate::cluster::Cluster;
use crate::cluster::identity::Identity;
use crate::cluster::watch::follow;

/// Watches by whose they are and what they are about. Each sees what its user may see, and nobody else is told.
pub(in crate::cluster) struct Shelf<T: Kept>(Mutex<HashMap<Key, Running<T>>>);

/// Whose watch it is, and what it is about.
type Key = (Arc<Identity>, TopicKey);

/// A watch, and what keeps it up.
struct Running<T: Kept> {
    followed: Arc<Followed<T>>,
    _task: AbortOnDropHandle<()>,
}

impl<T: Kept> Default for Shelf<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Kept> Shelf<T> {
    /// Gives a watch, which starts now if it has not been started yet.
    pub fn ask(&self, cache: &Cache, cluster: &Cluster, topic: Topic) -> Arc<Followed<T>> {
        let key = (Arc::clone(&cluster.identity), topic.key());
        let mut running = locked(&self.0);
        let found = running.entry(key).or_insert_with(|| {
            let keeper = Keeper {
                selection: topic.selection,
                shared: Arc::clone(&cache.shared),
            };
            let hub = Arc::clone(&cache.hub);
            let followed = Arc::new(Followed::new(topic.clone(), keeper.clone(), hub));
            let source = Source::new(cluster.without_cache(), cache.client.clone(), topic, keeper);
            let sink = Arc::clone(&followed);
            let task = tokio::spawn(async move { follow(&source, &*sink).await });
            Running {
                followed,
                _task: AbortOnDropHandle::new(task),
            }
        });
        found.followed.note_asked();
        Arc::clone(&found.followed)
    }

    /// Puts what a write was answered with where it belongs: others see that it is so as well.
    pub fn note_written(&self, kind: &GroupKind, answer: &Written) {
        for running in locked(&self.0).values() {
            running.followed.note_written(kind, answer);
        }
    }

    /// Takes out what a delete has ended.
    pub fn note_deleted(&self, id: &ObjectId, uid: &str) {
        for running in locked(&self.0).values() {
            running.followed.note_deleted(id, uid);
        }
    }

    /// Stops watches that nobody has asked for in a while.
    pub fn stop_unused(&self, since: Duration) {
        locked(&self.0).retain(|_, running| running.followed.asked_within(since));
    }

    /// Counts the watches of all users.
    pub fn count(&self, watches: &mut Watches) {
        for running in locked(&self.0).values() {
            running.followed.count(watches);
        }
    }

    /// Says which watches of a user are not synced, and why.
    pub fn unsynced(&self, identity: &Identity) -> Vec<String> {
        locked(&self.0)
            .iter()
            .filter(|((whose, _), _)| **whose == *identity)
            .filter_map(|(_, running)| running.followed.unsynced())
            .collect()
    }
}
