//! Folders that have to be built: all of their files, and those of the folders that they refer to.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use super::collect::Collected;
use super::kustomization::{Reference, kustomization};
use super::names::{is_chart, is_kustomization, shown};
use super::tree::{Fault, Kind, Target, Tree};
use super::walk::is_overlay;
use super::{Limits, SourceError};
use crate::load::{Snapshot, SourceFile};

/// What a source holds.
#[derive(Clone, Debug)]
pub enum Found {
    /// Manifests, as they stand.
    Manifests(Snapshot),
    /// What manifests are built from.
    Overlay(Overlay),
}

/// A folder that has to be built.
#[derive(Clone, Debug)]
pub struct Overlay {
    /// By what.
    pub kind: OverlayKind,
    /// The folder, relative to the root of the source; empty for the root itself.
    pub folder: String,
    /// The file that tells what it is, relative to the root of the source.
    pub file: Arc<str>,
    /// All files of the folder and of those that it refers to, whether manifests or not.
    pub snapshot: Snapshot,
}

/// What builds a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum OverlayKind {
    /// `kustomize build`.
    Kustomize,
    /// `helm template`.
    Helm,
}

impl Found {
    /// What was read, built or not.
    pub fn snapshot(&self) -> &Snapshot {
        match self {
            Self::Manifests(snapshot) | Self::Overlay(Overlay { snapshot, .. }) => snapshot,
        }
    }
}

/// What and where the overlay is that files were gathered for.
#[derive(Clone, Debug)]
pub(super) struct Place {
    kind: OverlayKind,
    folder: String,
    file: Arc<str>,
}

impl Place {
    /// What is found: an overlay if there is a place of one.
    pub(super) fn found(place: Option<Self>, snapshot: Snapshot) -> Found {
        match place {
            Some(Self { kind, folder, file }) => Found::Overlay(Overlay {
                kind,
                folder,
                file,
                snapshot,
            }),
            None => Found::Manifests(snapshot),
        }
    }
}

