//! What a checked-out directory lacks of its commit, though it looks whole: submodules that nobody fetched, and files that a
//! sparse checkout leaves out. Taken for deleted, their objects would be pruned.

use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use git2::{IndexEntry, IndexEntryExtendedFlag, Repository, RepositoryOpenFlags};

use super::options;
use crate::source::names::{is_hidden, is_manifest};
use crate::source::tree::Fault;

/// The largest index that is looked at: half a million files.
const INDEX_BYTES: u64 = 64 << 20;

/// Finds what a directory, whose path is free of links, lacks: each with its path from there.
///
/// Reads git's index, and only where a work tree has submodules or is sparse.
pub(in crate::source) fn lacking(root: &Path, timeout: Duration) -> Vec<(PathBuf, Fault)> {
    let Some(top) = root.ancestors().find(|it| it.join(".git").exists()) else {
        return Vec::new();
    };
    let git = top.join(".git");
    // A file leads to the git directory of a linked work tree or of a submodule.
    let may_lack = git.is_file()
        || git.join("info/sparse-checkout").exists()
        || top.join(".gitmodules").exists();
    if !may_lack {
        return Vec::new();
    }
    options::initialise(timeout);
    // It lies within what is left out, if anything is.
    let prefix = root.strip_prefix(top).unwrap_or(Path::new(""));
    match entries(top, |entry| missing(entry, top, prefix)) {
        Ok(missing) => faults(missing),
        Err(why) => {
            let fault = Fault::Entry {
                message: format!("is in a git work tree that may lack files: {why}"),
                hint: Some("read the commit itself with --git, or do without a sparse index"),
            };
            vec![(PathBuf::new(), fault)]
        }
    }
}

enum Missing {
    Submodule(PathBuf),
    File(PathBuf),
}

fn entries<T>(top: &Path, find: impl Fn(&IndexEntry) -> Option<T>) -> Result<Vec<T>, String> {
    let said = |error: git2::Error| error.message().to_owned();
    let flags = RepositoryOpenFlags::NO_SEARCH;
    let repository = Repository::open_ext(top, flags, &[] as &[&Path]).map_err(said)?;
    let size = fs::metadata(repository.path().join("index")).map_or(0, |it| it.len());
    if size > INDEX_BYTES {
        return Err(format!("its index is larger than {INDEX_BYTES} bytes"));
    }
    let index = repository.index().map_err(said)?;
    Ok(index.iter().filter_map(|entry| find(&entry)).collect())
}

/// Tells whether an entry of the index could hold manifests, and is not there.
fn missing(entry: &IndexEntry, top: &Path, prefix: &Path) -> Option<Missing> {
    let path = Path::new(std::ffi::OsStr::from_bytes(&entry.path));
    let inside = path.strip_prefix(prefix).ok()?;
    if inside.iter().any(is_hidden) {
        return None;
    }
    let place = top.join(path);
    if entry.mode & 0o170_000 == 0o160_000 {
        let is_empty = fs::read_dir(&place).is_ok_and(|mut it| it.next().is_none());
        let is_missing = is_empty || fs::symlink_metadata(&place).is_err();
        return is_missing.then(|| Missing::Submodule(inside.to_owned()));
    }
    let flags = IndexEntryExtendedFlag::from_bits_truncate(entry.flags_extended);
    let is_left_out = flags.contains(IndexEntryExtendedFlag::SKIP_WORKTREE)
        && path.file_name().is_some_and(is_manifest)
        && fs::symlink_metadata(&place).is_err();
    is_left_out.then(|| Missing::File(inside.to_owned()))
}

fn faults(missing: Vec<Missing>) -> Vec<(PathBuf, Fault)> {
    let mut faults = Vec::new();
    let mut left_out = Vec::new();
    for it in missing {
        match it {
            Missing::Submodule(path) => {
                let hint = "fetch it with `git submodule update --init`, or give its own repository as a source";
                faults.push((path, Fault::submodule(hint)));
            }
            Missing::File(path) => left_out.push(path),
        }
    }
    // One for all: a monorepo leaves out most of itself.
    if let Some(first) = left_out.first() {
        let others = match left_out.len() - 1 {
            0 => String::new(),
            n => format!(" ({n} more like it)"),
        };
        let fault = Fault::Entry {
            message: format!("is left out by a sparse checkout{others}"),
            hint: Some(
                "check it out with `git sparse-checkout add`, or read the commit itself with --git",
            ),
        };
        faults.push((first.clone(), fault));
    }
    faults
}
