//! Follows the source of one Sync: a task that looks when there may be something new, and tells when there is.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{self, Duration};

use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use crate::api;
use crate::load::{Snapshot, SourceFile};
use crate::metrics::{CheckOutcome, FetchOutcome, Metrics};
use crate::overlay::{Builder, Failed, Options};
use crate::source::directory::{self, DirectorySource};
use crate::source::git::{self, GitSource};
use crate::source::watch::{Follower, Timing};
use crate::source::{Limits, SourceError};

/// What a source is followed for. When any of it is different, that is another source.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// What the Sync says of it.
    pub source: Option<api::sync::Source>,
    /// How often it is to be looked at.
    pub interval: Option<api::sync::Duration>,
    /// As whom its Secret was read.
    pub account: Option<String>,
    /// Where it may be on this machine.
    pub directories: Vec<PathBuf>,
    /// What it is built with, if it has to be.
    pub options: Options,
    /// What is too much.
    pub limits: Limits,
}

/// What is followed.
#[derive(Clone, Debug)]
pub enum Followed {
    /// A directory or a file of this machine.
    Directory(DirectorySource),
    /// A repository, asked for news this often.
    Git(Box<GitSource>, Duration),
}

/// What all followers share.
#[derive(Clone)]
pub struct Reading {
    /// Where repositories are kept between fetches.
    pub cache_dir: PathBuf,
    /// Builds overlays.
    pub builder: Arc<Builder>,
    /// How many sources are read at once: each takes a thread, and memory for all its files.
    pub at_once: Arc<Semaphore>,
    /// Counts fetches.
    pub metrics: Metrics,
}

/// What a source holds now, or why that cannot be told.
pub type Latest = Result<Arc<Snapshot>, Arc<ReadError>>;

/// Why a source gives no manifests.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It could not be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It could not be built.
    #[error("{}", .0.message())]
    Build(Failed),
}

/// What was found at the last look, and when it was found first.
#[derive(Clone)]
struct Found {
    what: Latest,
    since: Instant,
}

/// So long a directory must have been the same before what is missing in it counts as gone: a checkout takes files away and
/// writes them again, and a copy writes one after the other.
const SETTLED: Duration = Duration::from_secs(1);

/// The same where a file is empty: some programs take long from opening a file to writing it.
const SETTLED_IF_EMPTY: Duration = Duration::from_secs(30);

/// A source that is followed until this is dropped.
pub struct Source {
    /// What it is followed for.
    pub asked: Asked,
    /// Whether what it holds may be read while it is being written.
    is_written_to: bool,
    latest: watch::Receiver<Option<Found>>,
    looks: mpsc::Sender<Option<oneshot::Sender<()>>>,
    _task: AbortOnDropHandle<()>,
}

impl Source {
    /// Starts to follow; `news` is called when something else is there than before. Not for the first look and those
    /// that somebody waits for.
    pub fn follow(
        asked: Asked,
        followed: Followed,
        reading: Reading,
        news: impl Fn() + Send + Sync + 'static,
    ) -> Self {
        let (sender, latest) = watch::channel(None);
        let (looks, requests) = mpsc::channel(1);
        let is_written_to = matches!(followed, Followed::Directory(_));
        let task = Task {
            asked: asked.clone(),
            followed,
            reading,
            latest: sender,
        };
        let task = tokio::spawn(task.run(requests, news));
        Self {
            asked,
            is_written_to,
            latest,
            looks,
            _task: AbortOnDropHandle::new(task),
        }
    }

    /// What was there at the last look; waits for the first one.
    pub async fn latest(&self) -> Option<Latest> {
        let mut latest = self.latest.clone();
        let found = latest.wait_for(Option::is_some).await.ok()?;
        Some(found.as_ref()?.what.clone())
    }

    /// Tells whether what it holds is not just being written. A commit never is.
    pub fn is_settled(&self) -> bool {
        if !self.is_written_to {
            return true;
        }
        let latest = self.latest.borrow();
        let Some(Found { what, since }) = &*latest else {
            return false;
        };
        let is_empty = |file: &SourceFile| file.bytes.is_empty();
        let has_empty = what.as_ref().is_ok_and(|it| it.files.iter().any(is_empty));
        let quiet = if has_empty { SETTLED_IF_EMPTY } else { SETTLED };
        since.elapsed() >= quiet
    }

    /// Waits until it may have settled, and looks again.
    pub async fn settle(&self) {
        tokio::time::sleep(SETTLED).await;
        self.look().await;
    }

    /// Looks now, and waits until that is done.
    pub async fn look(&self) {
        let (done, ended) = oneshot::channel();
        if self.looks.send(Some(done)).await.is_ok() {
            let _ = ended.await;
        }
    }

    /// Asks for a look soon; one that is asked for already is enough.
    pub fn look_soon(&self) {
        let _ = self.looks.try_send(None);
    }
}

struct Task {
    asked: Asked,
    followed: Followed,
    reading: Reading,
    latest: watch::Sender<Option<Found>>,
}

