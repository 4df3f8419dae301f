//! Looks at a tree again and again, and has the kernel tell of changes in between where it can.

use std::hash::RandomState;
use std::path::{self, Path};
use std::sync::Arc;

use tokio::sync::Notify;

use super::mounts::remote_type;
use super::scan::scan;
use super::watches::Watches;
use super::{Mode, Reason};
use crate::source::Limits;
use crate::source::directory::DirectorySource;

/// A path, and what was last seen there.
pub(super) struct Lookout {
    source: DirectorySource,
    limits: Limits,
    keys: RandomState,
    watches: Result<Watches, Reason>,
    remote: Option<String>,
    fingerprint: Option<u64>,
}

impl Lookout {
    pub(super) fn new(source: DirectorySource, limits: Limits, bell: Arc<Notify>) -> Self {
        // Fails for the empty path, which stays what it is: nothing.
        let path = path::absolute(&source.path).unwrap_or_else(|_| source.path.clone());
        Self {
            source: DirectorySource { path, ..source },
            // Contents are not read, so that only names need a bound; `entries` and `depth` give it.
            limits: Limits {
                files: usize::MAX,
                ..limits
            },
            keys: RandomState::new(),
            watches: Watches::new(bell),
            remote: None,
            fingerprint: None,
        }
    }

    /// Looks, and tells whether anything is other than the last time. Blocks.
    pub(super) fn look(&mut self) -> bool {
        let (source, limits) = (&self.source, &self.limits);
        let seen = scan(source, limits, &self.keys, &mut |directory, name| {
            if let Ok(watches) = &mut self.watches {
                watches.arm(directory, name);
            }
        });
        // A part of the tree is not worth the watches it takes.
        if let Ok(watches) = &mut self.watches
            && let Err(reason) = watches.end_look()
        {
            self.watches = Err(reason);
        }
        self.remote = seen.device.and_then(remote_type);
        self.fingerprint.replace(seen.fingerprint) != Some(seen.fingerprint)
    }

    pub(super) fn mode(&self) -> Mode {
        match (&self.watches, &self.remote) {
            (Err(reason), _) => Mode::Polling(reason.clone()),
            (Ok(_), Some(kind)) => Mode::Polling(Reason::Remote(kind.clone())),
            (Ok(_), None) => Mode::Notified,
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.source.path
    }
}