/// Follows a path from a folder of the source; nothing when it leads out of the source.
pub fn follow(folder: &Path, path: &str) -> Option<PathBuf> {
    let mut done = folder.to_owned();
    for part in Path::new(path).components() {
        match part {
            Component::Normal(name) => done.push(name),
            Component::ParentDir if done.pop() => {}
            Component::CurDir => {}
            Component::ParentDir | Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(done)
}

/// Reads all files of a folder that is an overlay, of the folders it refers to, and `more` files named from it; nothing when it
/// is none.
pub(super) fn gather<T: Tree>(
    tree: &mut T,
    start: &Path,
    more: &[String],
    limits: &Limits,
) -> Result<Option<(Collected, Place)>, SourceError> {
    let mut gathering = Gathering {
        tree,
        limits,
        collected: Collected::new(limits),
        seen: HashSet::new(),
        references: BTreeMap::new(),
    };
    let Some(place) = gathering.place(start)? else {
        return Ok(None);
    };
    gathering.folder(start.to_owned(), start.to_owned())?;
    gathering.bases(start)?;
    for path in more.iter().filter_map(|path| follow(start, path)) {
        // One that is not there is the builder's to tell.
        if let Ok(Target {
            path: real,
            kind: Kind::File,
        }) = gathering.tree.resolve(&path)
        {
            gathering.file(path, &real)?;
        }
    }
    Ok(Some((gathering.collected, place)))
}

struct Gathering<'a, T> {
    tree: &'a mut T,
    limits: &'a Limits,
    collected: Collected,
    /// Names of files and folders that were read.
    seen: HashSet<PathBuf>,
    /// What the kustomization of each folder refers to.
    references: BTreeMap<PathBuf, Vec<Reference>>,
}

impl<T: Tree> Gathering<'_, T> {
    /// Tells whether a folder is an overlay. One that cannot be listed is none: who reads manifests tells why.
    fn place(&mut self, folder: &Path) -> Result<Option<Place>, SourceError> {
        let Ok(entries) = self.tree.list(folder, self.limits.entries) else {
            return Ok(None);
        };
        let names = |is: fn(&OsStr) -> bool| {
            let names = entries.iter().map(|entry| &entry.name);
            names
                .filter(move |name| is(name))
                .map(|name| folder.join(name))
        };
        let place = |kind, file: &Path| Place {
            kind,
            folder: match folder.as_os_str().is_empty() {
                true => String::new(),
                false => shown(folder),
            },
            file: shown(file).into(),
        };
        for file in names(is_kustomization) {
            let content = self.tree.resolve(&file);
            let content = content.and_then(|it| self.tree.read(&it.path, self.limits.file_bytes));
            match content {
                Ok(bytes) if is_overlay(&bytes) => {
                    return Ok(Some(place(OverlayKind::Kustomize, &file)));
                }
                Err(Fault::Fatal(error)) => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(names(is_chart)
            .next()
            .map(|file| place(OverlayKind::Helm, &file)))
    }

    /// Reads a folder and what is below it. `name` is its path as the overlay knows it, `real` its path in the tree.
    fn folder(&mut self, name: PathBuf, real: PathBuf) -> Result<(), SourceError> {
        let mut waiting = vec![(name, real, 0)];
        while let Some((name, real, depth)) = waiting.pop() {
            if self.collected.is_full() || !self.seen.insert(name.clone()) {
                continue;
            }
            let entries = self.collected.list(self.tree, (&name, &real), depth)?;
            for entry in entries.into_iter().filter(|entry| !is_foreign(&entry.name)) {
                if self.collected.is_full() || !self.collected.fits(&name, &real, &entry.name) {
                    continue;
                }
                let (name, path) = (name.join(&entry.name), real.join(&entry.name));
                let target = match entry.kind {
                    Kind::Link => self.tree.resolve(&path),
                    kind => Ok(Target { path, kind }),
                };
                match target {
                    Ok(Target { path, .. })
                        if entry.kind == Kind::Link
                            && !self
                                .collected
                                .is_short(path.as_os_str().len(), || name.clone()) => {}
                    Ok(Target {
                        path,
                        kind: Kind::Directory,
                    }) if real.starts_with(&path) => {
                        let message = "is a symbolic link to a folder that holds it";
                        self.collected.error(&name, message, None);
                    }
                    Ok(Target {
                        path,
                        kind: Kind::Directory,
                    }) => waiting.push((name, path, depth + 1)),
                    Ok(Target {
                        path,
                        kind: Kind::File | Kind::Link,
                    }) => self.file(name, &path)?,
                    Ok(Target {
                        kind: Kind::Submodule,
                        ..
                    }) => {
                        let hint = "give the submodule's own repository as a source";
                        self.collected.fault(&name, Fault::submodule(hint))?;
                    }
                    Ok(Target {
                        kind: Kind::Special(what),
                        ..
                    }) => {
                        let message = format!("is {what}, not a regular file; it was not opened");
                        self.collected.error(&name, message, None);
                    }
                    // Whatever its name, a generator or a template may want it.
                    Err(Fault::Ignored) => self.collected.fault(&name, Fault::leads_out())?,
                    Err(fault) => self.collected.fault(&name, fault)?,
                }
            }
        }
        Ok(())
    }

    fn file(&mut self, name: PathBuf, real: &Path) -> Result<(), SourceError> {
        if self.collected.is_full() || !self.seen.insert(name.clone()) {
            return Ok(());
        }
        let bytes = match self.tree.read(real, self.limits.file_bytes) {
            Ok(bytes) => bytes,
            Err(fault) => return self.collected.fault(&name, fault),
        };
        if let (Some(folder), true) = (
            name.parent(),
            name.file_name().is_some_and(is_kustomization),
        ) {
            let file = SourceFile {
                path: shown(&name).into(),
                bytes: bytes.clone(),
            };
            // What is wrong with it is the builder's to tell.
            let (found, _) = kustomization(&file);
            let known = self.references.entry(folder.to_owned()).or_default();
            known.extend(found.references);
        }
        self.collected.file(&name, bytes);
        Ok(())
    }

    /// Reads the folders that kustomizations refer to, from one to the next.
    fn bases(&mut self, start: &Path) -> Result<(), SourceError> {
        let mut ahead = VecDeque::from([start.to_owned()]);
        while let Some(folder) = ahead.pop_front() {
            let references = self.references.remove(&folder).unwrap_or_default();
            let local = references
                .iter()
                .filter(|it| it.may_be_folder && !it.is_remote());
            for base in local.filter_map(|it| follow(&folder, &it.text)) {
                match self.tree.resolve(&base) {
                    Ok(Target {
                        path,
                        kind: Kind::Directory,
                    }) => {
                        self.folder(base.clone(), path)?;
                        ahead.push_back(base);
                    }
                    Err(Fault::Fatal(error)) => return Err(error),
                    // One that is not there, or leads out, is the builder's to tell; files lie in the folder itself.
                    Ok(_) | Err(_) => {}
                }
            }
        }
        Ok(())
    }
}

/// git's own files, and those behind a ConfigMap volume's links.
fn is_foreign(name: &OsStr) -> bool {
    name == ".git" || name.as_bytes().starts_with(b"..")
}