impl Task {
    async fn run(
        self,
        mut requests: mpsc::Receiver<Option<oneshot::Sender<()>>>,
        news: impl Fn() + Send + Sync,
    ) {
        let mut follower = match &self.followed {
            Followed::Directory(source) => {
                let limits = &self.asked.limits;
                Some(Follower::start(source.clone(), limits, Timing::default()))
            }
            Followed::Git(..) => None,
        };
        let mut failed = 0;
        self.look().await;
        loop {
            let is_error = matches!(&*self.latest.borrow(), Some(Found { what: Err(_), .. }));
            failed = if is_error { failed + 1 } else { 0 };
            let waiting = tokio::select! {
                () = changed(follower.as_mut()) => None,
                () = tokio::time::sleep(self.pause(failed)) => None,
                request = requests.recv() => match request {
                    Some(waiting) => waiting,
                    None => return,
                },
            };
            let is_new = self.look().await;
            match waiting {
                // Who waits may have left meanwhile.
                Some(waiting) => drop(waiting.send(())),
                None if is_new => news(),
                None => {}
            }
        }
    }

    /// How long until the next look if nobody asks: repositories are asked for news, and errors may have passed.
    fn pause(&self, failed: u32) -> Duration {
        let interval = match &self.followed {
            Followed::Git(_, interval) => *interval,
            Followed::Directory(_) => RETRY_DIRECTORY,
        };
        let soon = RETRY_FIRST.saturating_mul(1 << failed.min(16));
        let pause = match failed {
            0 if matches!(self.followed, Followed::Directory(_)) => NEVER,
            0 => interval,
            _ => soon.min(interval.max(RETRY_FIRST)),
        };
        spread(pause)
    }

    /// Looks, and tells whether something else is there than before.
    async fn look(&self) -> bool {
        let known = match &*self.latest.borrow() {
            Some(Found {
                what: Ok(snapshot), ..
            }) => Some(snapshot.revision.clone()),
            _ => None,
        };
        let Ok(_permit) = self.reading.at_once.acquire().await else {
            return false;
        };
        let (asked, followed) = (self.asked.clone(), self.followed.clone());
        let reading = self.reading.clone();
        let read = move || read(&followed, &asked, &reading, known.as_deref());
        let Ok(found) = tokio::task::spawn_blocking(read).await else {
            tracing::error!("reading a source ended badly");
            return false;
        };
        let what = match found {
            Ok(None) => return false,
            Ok(Some(snapshot)) => Ok(Arc::new(snapshot)),
            Err(error) => Err(Arc::new(error)),
        };
        self.latest.send_if_modified(|latest| {
            let known = latest.as_ref().filter(|known| is_same(&known.what, &what));
            let since = known.map_or_else(Instant::now, |known| known.since);
            let is_new = known.is_none();
            *latest = Some(Found { what, since });
            is_new
        })
    }
}

/// The rescans of the follower are enough for a directory that can be read.
const NEVER: Duration = Duration::from_secs(365 * 24 * 3600);

/// After a source could not be read it is tried again so soon, then after twice that, and so on.
const RETRY_FIRST: Duration = Duration::from_secs(1);

/// The longest pause before a directory that cannot be read is tried again.
const RETRY_DIRECTORY: Duration = Duration::from_secs(30);

async fn changed(follower: Option<&mut Follower>) {
    match follower {
        Some(follower) => follower.changed().await,
        None => std::future::pending().await,
    }
}

/// Up to a tenth more, so that many sources do not look all at once.
fn spread(pause: Duration) -> Duration {
    pause + pause.mul_f64(fastrand::f64() / 10.0)
}

/// Reads a source, and builds it where it has to be; nothing when it still holds the known revision.
fn read(
    followed: &Followed,
    asked: &Asked,
    reading: &Reading,
    known: Option<&str>,
) -> Result<Option<Snapshot>, ReadError> {
    let Reading {
        cache_dir,
        metrics,
        builder,
        ..
    } = reading;
    let Asked {
        directories,
        limits,
        options,
        ..
    } = asked;
    let found = match followed {
        Followed::Directory(source) => directory::find_within(source, directories, limits)?,
        Followed::Git(source, _) => {
            let local = source.url.local_path();
            if let Some(path) = local.filter(|path| !directory::is_within(path, directories)) {
                let path = path.to_owned();
                return Err(SourceError::NotAllowed { path }.into());
            }
            if let Some(known) = known {
                let revision = git::check(source, cache_dir, limits);
                metrics.git_checked(match &revision {
                    Ok(revision) if revision == known => CheckOutcome::Unchanged,
                    Ok(_) => CheckOutcome::Changed,
                    Err(_) => CheckOutcome::Failed,
                });
                if revision? == known {
                    return Ok(None);
                }
            }
            let begin = time::Instant::now();
            let fetched = git::fetch(source, cache_dir, limits);
            let outcome = match &fetched {
                Ok(_) => FetchOutcome::Fetched,
                Err(_) => FetchOutcome::Failed,
            };
            metrics.git_fetched(outcome, begin.elapsed());
            fetched?
        }
    };
    if known == Some(found.snapshot().revision.as_str()) {
        return Ok(None);
    }
    builder
        .build(found, options)
        .map(Some)
        .map_err(ReadError::Build)
}

/// Whether two looks found the same. Messages of the same error differ only in what was found.
fn is_same(a: &Latest, b: &Latest) -> bool {
    match (a, b) {
        (Ok(a), Ok(b)) => a.revision == b.revision,
        (Err(a), Err(b)) => a.to_string() == b.to_string(),
        _ => false,
    }
}
