//! The directories that the kernel tells one follower about.

use std::ffi::OsStr;
use std::mem::{replace, take};
use std::path::Path;
use std::sync::Arc;

use tokio::sync::Notify;

use super::Reason;
use super::hub::{Hub, Listener};
use super::interests::Interests;

/// A follower's share of the hub's watches, until it is dropped, which blocks.
///
/// Each look arms every directory anew: to do that twice is harmless, and whichever of them was replaced since, the new one is
/// watched.
pub(super) struct Watches {
    hub: Arc<Hub>,
    /// Hears of what the look at hand and the one before have armed.
    listener: Arc<Listener>,
    /// What the look at hand has armed.
    armed: Interests,
    failure: Option<Reason>,
}

impl Watches {
    /// Makes the bell ring at each change of what is armed.
    pub(super) fn new(bell: Arc<Notify>) -> Result<Self, Reason> {
        Ok(Self {
            hub: Hub::shared()?,
            listener: Arc::new(Listener::new(bell)),
            armed: Interests::default(),
            failure: None,
        })
    }

    /// Asks to be told of one name in a directory, or of everything in it.
    pub(super) fn arm(&mut self, directory: &Path, name: Option<&OsStr>) {
        if self.failure.is_some() {
            return;
        }
        self.listener.interests().add(directory, name);
        if self.armed.add(directory, name) {
            self.failure = self.hub.watch(directory, &self.listener).err();
        }
    }

    /// Ends a look: what it did not arm is of no interest any more.
    pub(super) fn end_look(&mut self) -> Result<(), Reason> {
        let armed = take(&mut self.armed);
        self.keep(armed);
        self.failure.take().map_or(Ok(()), Err)
    }

    fn keep(&self, kept: Interests) {
        let gone = {
            let mut interests = self.listener.interests();
            let before = replace(&mut *interests, kept);
            before.beyond(&interests)
        };
        for directory in gone {
            self.hub.unwatch(&directory, &self.listener);
        }
    }
}

impl Drop for Watches {
    fn drop(&mut self) {
        self.keep(Interests::default());
    }
}
