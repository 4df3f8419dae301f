//! "Something changed": follows a directory or a file of the file system.
//!
//! The follower never says what has changed, only that it is time to look again; what belongs to a source is for
//! [`directory::read`](super::directory::read) to say. It looks at the tree by the reader's own rule (`walk`), so that both see
//! the same links, limits and hidden names.

mod hub;
mod interests;
mod look;
mod mounts;
mod quiet;
mod scan;
mod watches;

use std::fmt;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, watch};
use tokio::time::sleep;

use look::Lookout;

use super::Limits;
use super::directory::DirectorySource;

/// When a follower speaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Timing {
    /// How long nothing must happen before a change is told: a save or a checkout is several events.
    pub quiet: Duration,
    /// How long a change is held back at most, however much goes on.
    pub longest: Duration,
    /// How often the tree is looked at when the kernel does not tell of changes.
    pub poll: Duration,
    /// How often it is looked at when the kernel does: what is written through a hard link or a mount goes untold.
    pub rescan: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            // An editor's rename, delete and write are less than a millisecond apart.
            quiet: Duration::from_millis(50),
            // People wait for it.
            longest: Duration::from_millis(500),
            // To look at 1,000 files takes some milliseconds.
            poll: Duration::from_secs(3),
            rescan: Duration::from_secs(300),
        }
    }
}

/// How a follower learns of changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mode {
    /// The kernel tells of them.
    Notified,
    /// It looks every few seconds, for this reason.
    Polling(Reason),
}

/// Why the kernel does not tell of changes, and what to do about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// `inotify_add_watch` says ENOSPC.
    NoWatches,
    /// `inotify_init` says EMFILE.
    NoInstances,
    /// inotify fails in another way: its words.
    Unavailable(String),
    /// The file system, of this type, is written by other machines.
    Remote(String),
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoWatches => {
                f.write_str("no inotify watch is left; raise the sysctl fs.inotify.max_user_watches")
            }
            Self::NoInstances => f.write_str(
                "no inotify instance is left; raise the sysctl fs.inotify.max_user_instances, or the limit of open files",
            ),
            Self::Unavailable(why) => write!(f, "inotify cannot be used: {why}"),
            Self::Remote(kind) => {
                write!(f, "a {kind} file system does not tell what other machines change")
            }
        }
    }
}

/// Follows one path until it is dropped.
#[derive(Debug)]
pub struct Follower {
    changes: Arc<Notify>,
    /// The only one: without it, following ends.
    mode: watch::Receiver<Mode>,
}

impl Follower {
    /// Follows a directory with all that is below it, or a file. The path need not exist yet, and may become another one:
    /// deleted, recreated, renamed over, or behind links that are swapped.
    ///
    /// Looks no further than `limits` let its reader. Needs a tokio runtime.
    pub fn start(source: impl Into<DirectorySource>, limits: &Limits, timing: Timing) -> Self {
        let changes = Arc::new(Notify::new());
        let (tell_mode, mode) = watch::channel(Mode::Notified);
        tokio::spawn(follow(
            source.into(),
            limits.clone(),
            timing,
            Arc::clone(&changes),
            tell_mode,
        ));
        Self { changes, mode }
    }

    /// Waits until the path may have changed since the last call.
    ///
    /// The first call returns as soon as changes are noticed, so that `loop { changed().await; read() }` misses none. May be
    /// cancelled without losing one.
    pub async fn changed(&mut self) {
        self.changes.notified().await;
    }

    /// Tells how changes are noticed at present.
    pub fn mode(&self) -> Mode {
        self.mode.borrow().clone()
    }
}

async fn follow(
    source: DirectorySource,
    limits: Limits,
    timing: Timing,
    changes: Arc<Notify>,
    mode: watch::Sender<Mode>,
) {
    let bell = Arc::new(Notify::new());
    let mut lookout = Lookout::new(source, limits, Arc::clone(&bell));
    let mut is_news = true;
    loop {
        let looked = tokio::task::spawn_blocking(move || {
            let differs = lookout.look();
            (lookout, differs)
        });
        let differs;
        match looked.await {
            Ok(done) => (lookout, differs) = done,
            Err(error) => {
                tracing::error!(%error, "a directory is not followed any more");
                return;
            }
        }
        tell(&mode, &lookout);
        if is_news || differs {
            changes.notify_one();
        }
        let interval = match lookout.mode() {
            Mode::Notified => spread(timing.rescan),
            Mode::Polling(_) => spread(timing.poll),
        };
        is_news = tokio::select! {
            biased;
            () = mode.closed() => break,
            () = bell.notified() => {
                quiet::wait(&bell, &timing).await;
                true
            }
            () = sleep(interval) => false,
        };
    }
    // To take the watches back blocks.
    tokio::task::spawn_blocking(move || drop(lookout));
}

fn tell(mode: &watch::Sender<Mode>, lookout: &Lookout) {
    let now = lookout.mode();
    let is_other = mode.send_if_modified(|before| {
        let is_other = *before != now;
        *before = now.clone();
        is_other
    });
    if let (true, Mode::Polling(reason)) = (is_other, now) {
        let path = lookout.path().display();
        tracing::warn!(%path, "looking for changes every few seconds: {reason}");
    }
}

/// Makes an interval up to a tenth longer, so that followers started together do not look together for ever.
fn spread(interval: Duration) -> Duration {
    let part = RandomState::new().hash_one(()) % 100;
    interval + interval * u32::try_from(part).unwrap_or_default() / 1000
}

#[cfg(test)]
mod tests;
