//! Where the watches meet: what one of them sees may matter to the others.

use super::changes::{Change, Pending};
use super::discovery::Discovery;

/// Takes what all watches see.
#[derive(Debug, Default)]
pub(in crate::cluster) struct Hub {
    pub(super) pending: Pending,
    pub(super) discovery: Discovery,
}

impl Hub {
    /// Takes a change.
    pub fn tell(&self, change: Change) {
        if change.id.group_kind.is_definition() {
            self.discovery.note_definition(&change.id.name);
        }
        self.pending.add(change);
    }
}
