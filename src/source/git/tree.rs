//! The files of a commit, read from the object database: no work tree, no filters, no hooks.

use std::collections::{HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use git2::{Commit, ObjectType, Odb, Oid, Repository};

use super::memory;
use crate::load::Snapshot;
use crate::source::names::shown;
use crate::source::overlay::{Place, gather};
use crate::source::tree::{Entry, Fault, Kind, LinksFollowed, Target, Tree};
use crate::source::walk::{single, walk};
use crate::source::{Found, Limits, SourceError};

/// Links followed before a path is called a loop; Linux has the same limit.
const HOPS: usize = 40;

/// Longest link. Linux takes no longer path; a larger blob is not a link that anyone made.
const LINK_BYTES: usize = 4096;

/// Largest directory: 300,000 files with usual names.
const TREE_BYTES: u64 = 16 << 20;

/// All directories together, each as often as it is opened. A commit of 262,144 entries has some 10 MB of them; a link can go
/// through a large one a thousand times.
const TREES_BYTES: u64 = 256 << 20;

/// Directories that are kept open.
const OPEN_BYTES: u64 = 32 << 20;

/// Where a snapshot is read, for messages.
pub(super) struct At<'a> {
    /// Redacted URL or path.
    pub(super) repository: String,
    pub(super) revision: String,
    /// Directory or file in the commit; empty for all of it.
    pub(super) path: &'a str,
    /// Files that a chart needs beside its own, from the chart's folder.
    pub(super) values_files: &'a [String],
}

/// Reads the manifests of a commit below a path, or what they are built from.
pub(super) fn read(
    repository: &Repository,
    commit: &Commit<'_>,
    at: &At<'_>,
    limits: &Limits,
) -> Result<Found, SourceError> {
    let damaged = |error: git2::Error| SourceError::Repository {
        repository: at.repository.clone(),
        detail: memory::told(&error),
    };
    let mut tree = CommitTree {
        repository,
        objects: repository.odb().map_err(damaged)?,
        root: commit.tree_id(),
        name: &at.repository,
        links: LinksFollowed::default(),
        open: HashMap::new(),
        open_bytes: 0,
        opened_bytes: 0,
    };
    let start = match tree.follow(Path::new(at.path)) {
        Ok(start) => start,
        Err(Fault::Fatal(error)) => return Err(error),
        Err(_) => {
            return Err(SourceError::PathMissing {
                path: at.path.to_owned(),
                repository: at.repository.clone(),
                revision: at.revision.clone(),
            });
        }
    };
    let mut place = None;
    let collected = match start.kind {
        Kind::Directory => match gather(&mut tree, &start.path, at.values_files, limits)? {
            Some((collected, found)) => {
                place = Some(found);
                collected
            }
            None => walk(&mut tree, &start.path, limits)?,
        },
        Kind::Submodule => {
            return Err(SourceError::InSubmodule {
                path: at.path.to_owned(),
                submodule: shown(&start.path),
                repository: at.repository.clone(),
                revision: at.revision.clone(),
            });
        }
        Kind::File | Kind::Link | Kind::Special(_) => {
            let name = Path::new(at.path).file_name().unwrap_or_default();
            single(&mut tree, Path::new(name), &start.path, limits)?
        }
    };
    let (files, diagnostics) = collected.finish();
    let snapshot = Snapshot {
        revision: at.revision.clone(),
        files,
        diagnostics,
    };
    Ok(Place::found(place, snapshot))
}

struct CommitTree<'r> {
    repository: &'r Repository,
    objects: Odb<'r>,
    root: Oid,
    name: &'r str,
    links: LinksFollowed,
    /// Directories that are kept open, and their bytes.
    open: HashMap<Oid, git2::Tree<'r>>,
    open_bytes: u64,
    /// Bytes of all that were opened, each time they were.
    opened_bytes: u64,
}

impl<'r> CommitTree<'r> {
    fn fatal(&self, error: &git2::Error) -> Fault {
        Fault::Fatal(SourceError::Repository {
            repository: self.name.to_owned(),
            detail: memory::told(error),
        })
    }

    /// Loads an object unless it is larger than `limit`; its header tells before it is unpacked.
    fn object(&self, id: Oid, kind: ObjectType, limit: u64) -> Result<Vec<u8>, Fault> {
        self.check_size(id, limit)?;
        let object = self.objects.read(id).map_err(|error| self.fatal(&error))?;
        if object.kind() != kind {
            let error = git2::Error::from_str("an object is not of the kind its tree says");
            return Err(self.fatal(&error));
        }
        Ok(object.data().to_vec())
    }

    fn check_size(&self, id: Oid, limit: u64) -> Result<u64, Fault> {
        let header = self.objects.read_header(id);
        let (size, _) = header.map_err(|error| self.fatal(&error))?;
        if size as u64 > limit {
            return Err(Fault::too_large(limit));
        }
        Ok(size as u64)
    }

