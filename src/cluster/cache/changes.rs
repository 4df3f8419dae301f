//! What has changed in the cluster, for whoever decides what is to be looked at again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use super::locked;
use crate::api::ObjectId;
use crate::plan::Live;

/// An object that has changed, other than by what this process wrote itself.
///
/// Of objects that are nothing to us (Deployments that only Targets refer to, EndpointSlices) just identity and version
/// are told, and the labels that say whose they are.
#[derive(Clone, Debug)]
pub struct Change {
    /// Which one.
    pub id: ObjectId,
    /// Its metadata before; absent when it was not there, or not among what is watched.
    pub before: Option<Arc<Live>>,
    /// Its metadata now; absent when it is gone.
    pub after: Option<Arc<Live>>,
}

/// Changes that nobody has taken yet: one for each object, however often it changes meanwhile. So a watch never waits
/// for who is slow, none is lost, and there are never more than there are objects.
#[derive(Debug, Default)]
pub(super) struct Pending {
    changes: Mutex<HashMap<ObjectId, Change>>,
    some: Notify,
}

impl Pending {
    pub fn add(&self, change: Change) {
        locked(&self.changes)
            .entry(change.id.clone())
            .and_modify(|known| known.after.clone_from(&change.after))
            .or_insert(change);
        self.some.notify_one();
    }
}

/// The changes of a cluster, for one reader.
pub struct Changes(pub(super) Arc<super::hub::Hub>);

impl Changes {
    /// Waits for changes and takes all there are.
    pub async fn next(&mut self) -> Vec<Change> {
        let pending = &self.0.pending;
        loop {
            let changes = std::mem::take(&mut *locked(&pending.changes));
            if !changes.is_empty() {
                return changes.into_values().collect();
            }
            pending.some.notified().await;
        }
    }
}
