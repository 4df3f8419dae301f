//! The policy that the objects make, read anew only when they change.

use std::sync::{Arc, Mutex, PoisonError};

use super::{GROUP, Policy};
use crate::store::{Change, Store};

/// The policy of a version of the store.
#[derive(Debug, Default)]
pub struct Cache(Mutex<Option<(u64, Arc<Policy>)>>);

impl Cache {
    /// The policy of the store as it is.
    pub fn current(&self, store: &Store) -> Arc<Policy> {
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let policy = match cached.take() {
            Some((version, policy)) if !is_stale(store, version) => policy,
            _ => Arc::new(Policy::read(store)),
        };
        *cached = Some((store.version(), policy.clone()));
        policy
    }
}

/// Tells whether roles or bindings changed after a version. Each change is looked at once.
fn is_stale(store: &Store, version: u64) -> bool {
    let concerns = |change: &Change| {
        let group = change.key.resource.split_once('.').map(|(_, group)| group);
        group == Some(GROUP)
    };
    match store.since(version) {
        Some(mut changes) => changes.any(concerns),
        None => true,
    }
}
