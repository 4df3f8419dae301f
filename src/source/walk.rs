//! The one rule of what belongs to a source, for directories and for git trees alike.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::collect::Collected;
use super::names::{is_chart, is_hidden, is_kustomization, is_manifest, is_misspelt, lower, shown};
use super::tree::{Entry, Fault, Kind, Target, Tree};
use super::{Limits, SourceError};

/// Reads one file that was named by the user, whatever its ending.
pub(super) fn single<T: Tree>(
    tree: &mut T,
    name: &Path,
    file: &Path,
    limits: &Limits,
) -> Result<Collected, SourceError> {
    let mut walk = Walk::new(tree, limits);
    walk.take(name, file)?;
    Ok(walk.collected)
}

/// Reads all manifests below `start`.
///
/// Every real directory and file is read once, under its real name where it has one in the selection: a link to a file
/// that is read anyway must not give the same object twice.
pub(super) fn walk<T: Tree>(
    tree: &mut T,
    start: &Path,
    limits: &Limits,
) -> Result<Collected, SourceError> {
    let mut walk = Walk::new(tree, limits);
    walk.visit(PathBuf::new(), start.to_owned(), 0)?;
    while let Some(link) = walk.links.pop_first() {
        walk.follow(link)?;
    }
    Ok(walk.collected)
}

/// A link that waits until everything without links was read. The order of the fields is the order of reading.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct Pending {
    name: PathBuf,
    real: PathBuf,
    depth: usize,
}

struct Walk<'a, T> {
    tree: &'a mut T,
    limits: &'a Limits,
    collected: Collected,
    seen: HashSet<PathBuf>,
    links: BTreeSet<Pending>,
}

impl<'a, T: Tree> Walk<'a, T> {
    fn new(tree: &'a mut T, limits: &'a Limits) -> Self {
        Self {
            tree,
            limits,
            collected: Collected::new(limits),
            seen: HashSet::new(),
            links: BTreeSet::new(),
        }
    }

    /// Reads a directory and what is below it. `name` is its path as shown, `real` its path in the tree.
    fn visit(&mut self, name: PathBuf, real: PathBuf, depth: usize) -> Result<(), SourceError> {
        // A stack of our own: the depth of a hostile tree is bounded by a limit, not by the thread's stack.
        let mut waiting = vec![(name, real, depth)];
        while let Some((name, real, depth)) = waiting.pop() {
            if self.collected.is_full() || !self.seen.insert(real.clone()) {
                continue;
            }
            // Backwards, because the last directory pushed is the first one read.
            let mut entries = self.collected.list(self.tree, (&name, &real), depth)?;
            if self.is_rendered_chart(&name, &entries) {
                continue;
            }
            entries.retain(is_looked_at);
            self.tell_twins(&name, &entries);
            for entry in entries {
                if self.collected.is_full() || !self.collected.fits(&name, &real, &entry.name) {
                    continue;
                }
                let (name, real) = (name.join(&entry.name), real.join(&entry.name));
                if entry.kind == Kind::Directory {
                    waiting.push((name, real, depth + 1));
                } else {
                    self.enter(name, real, &entry, depth)?;
                }
            }
        }
        Ok(())
    }

    /// Points out names of which only one can be checked out where file systems do not tell capital letters from small ones.
    fn tell_twins(&mut self, name: &Path, entries: &[Entry]) {
        let mut known: HashMap<String, &OsStr> = HashMap::new();
        let is_capital = |entry: &&Entry| lower(&entry.name) != entry.name.to_string_lossy();
        if !entries.iter().any(|entry| is_capital(&entry)) {
            return;
        }
        for entry in entries {
            if let Some(twin) = known.insert(lower(&entry.name), &entry.name) {
                let twin = shown(Path::new(twin));
                self.collected.warning(
                    &name.join(&entry.name),
                    format!("differs from {twin} in the case of letters only"),
                    Some("rename one of them: on macOS and Windows only one of them is there"),
                );
            }
        }
    }

