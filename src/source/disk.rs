//! The file system as a tree to walk: links stay inside its root, and nothing but regular files is opened.

use std::ffi::OsStr;
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use super::lookup::{self, OnTheWay, Step};
use super::names::is_manifest;
use super::tree::{Entry, Fault, Kind, LinksFollowed, Target, Tree};

pub(super) fn kind(found: FileType) -> Kind {
    if found.is_dir() {
        Kind::Directory
    } else if found.is_symlink() {
        Kind::Link
    } else if found.is_file() {
        Kind::File
    } else if found.is_fifo() {
        Kind::Special("a FIFO")
    } else if found.is_socket() {
        Kind::Special("a socket")
    } else {
        Kind::Special("a device")
    }
}

/// What tells one state of a file or directory from the next. The kernel's clock ticks every few milliseconds, so that
/// two changes within one tick look alike; the next reading finds the second one.
pub(super) type Stamp = (u64, u64, u64, (i64, i64), (i64, i64));

pub(super) fn stamp(metadata: &Metadata) -> Stamp {
    (
        metadata.dev(),
        metadata.ino(),
        metadata.size(),
        (metadata.mtime(), metadata.mtime_nsec()),
        (metadata.ctime(), metadata.ctime_nsec()),
    )
}

/// A directory of the file system.
pub(super) struct Disk<'a> {
    pub(super) root: &'a Path,
    listed: Vec<(PathBuf, Stamp)>,
    links: LinksFollowed,
}

/// Counts the links on the way to a path.
impl OnTheWay for LinksFollowed {
    fn before(&mut self, _: &Path, _: &OsStr) {}

    fn after(&mut self, step: &Step<'_>) {
        self.count(step.target.map_or(0, |target| target.as_os_str().len()));
    }
}

impl<'a> Disk<'a> {
    pub(super) fn new(root: &'a Path) -> Self {
        Self {
            root,
            listed: Vec::new(),
            links: LinksFollowed::default(),
        }
    }

    /// Names a directory that has changed since it was listed: an entry was added, removed or replaced, as when a
    /// ConfigMap volume swaps its `..data` link.
    pub(super) fn changed(&self) -> Option<PathBuf> {
        self.listed
            .iter()
            .find(|(path, before)| {
                !fs::metadata(self.root.join(path)).is_ok_and(|now| stamp(&now) == *before)
            })
            .map(|(path, _)| path.clone())
    }

    /// Reads a file once; `None` when it changed meanwhile.
    pub(super) fn attempt(&self, path: &Path, limit: u64) -> io::Result<Option<Content>> {
        let mut file = OpenOptions::new()
            .read(true)
            // The path was free of links and named a regular file a moment ago. If someone has swapped it since,
            // neither follow a link nor wait for a FIFO's writer.
            .custom_flags(libc::O_NOFOLLOW | libc::O_NONBLOCK)
            .open(path)?;
        let before = file.metadata()?;
        if let Kind::Special(what) = kind(before.file_type()) {
            return Ok(Some(Content::Special(what)));
        }
        if before.size() > limit {
            return Ok(Some(Content::TooLarge));
        }
        let mut bytes = Vec::with_capacity(usize::try_from(before.size()).unwrap_or_default());
        io::Read::by_ref(&mut file)
            .take(limit + 1)
            .read_to_end(&mut bytes)?;
        let is_same = stamp(&before) == stamp(&file.metadata()?)
            && bytes.len() as u64 == before.size()
            // A directory on the way may have become a link that leads out of the root.
            && fs::canonicalize(path)? == path
            && is_same_file(&file, path)?;
        Ok(is_same.then_some(Content::Bytes(bytes)))
    }
}

fn is_same_file(file: &File, path: &Path) -> io::Result<bool> {
    let (open, named) = (file.metadata()?, fs::symlink_metadata(path)?);
    Ok((open.dev(), open.ino()) == (named.dev(), named.ino()))
}

pub(super) enum Content {
    Bytes(Vec<u8>),
    TooLarge,
    Special(&'static str),
}

impl Tree for Disk<'_> {
    fn list(&mut self, directory: &Path, room: usize) -> Result<Vec<Entry>, Fault> {
        let path = self.root.join(directory);
        let mut list = || -> io::Result<_> {
            let before = stamp(&fs::metadata(&path)?);
            self.listed.push((directory.to_owned(), before));
            fs::read_dir(&path)?
                .take(room.saturating_add(1))
                .map(|entry| {
                    let entry = entry?;
                    Ok(Entry {
                        name: entry.file_name(),
                        kind: kind(entry.file_type()?),
                    })
                })
                .collect()
        };
        list().map_err(|error| Fault::entry(format!("cannot be listed: {error}")))
    }

    fn resolve(&mut self, link: &Path) -> Result<Target, Fault> {
        self.links.check()?;
        lookup::resolve(self.root, link, &mut self.links);
        let found = fs::canonicalize(self.root.join(link)).and_then(|path| {
            let kind = kind(fs::metadata(&path)?.file_type());
            Ok((path, kind))
        });
        let (path, kind) = found.map_err(|error| {
            Fault::entry(format!("is a symbolic link that leads nowhere: {error}"))
        })?;
        match path.strip_prefix(self.root) {
            // A repository's own files hold URLs with credentials, and hooks; no manifest lives there.
            Ok(inside) if inside.iter().any(|part| part == ".git") => Err(Fault::leads_out()),
            Ok(inside) => Ok(Target {
                path: inside.to_owned(),
                kind,
            }),
            Err(_) if kind != Kind::Directory && !link.file_name().is_some_and(is_manifest) => {
                Err(Fault::Ignored)
            }
            Err(_) => Err(Fault::leads_out()),
        }
    }

    fn read(&mut self, file: &Path, limit: u64) -> Result<Vec<u8>, Fault> {
        let path = self.root.join(file);
        // The second try is for a file that is being saved: gone or half-written now, whole in a moment.
        let content = match self.attempt(&path, limit) {
            Ok(Some(content)) => Ok(Some(content)),
            Ok(None) | Err(_) => self.attempt(&path, limit),
        };
        match content {
            Ok(Some(Content::Bytes(bytes))) => Ok(bytes),
            Ok(Some(Content::TooLarge)) => Err(Fault::too_large(limit)),
            Ok(Some(Content::Special(what))) => Err(Fault::entry(format!(
                "is {what}, not a regular file; it was not read"
            ))),
            Ok(None) => Err(Fault::Entry {
                message: "changes while it is read".to_owned(),
                hint: Some("read it again when the writer has finished"),
            }),
            Err(error) => Err(Fault::entry(format!("cannot be read: {error}"))),
        }
    }
}
