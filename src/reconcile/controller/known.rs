//! Which Syncs there are, for those who only want to know that.

use std::collections::HashSet;
use std::sync::{Arc, PoisonError, RwLock};

use super::name::Name;

/// Which Syncs there are, whoever looks after them. Clones share it.
#[derive(Clone, Default)]
pub struct KnownSyncs(Arc<RwLock<HashSet<Name>>>);

impl KnownSyncs {
    /// Tells whether there is a Sync of that name.
    pub fn contains(&self, name: &Name) -> bool {
        self.0
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .contains(name)
    }

    /// Notes whether a Sync is there.
    pub(super) fn note(&self, name: Name, is_there: bool) {
        let mut names = self.0.write().unwrap_or_else(PoisonError::into_inner);
        if is_there {
            names.insert(name);
        } else {
            names.remove(&name);
        }
    }
}
