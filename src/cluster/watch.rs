//! List and watch: follows the objects of a kind, and never loses what it knows to a broken connection.

use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use futures_util::{Stream, StreamExt};
use tokio::time::{Instant, sleep, timeout};

use super::ClusterError;
use super::read::Listed;

/// A trouble that passes: enough for a server to come back between two tries, and soon enough that nobody waits long.
const SOON: (Duration, Duration) = (Duration::from_millis(500), Duration::from_secs(30));

/// What only people can change: a role, or a definition that is not there.
const LATER: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(300));

/// A watch that ends within this without a word was not one: a proxy may close each at once.
const NO_WATCH: Duration = Duration::from_secs(1);

/// The shortest and the longest watch that is asked for. Each takes its own time, so that hundreds of them, all begun
/// when the server came up, do not all come back at once.
const WATCH_SECONDS: (u32, u32) = (240, 290);

/// A connection that is silent for longer than the longest watch is dead. Bookmarks come about every minute, but no
/// server promises any (and v1.20 sends none before the first event of a kind), so nothing shorter is safe.
pub(super) const SILENCE: Duration = Duration::from_secs(300);

/// How long the next watch is to be, in seconds.
pub(super) fn watch_seconds() -> u32 {
    let (least, most) = WATCH_SECONDS;
    let spread = u64::from(most - least) + 1;
    least + u32::try_from(random() % spread).unwrap_or(0)
}

/// Every RandomState has keys of its own.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// One line of a watch.
pub(super) enum Event<T> {
    /// It is there, or has changed; with its version.
    Applied(T, String),
    /// It is gone, or no longer selected; with the version of that.
    Deleted(T, String),
    /// Nothing has happened up to this version.
    Bookmark(String),
}

/// Where objects come from. One that cannot be read is left out, and stops no other (CVE-2022-39272).
pub(super) trait Feed: Sync {
    /// What is made of an object.
    type Object: Send;

    /// Lists all of them.
    fn list(&self) -> impl Future<Output = Result<Listed<Self::Object>, ClusterError>> + Send;

    /// Watches from a version on. An item that is an error ends the watch.
    fn watch(
        &self,
        from: String,
    ) -> impl Future<
        Output = Result<
            impl Stream<Item = Result<Event<Self::Object>, ClusterError>> + Send + Unpin,
            ClusterError,
        >,
    > + Send;
}

/// Where they go.
pub(super) trait Sink<T>: Sync {
    /// Takes all objects as they are at a version.
    fn replace(&self, listed: Listed<T>);

    /// Takes an object as it is now.
    fn apply(&self, object: T);

    /// Takes an object as it was at its end.
    fn delete(&self, object: T);

    /// Is told that a watch goes on from what is known.
    fn resume(&self);

    /// Waits until a kind that was not there may be there.
    fn may_be_there(&self) -> impl Future<Output = ()> + Send;

    /// Is told why the objects cannot be followed now.
    fn trouble(&self, error: &ClusterError);
}

/// Follows for as long as it is polled.
pub(super) async fn follow<F: Feed>(feed: &F, sink: &impl Sink<F::Object>) {
    let mut version: Option<String> = None;
    let mut pauses = Pauses::new();
    loop {
        let Err(error) = step(feed, sink, &mut version, &mut pauses).await else {
            continue;
        };
        match error {
            // What is known is compared with a new list.
            ClusterError::Expired(_) => version = None,
            ClusterError::Forbidden(_) | ClusterError::NotFound(_) => {
                version = None;
                sink.trouble(&error);
            }
            _ => sink.trouble(&error),
        }
        let pause = pauses.after(&error);
        match error {
            ClusterError::NotFound(_) => {
                if timeout(pause, sink.may_be_there()).await.is_ok() {
                    pauses.end();
                }
            }
            _ => sleep(pause).await,
        }
    }
}

/// Lists, or watches from where the last watch ended, until something ends that.
async fn step<F: Feed>(
    feed: &F,
    sink: &impl Sink<F::Object>,
    version: &mut Option<String>,
    pauses: &mut Pauses,
) -> Result<(), ClusterError> {
    let Some(from) = version else {
        let listed = feed.list().await?;
        *version = Some(listed.version.clone());
        sink.replace(listed);
        return Ok(());
    };
    let begin = Instant::now();
    let mut events = feed.watch(from.clone()).await?;
    sink.resume();
    let mut silent = true;
    while let Some(event) = events.next().await {
        *from = match event? {
            Event::Applied(object, version) => {
                sink.apply(object);
                version
            }
            Event::Deleted(object, version) => {
                sink.delete(object);
                version
            }
            Event::Bookmark(version) => version,
        };
        silent = false;
        pauses.end();
    }
    if silent && begin.elapsed() < NO_WATCH {
        let message = "it ended the watch at once".to_owned();
        return Err(ClusterError::Unavailable(message));
    }
    pauses.end();
    Ok(())
}

/// How long to wait after a failure; ever longer, until something works again.
struct Pauses {
    soon: ExponentialBackoff,
    later: ExponentialBackoff,
}

impl Pauses {
    fn new() -> Self {
        Self {
            soon: growing(SOON),
            later: growing(LATER),
        }
    }

    fn end(&mut self) {
        *self = Self::new();
    }

    fn after(&mut self, error: &ClusterError) -> Duration {
        let (pauses, most) = match error {
            ClusterError::Forbidden(_) | ClusterError::NotFound(_) => (&mut self.later, LATER.1),
            _ => (&mut self.soon, SOON.1),
        };
        pauses.next().unwrap_or(most)
    }
}

/// Each pause is drawn out by chance to up to twice its length, so that not all come back at once.
fn growing((least, most): (Duration, Duration)) -> ExponentialBackoff {
    ExponentialBuilder::new()
        .with_min_delay(least)
        .with_max_delay(most / 2)
        .without_max_times()
        .with_jitter()
        .with_jitter_seed(random())
        .build()
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