    /// Opens a directory. The last ones are kept: their files are read one after the other.
    fn tree(&mut self, id: Oid) -> Result<git2::Tree<'r>, Fault> {
        if let Some(tree) = self.open.get(&id) {
            return Ok(tree.clone());
        }
        let size = self.check_size(id, TREE_BYTES)?;
        self.opened_bytes = self.opened_bytes.saturating_add(size);
        if self.opened_bytes > TREES_BYTES {
            let message = format!(
                "was not read: the directories on the way to the manifests are larger than {TREES_BYTES} bytes together"
            );
            return Err(Fault::entry(message));
        }
        let tree = self.repository.find_tree(id);
        let tree = tree.map_err(|error| self.fatal(&error))?;
        self.open_bytes = self.open_bytes.saturating_add(size);
        if self.open_bytes > OPEN_BYTES {
            self.open.clear();
            self.open_bytes = size;
        }
        self.open.insert(id, tree.clone());
        Ok(tree)
    }

    /// Finds an entry by a path that is free of links.
    fn entry(&mut self, path: &Path) -> Result<Oid, Fault> {
        let mut found = self.root;
        for part in path {
            let tree = self.tree(found)?;
            let entry = tree.get_name_bytes(part.as_bytes());
            let damaged = || Fault::entry("is listed in the commit and cannot be found there");
            found = entry.ok_or_else(damaged)?.id();
        }
        Ok(found)
    }

    /// Follows a path from the root of the commit, and all links on it.
    fn follow(&mut self, path: &Path) -> Result<Target, Fault> {
        let parts = |path: &Path| -> Vec<OsString> {
            path.as_os_str()
                .as_bytes()
                .split(|byte| *byte == b'/')
                .map(|part| OsStr::from_bytes(part).to_owned())
                .collect()
        };
        let nowhere = || Fault::entry("is a symbolic link that leads nowhere");
        let mut ahead = VecDeque::from(parts(path));
        let mut trees = vec![self.root];
        let mut done: Vec<OsString> = Vec::new();
        let mut hops = 0;
        while let Some(part) = ahead.pop_front() {
            if part.is_empty() || part == "." {
                continue;
            }
            if part == ".." {
                if done.pop().is_none() {
                    return Err(Fault::leads_out());
                }
                trees.pop();
                continue;
            }
            let tree = self.tree(trees.last().copied().unwrap_or(self.root))?;
            let entry = tree.get_name_bytes(part.as_bytes()).ok_or_else(nowhere)?;
            let (id, kind) = (entry.id(), kind(&entry));
            match kind {
                Kind::Directory => {
                    trees.push(id);
                    done.push(part);
                }
                Kind::Link => {
                    hops += 1;
                    if hops > HOPS {
                        return Err(Fault::entry("is a symbolic link that leads in a circle"));
                    }
                    self.links.check()?;
                    let target = self.object(id, ObjectType::Blob, LINK_BYTES as u64)?;
                    self.links.count(target.len());
                    if target.starts_with(b"/") {
                        return Err(Fault::leads_out());
                    }
                    for part in parts(Path::new(&OsString::from_vec(target)))
                        .into_iter()
                        .rev()
                    {
                        ahead.push_front(part);
                    }
                }
                // Whatever is ahead lies inside it.
                Kind::Submodule => {
                    done.push(part);
                    return Ok(target(done, kind));
                }
                Kind::File | Kind::Special(_) => {
                    done.push(part);
                    return match ahead.is_empty() {
                        true => Ok(target(done, kind)),
                        false => Err(nowhere()),
                    };
                }
            }
        }
        Ok(target(done, Kind::Directory))
    }
}

fn target(parts: Vec<OsString>, kind: Kind) -> Target {
    Target {
        path: PathBuf::from_iter(parts),
        kind,
    }
}

fn kind(entry: &git2::TreeEntry<'_>) -> Kind {
    match entry.filemode() & 0o170_000 {
        0o040_000 => Kind::Directory,
        0o120_000 => Kind::Link,
        0o160_000 => Kind::Submodule,
        _ => Kind::File,
    }
}

impl Tree for CommitTree<'_> {
    fn list(&mut self, directory: &Path, room: usize) -> Result<Vec<Entry>, Fault> {
        let id = self.entry(directory)?;
        Ok(self
            .tree(id)?
            .iter()
            .take(room.saturating_add(1))
            .map(|entry| Entry {
                name: OsStr::from_bytes(entry.name_bytes()).to_owned(),
                kind: kind(&entry),
            })
            .collect())
    }

    fn resolve(&mut self, link: &Path) -> Result<Target, Fault> {
        self.follow(link)
    }

    fn read(&mut self, file: &Path, limit: u64) -> Result<Vec<u8>, Fault> {
        let id = self.entry(file)?;
        self.object(id, ObjectType::Blob, limit)
    }
}
