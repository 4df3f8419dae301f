//! One look at a tree: everything that the reader would read, without its contents.

use std::ffi::OsStr;
use std::fs;
use std::hash::{BuildHasher as _, DefaultHasher, Hash as _, Hasher as _, RandomState};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use crate::source::Limits;
use crate::source::directory::DirectorySource;
use crate::source::disk::{Disk, stamp};
use crate::source::lookup::{OnTheWay, Step, resolve};
use crate::source::names::is_kustomization;
use crate::source::overlay::{follow, gather};
use crate::source::tree::{Entry, Fault, Target, Tree};
use crate::source::walk::walk;

/// Is told of each directory before its entries (or, with a name, that one entry) are looked at. What changes later can then
/// be noticed, and what has changed before is seen.
pub(super) type Arm<'a> = dyn FnMut(&Path, Option<&OsStr>) + 'a;

/// What was seen.
pub(super) struct Seen {
    /// Differs when anything does that could matter to the reader: names, sizes, times, inodes, where links lead.
    pub(super) fingerprint: u64,
    /// The device that the tree is on; absent when the path leads nowhere.
    pub(super) device: Option<u64>,
}

/// Looks at a source and all that belongs to it.
pub(super) fn scan(
    source: &DirectorySource,
    limits: &Limits,
    keys: &RandomState,
    arm: &mut Arm<'_>,
) -> Seen {
    let mut notes = Notes {
        hasher: keys.build_hasher(),
        arm,
    };
    let root = resolve(Path::new("/"), &source.path, &mut notes);
    let found = root.and_then(|root| Some((fs::metadata(&root).ok()?, root)));
    let device = found.as_ref().map(|(metadata, _)| metadata.dev());
    match found {
        Some((metadata, root)) if metadata.is_dir() => {
            let mut tree = Looked {
                disk: Disk::new(&root),
                root: &root,
                notes: &mut notes,
            };
            // Faults of entries are the reader's to tell; the file system knows no others.
            let folder = source.folder.as_deref().unwrap_or_default();
            if let Some(start) = follow(Path::new(""), folder)
                && let Ok(start) = tree.resolve(&start)
                && let Ok(None) = gather(&mut tree, &start.path, &source.values_files, limits)
            {
                let _ = walk(&mut tree, &start.path, limits);
            }
        }
        Some((metadata, _)) => stamp(&metadata).hash(&mut notes.hasher),
        None => {}
    }
    Seen {
        fingerprint: notes.hasher.finish(),
        device,
    }
}

struct Notes<'a, 'b> {
    hasher: DefaultHasher,
    arm: &'a mut Arm<'b>,
}

impl OnTheWay for Notes<'_, '_> {
    fn before(&mut self, directory: &Path, name: &OsStr) {
        (self.arm)(directory, Some(name));
    }

    fn after(&mut self, step: &Step<'_>) {
        // Not the times: a directory on the way may be a busy one, such as `/tmp`.
        let identity = step.found.map(|it| (it.dev(), it.ino()));
        (identity, step.target).hash(&mut self.hasher);
    }
}

struct Looked<'a, 'b, 'c> {
    disk: Disk<'a>,
    root: &'a Path,
    notes: &'a mut Notes<'b, 'c>,
}

impl Tree for Looked<'_, '_, '_> {
    fn list(&mut self, directory: &Path, room: usize) -> Result<Vec<Entry>, Fault> {
        (self.notes.arm)(&whole(self.root, directory), None);
        self.disk.list(directory, room)
    }

    fn resolve(&mut self, link: &Path) -> Result<Target, Fault> {
        resolve(self.root, link, self.notes);
        self.disk.resolve(link)
    }

    /// Notes which file it is. Gives what tells which other files belong to the source, and nothing of any other.
    fn read(&mut self, file: &Path, limit: u64) -> Result<Vec<u8>, Fault> {
        let path = whole(self.root, file);
        // Behind a link it may be in a directory that is not listed: a ConfigMap volume's.
        if let (Some(directory), Some(name)) = (path.parent(), path.file_name()) {
            (self.notes.arm)(directory, Some(name));
        }
        let stamp = fs::symlink_metadata(&path).ok().map(|it| stamp(&it));
        (file, stamp).hash(&mut self.notes.hasher);
        match path.file_name().is_some_and(is_kustomization) {
            true => self.disk.read(file, limit),
            false => Ok(Vec::new()),
        }
    }
}

/// Joins without the slash that an empty path would leave at the end.
fn whole(root: &Path, path: &Path) -> PathBuf {
    match path.as_os_str().is_empty() {
        true => root.to_owned(),
        false => root.join(path),
    }
}
