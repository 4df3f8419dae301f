//! A file below a folder that the operator gives, one folder for each namespace.
//!
//! Tenants may be able to write there as well: each folder is opened from the one before it, never through a link, and all
//! that follows goes by what was opened.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags, fsync, mkdirat, openat};
use rustix::io::Errno;

use super::{Merge, StorageError, Update};
use crate::durable::write_durably;

/// How long another writer's turn may take.
const TURN: Duration = Duration::from_secs(10);

/// Between two looks whether it is our turn.
const LOOK: Duration = Duration::from_millis(20);

/// The place of a file below the operator's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    root: PathBuf,
    /// Folders below it: the namespace, and those that the tenant names.
    folders: Vec<String>,
    file: String,
}

impl Folder {
    /// Makes one; `path` is what a tenant says.
    ///
    /// # Errors
    /// When it leads anywhere else than below the namespace's own folder.
    pub fn new(root: &Path, namespace: &str, path: &str, file: &str) -> Result<Self, StorageError> {
        let folders: Vec<String> = std::iter::once(namespace)
            .chain(path.split('/'))
            .map(str::to_owned)
            .collect();
        let names = folders.iter().map(String::as_str).chain([file]);
        if let Some(bad) = names.into_iter().find(|name| !is_plain(name)) {
            let message = format!("{path:?}: {bad:?} is no name of a folder or a file there");
            return Err(StorageError::NotAllowed(message));
        }
        Ok(Self {
            root: root.to_owned(),
            folders,
            file: file.to_owned(),
        })
    }

    /// Its path.
    pub fn location(&self) -> String {
        let folder = self
            .folders
            .iter()
            .fold(self.root.clone(), |path, it| path.join(it));
        folder.join(&self.file).display().to_string()
    }

    /// Reads the file and puts in its place what is made of it. Blocks.
    ///
    /// # Errors
    /// As [`Storage::update`](super::Storage::update).
    pub(super) fn update<T>(&self, most: u64, merge: &Merge<T>) -> Result<T, StorageError> {
        let failed = |error: io::Error| {
            StorageError::Unavailable(format!("store {}: {error}", self.location()))
        };
        let folder = File::from(self.open().map_err(failed)?);
        // Two replicas may take turns at one Campaign. The lock goes with the file.
        lock(&folder).map_err(failed)?;
        let stored = self.read(&folder, most)?;
        let Update { content, outcome } = merge(stored.as_deref())?;
        if let Some(content) = content {
            // By what was opened, whatever the path leads to by now.
            let path = PathBuf::from(format!("/proc/self/fd/{}", folder.as_raw_fd()));
            write_durably(&path.join(&self.file), |out| out.write_all(&content)).map_err(failed)?;
        }
        Ok(outcome)
    }

    /// Opens the folder, and makes those that are missing below the root.
    fn open(&self) -> io::Result<OwnedFd> {
        let plain = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::RDONLY;
        let root = rustix::fs::open(&self.root, plain, Mode::empty()).map_err(|error| {
            let root = self.root.display();
            io::Error::other(format!(
                "{root}, the folder for Campaigns, cannot be opened: {error}"
            ))
        })?;
        let mut folder = root;
        for name in &self.folders {
            let open = || openat(&folder, name, plain | OFlags::NOFOLLOW, Mode::empty());
            folder = match open() {
                Err(Errno::NOENT) => {
                    match mkdirat(&folder, name, Mode::from(0o755)) {
                        Ok(()) | Err(Errno::EXIST) => {}
                        Err(error) => return Err(error.into()),
                    }
                    fsync(&folder)?;
                    open()?
                }
                Err(Errno::LOOP | Errno::NOTDIR) => {
                    let message = format!("{name} is a link or a file, and is not followed");
                    return Err(io::Error::other(message));
                }
                opened => opened?,
            };
        }
        Ok(folder)
    }

    fn read(&self, folder: &File, most: u64) -> Result<Option<Vec<u8>>, StorageError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let failed = |error: &dyn std::fmt::Display| {
            StorageError::Unavailable(format!("read {}: {error}", self.location()))
        };
        let file = match openat(folder, &self.file, flags, Mode::empty()) {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Ok(None),
            Err(Errno::LOOP) => return Err(failed(&"it is a link, and is not followed")),
            Err(error) => return Err(failed(&error)),
        };
        let metadata = file.metadata().map_err(|error| failed(&error))?;
        if !metadata.is_file() {
            return Err(failed(&"it is no regular file"));
        }
        let mut content = Vec::new();
        file.take(most.saturating_add(1))
            .read_to_end(&mut content)
            .map_err(|error| failed(&error))?;
        if content.len() as u64 > most {
            return Err(StorageError::TooLarge(format!(
                "{} is larger than {most} bytes; it is left as it is",
                self.location()
            )));
        }
        Ok(Some(content))
    }
}

/// Tells whether a name is one of an entry of a folder, and not of a hidden one, since those are of the folder's own.
fn is_plain(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.chars().all(is_plain)
}

fn lock(folder: &File) -> io::Result<()> {
    let begin = Instant::now();
    loop {
        match folder.try_lock() {
            Ok(()) => return Ok(()),
            Err(std::fs::TryLockError::WouldBlock) if begin.elapsed() < TURN => sleep(LOOK),
            Err(std::fs::TryLockError::WouldBlock) => {
                return Err(io::Error::other("somebody else keeps its folder locked"));
            }
            Err(std::fs::TryLockError::Error(error)) => return Err(error),
        }
    }
}

#[cfg(test)]
#[path = "folder_tests.rs"]
mod tests;
