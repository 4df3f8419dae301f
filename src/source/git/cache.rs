//! Bare repositories that hold what was fetched, one for each remote.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use git2::Repository;

use crate::source::SourceError;

/// Each fetch adds a pack, and libgit2 never merges them. Lookups get slower with each; to fetch one commit anew costs no
/// more than a few of them.
const PACKS: usize = 50;

/// How often a held lock is looked at. A fetch takes at least several times as long.
const LOCK_POLL: Duration = Duration::from_millis(20);

/// How a use of a cache entry failed.
pub(super) enum Failed {
    /// For a reason that has nothing to do with the entry.
    Final(SourceError),
    /// Perhaps because the entry is damaged.
    Suspect(SourceError),
}

/// Lets `use_it` work on a cache entry that no other thread or process touches meanwhile; it is told whether the entry
/// is new. A damaged entry is deleted and made anew, once.
pub(super) fn with_entry<T>(
    cache_dir: &Path,
    name: &str,
    timeout: Duration,
    mut use_it: impl FnMut(&Repository, bool) -> Result<T, Failed>,
) -> Result<T, SourceError> {
    let entry = cache_dir.join(name);
    let cannot = |error: &dyn std::fmt::Display| SourceError::Cache {
        entry: entry.clone(),
        detail: error.to_string(),
    };
    let _lock = lock(cache_dir, name, timeout).map_err(|error| cannot(&error))?;
    let mut is_new = false;
    loop {
        if !is_new && pack_count(&entry) > PACKS {
            remove(&entry).map_err(|error| cannot(&error))?;
        }
        is_new |= !entry.exists();
        let result = match open(&entry) {
            Ok(repository) => use_it(&repository, is_new),
            Err(error) => Err(Failed::Suspect(cannot(&error.message()))),
        };
        match result {
            Ok(value) => return Ok(value),
            Err(Failed::Final(error)) => return Err(error),
            Err(Failed::Suspect(error)) if is_new => return Err(error),
            Err(Failed::Suspect(_)) => {
                remove(&entry).map_err(|error| cannot(&error))?;
                is_new = true;
            }
        }
    }
}

/// Makes the directory for all entries, unless it is there. Private repositories are in it: nobody else may read them.
pub(super) fn make_directory(cache_dir: &Path) -> io::Result<()> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(cache_dir)
}

/// Locks an entry until the file is dropped. The lock is the kernel's, so that a killed process leaves none behind.
fn lock(cache_dir: &Path, name: &str, timeout: Duration) -> io::Result<File> {
    make_directory(cache_dir)?;
    let file = File::create(cache_dir.join(format!("{name}.lock")))?;
    let begin = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(error)) => return Err(error),
            Err(TryLockError::WouldBlock) if begin.elapsed() >= timeout => {
                let text = format!("another fetch has held it for {} s", timeout.as_secs());
                return Err(io::Error::new(io::ErrorKind::TimedOut, text));
            }
            Err(TryLockError::WouldBlock) => sleep(LOCK_POLL),
        }
    }
}

fn open(entry: &PathBuf) -> Result<Repository, git2::Error> {
    match entry.exists() {
        true => Repository::open(entry),
        false => Repository::init_bare(entry),
    }
}

fn remove(entry: &Path) -> io::Result<()> {
    match fs::remove_dir_all(entry) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => fs::remove_file(entry),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        result => result,
    }
}

fn pack_count(entry: &Path) -> usize {
    fs::read_dir(entry.join("objects/pack")).map_or(0, |files| {
        files
            .filter_map(Result::ok)
            .filter(|file| file.path().extension().is_some_and(|it| it == "pack"))
            .count()
    })
}
