//! What the controller remembers of Campaigns: which have failed, and what is stored nowhere yet.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::coverage::Store;
use crate::reconcile::controller::backoff::Backoff;
use crate::reconcile::controller::name::Name;
use crate::storage::Storage;

/// What the controller remembers of Campaigns.
#[derive(Default)]
pub struct Harvest(Mutex<Memory>);

#[derive(Default)]
struct Memory {
    failed: HashMap<Name, Backoff>,
    unstored: HashMap<Name, Unstored>,
}

/// What agents have told and forgotten, and no file has yet.
#[derive(Clone)]
pub struct Unstored {
    /// What it is.
    pub data: Arc<Store>,
    /// Where it belongs.
    pub storage: Storage,
}

impl Harvest {
    /// Notes that a Campaign is as it is to be, or not ours.
    pub fn forget_failures(&self, name: &Name) {
        self.memory().failed.remove(name);
    }

    /// Notes that a Campaign is not as it is to be, and says when to try again.
    pub fn try_again(&self, name: &Name) -> Duration {
        let mut memory = self.memory();
        memory.failed.entry(name.clone()).or_default().next()
    }

    /// Keeps what is stored nowhere yet.
    pub fn keep(&self, name: &Name, unstored: Unstored) {
        self.memory().unstored.insert(name.clone(), unstored);
    }

    /// What is stored nowhere yet, if anything.
    pub fn unstored(&self, name: &Name) -> Option<Unstored> {
        self.memory().unstored.get(name).cloned()
    }

    /// Notes that it is stored.
    pub fn stored(&self, name: &Name) {
        self.memory().unstored.remove(name);
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
