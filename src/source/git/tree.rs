//! The files of a commit, read from the object database: no work tree, no filters, no hooks.

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};

use git2::{Commit, ObjectType, Odb, Oid, Repository};

use crate::load::Snapshot;
use crate::source::names::shown;
use crate::source::overlay::{Place, gather};
use crate::source::tree::{Entry, Fault, Kind, Target, Tree};
use crate::source::walk::{single, walk};
use crate::source::{Found, Limits, SourceError};

/// Links followed before a path is called a loop; Linux has the same limit.
const HOPS: usize = 40;

/// Longest link. Linux takes no longer path; a larger blob is not a link that anyone made.
const LINK_BYTES: usize = 4096;

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
        detail: error.message().to_owned(),
    };
    let mut tree = CommitTree {
        repository,
        objects: repository.odb().map_err(damaged)?,
        root: commit.tree_id(),
        name: &at.repository,
        limit: limits.file_bytes,
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
    /// Largest object that is loaded at all, trees included.
    limit: u64,
}

impl CommitTree<'_> {
    fn fatal(&self, error: &git2::Error) -> Fault {
        Fault::Fatal(SourceError::Repository {
            repository: self.name.to_owned(),
            detail: error.message().to_owned(),
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

    fn check_size(&self, id: Oid, limit: u64) -> Result<(), Fault> {
        let header = self.objects.read_header(id);
        let (size, _) = header.map_err(|error| self.fatal(&error))?;
        if size as u64 > limit {
            return Err(Fault::too_large(limit));
        }
        Ok(())
    }

    fn tree(&self, id: Oid) -> Result<git2::Tree<'_>, Fault> {
        self.check_size(id, self.limit)?;
        let tree = self.repository.find_tree(id);
        tree.map_err(|error| self.fatal(&error))
    }

    /// Finds an entry by a path that is free of links.
    fn entry(&self, path: &Path) -> Result<(Oid, Kind), Fault> {
        let mut found = (self.root, Kind::Directory);
        for part in path {
            let tree = self.tree(found.0)?;
            found = match tree.get_name_bytes(part.as_bytes()) {
                Some(entry) => (entry.id(), kind(&entry)),
                None => return Err(Fault::entry("is not in the commit")),
            };
        }
        Ok(found)
    }

    /// Follows a path from the root of the commit, and all links on it.
    fn follow(&self, path: &Path) -> Result<Target, Fault> {
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
                    let target = self.object(id, ObjectType::Blob, LINK_BYTES as u64)?;
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
        let (id, _) = self.entry(directory)?;
        let tree = self.tree(id)?;
        Ok(tree
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
        let (id, _) = self.entry(file)?;
        self.object(id, ObjectType::Blob, limit)
    }
}
