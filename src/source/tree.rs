//! What a walk sees of a source, be it a directory or a commit.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use super::SourceError;

/// What an entry of a directory is, the entry itself and not what it points to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    File,
    Directory,
    Link,
    Submodule,
    /// Never opened; named with its article, as in "a FIFO".
    Special(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    pub(super) name: OsString,
    pub(super) kind: Kind,
}

/// Where a link ends: a path without links, relative to the root of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
}

/// Why an entry gives nothing.
#[derive(Debug)]
pub(super) enum Fault {
    /// It could not have held a manifest anyway.
    Ignored,
    /// It fails alone, and makes the snapshot a partial one.
    Entry {
        message: String,
        hint: Option<&'static str>,
    },
    /// Nothing of the source can be trusted.
    Fatal(SourceError),
}

impl Fault {
    pub(super) fn entry(message: impl Into<String>) -> Self {
        Self::Entry {
            message: message.into(),
            hint: None,
        }
    }

    /// Makes the refusal of a submodule. Manifests may be in there: to go on as if there were none would prune them.
    pub(super) fn submodule(hint: &'static str) -> Self {
        Self::Entry {
            message: "is a submodule, which is not fetched".to_owned(),
            hint: Some(hint),
        }
    }

    /// Makes the refusal of a link that leaves the source.
    pub(super) fn leads_out() -> Self {
        Self::Entry {
            message: "is a symbolic link that leads out of the source; it was not followed"
                .to_owned(),
            hint: Some("put the files themselves into the source"),
        }
    }

    pub(super) fn too_large(limit: u64) -> Self {
        Self::entry(format!("is larger than {limit} bytes; it was not read"))
    }
}

/// Bytes of links that are followed in one source. Real trees have thousands of links of some 30 bytes; one of 4 kB that goes
/// up and down through forty others takes a hundred thousand steps.
pub(super) const LINKS_BYTES: usize = 1 << 20;

/// What following links has cost.
#[derive(Default)]
pub(super) struct LinksFollowed(usize);

impl LinksFollowed {
    /// Counts a link's text.
    pub(super) fn count(&mut self, bytes: usize) {
        self.0 = self.0.saturating_add(bytes);
    }

    /// Refuses to go on when it was too much.
    pub(super) fn check(&self) -> Result<(), Fault> {
        match self.0 > LINKS_BYTES {
            true => Err(Fault::entry(
                "was not followed: the source has too many long symbolic links",
            )),
            false => Ok(()),
        }
    }
}

/// A tree of files that can be walked. All paths are relative to its root and free of links.
pub(super) trait Tree {
    /// Lists a directory: at most `room` entries and one more, which tells that there are too many.
    fn list(&mut self, directory: &Path, room: usize) -> Result<Vec<Entry>, Fault>;
    /// Follows a link to its end.
    fn resolve(&mut self, link: &Path) -> Result<Target, Fault>;
    /// Reads a regular file of at most `limit` bytes.
    fn read(&mut self, file: &Path, limit: u64) -> Result<Vec<u8>, Fault>;
}