    fn enter(
        &mut self,
        name: PathBuf,
        real: PathBuf,
        entry: &Entry,
        depth: usize,
    ) -> Result<(), SourceError> {
        match entry.kind {
            Kind::File if is_kustomization(&entry.name) => self.kustomization(&name, &real),
            Kind::File if is_chart(&entry.name) => {
                self.collected.warning(
                    &name,
                    "a Helm chart below the source's folder is not rendered: the files beside it are read as plain manifests",
                    None,
                );
                Ok(())
            }
            Kind::File if is_manifest(&entry.name) => self.take(&name, &real),
            Kind::Link => {
                self.links.insert(Pending { name, real, depth });
                Ok(())
            }
            Kind::Submodule => {
                let hint = "give the submodule's own repository as a source";
                self.collected.fault(&name, Fault::submodule(hint))
            }
            Kind::File if is_misspelt(&entry.name) => {
                self.collected.warning(
                    &name,
                    "is not read: its ending has capital letters",
                    Some("manifests end in `.yaml`, `.yml` or `.json`"),
                );
                Ok(())
            }
            Kind::Special(what) if is_manifest(&entry.name) => {
                let message = format!("is {what}, not a regular file; it was not opened");
                self.collected.error(&name, message, None);
                Ok(())
            }
            Kind::File | Kind::Directory | Kind::Special(_) => Ok(()),
        }
    }

    fn follow(&mut self, link: Pending) -> Result<(), SourceError> {
        if self.collected.is_full() {
            return Ok(());
        }
        let Target { path, kind } = match self.tree.resolve(&link.real) {
            Ok(target) => target,
            Err(fault) => return self.collected.fault(&link.name, fault),
        };
        match kind {
            _ if !self
                .collected
                .is_short(path.as_os_str().len(), || link.name.clone()) =>
            {
                Ok(())
            }
            Kind::Directory => self.visit(link.name, path, link.depth + 1),
            kind => {
                let entry = Entry {
                    name: link.name.file_name().unwrap_or_default().to_owned(),
                    kind,
                };
                self.enter(link.name, path, &entry, link.depth)
            }
        }
    }

    fn take(&mut self, name: &Path, real: &Path) -> Result<(), SourceError> {
        if let Some(bytes) = self.content(name, real)? {
            self.collected.file(name, bytes);
        }
        Ok(())
    }

    fn content(&mut self, name: &Path, real: &Path) -> Result<Option<Vec<u8>>, SourceError> {
        if self.collected.is_full() || !self.seen.insert(real.to_owned()) {
            return Ok(None);
        }
        match self.tree.read(real, self.limits.file_bytes) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(fault) => self.collected.fault(name, fault).map(|()| None),
        }
    }

    /// Leaves a kustomize overlay's own file out, but keeps an object that only happens to be in a file of that name.
    fn kustomization(&mut self, name: &Path, real: &Path) -> Result<(), SourceError> {
        if let Some(bytes) = self.content(name, real)? {
            if is_overlay(&bytes) {
                self.collected.overlay(name);
            } else {
                self.collected.file(name, bytes);
            }
        }
        Ok(())
    }

    /// Tells whether the directory is a chart with templates, which are no YAML; says so if it is.
    fn is_rendered_chart(&mut self, name: &Path, entries: &[Entry]) -> bool {
        let chart = entries
            .iter()
            .any(|e| e.kind == Kind::File && is_chart(&e.name));
        let templates = entries
            .iter()
            .any(|e| e.name == "templates" && matches!(e.kind, Kind::Directory | Kind::Link));
        if chart && templates {
            self.collected.error(
                &name.join("Chart.yaml"),
                "a Helm chart below the source's folder is not rendered",
                Some("give the chart's own folder as a source"),
            );
        }
        chart && templates
    }
}

/// Tells whether an entry could lead to a manifest. Of all others no path is made: there may be a hundred thousand.
fn is_looked_at(entry: &Entry) -> bool {
    let is_file_of_ours = || {
        let name = &entry.name;
        is_manifest(name) || is_kustomization(name) || is_misspelt(name)
    };
    !is_hidden(&entry.name)
        && match entry.kind {
            Kind::Directory | Kind::Link | Kind::Submodule => true,
            Kind::File | Kind::Special(_) => is_file_of_ours(),
        }
}

/// Tells a kustomize overlay from an object of another API, such as Flux's own `Kustomization`. An overlay's
/// `apiVersion` may be left out.
pub(super) fn is_overlay(bytes: &[u8]) -> bool {
    bytes
        .split(|byte| *byte == b'\n')
        .filter_map(|line| line.strip_prefix(b"apiVersion:"))
        .all(|value| {
            value
                .windows(b"kustomize.config.k8s.io/".len())
                .any(|part| part == b"kustomize.config.k8s.io/")
        })
}
