//! Follows the files.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::read::read_once;
use super::{Configuration, Reading};
use crate::load::Diagnostic;
use crate::source::Limits;
use crate::source::watch::{Follower, Mode, Timing};

/// Reads the files again whenever they may have changed.
#[derive(Debug)]
pub struct Following {
    path: Arc<PathBuf>,
    own_namespace: Option<Arc<str>>,
    follower: Follower,
    /// Whether a change was noticed that is not read yet.
    is_due: bool,
    /// Whether the reading that comes next decides about what seems to be removed.
    is_sure: bool,
    last: Option<Configuration>,
}

/// So long a Sync must be missing before it counts as removed.
const SURE_AFTER: Duration = Duration::from_secs(2);

/// The same when a file has become empty: some programs take long from opening a file to writing it.
const SURE_IF_EMPTIED: Duration = Duration::from_secs(30);

impl Following {
    /// Follows a file or a folder, as [`read`](super::read()) takes them. Needs a tokio runtime.
    pub fn start(path: PathBuf, own_namespace: Option<&str>, timing: Timing) -> Self {
        Self {
            follower: Follower::start(path.clone(), &Limits::default(), timing),
            path: Arc::new(path),
            own_namespace: own_namespace.map(Arc::from),
            is_due: false,
            is_sure: false,
            last: None,
        }
    }

    /// Gives the first reading at once, and then each that says something else than the one before. May be cancelled without
    /// losing one.
    pub async fn next(&mut self) -> Configuration {
        loop {
            if !self.is_due {
                self.follower.changed().await;
                self.is_due = true;
            }
            let (path, namespace) = (Arc::clone(&self.path), self.own_namespace.clone());
            let reading =
                tokio::task::spawn_blocking(move || read_once(&path, namespace.as_deref()));
            let reading = reading.await.unwrap_or_else(|error| {
                Reading::failed(Diagnostic::file_error(
                    ".",
                    format!("read the files: {error}"),
                ))
            });
            self.is_due = false;
            let now = reading.after(self.last.as_ref());
            // What seems to have left may be about to be written again.
            if !now.removed.is_empty() && !self.is_sure {
                let known = self.last.as_ref().map(|last| &last.empty);
                let was_emptied = known.is_some_and(|known| !now.empty.is_subset(known));
                let pause = if was_emptied {
                    SURE_IF_EMPTIED
                } else {
                    SURE_AFTER
                };
                tokio::time::sleep(pause).await;
                (self.is_due, self.is_sure) = (true, true);
                continue;
            }
            self.is_sure = false;
            if !self
                .last
                .as_ref()
                .is_some_and(|last| now.says_the_same_as(last))
            {
                self.last = Some(now.clone());
                return now;
            }
        }
    }

    /// Tells how changes are noticed at present.
    pub fn mode(&self) -> Mode {
        self.follower.mode()
    }
}
