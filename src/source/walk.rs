//! The one rule of what belongs to a source, for directories and for git trees alike.

use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

use super::collect::Collected;
use super::names::{is_chart, is_hidden, is_kustomization, is_manifest};
use super::tree::{Entry, Kind, Target, Tree};
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
            collected: Collected::new(),
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
            if depth > self.limits.depth {
                let message = format!("is more than {} directories deep", self.limits.depth);
                self.collected.error(&name, message, None);
                continue;
            }
            let room = self.collected.room(self.limits);
            let mut entries = match self.tree.list(&real, room) {
                Ok(entries) => entries,
                Err(fault) => {
                    self.collected.fault(&name, fault)?;
                    continue;
                }
            };
            self.collected.count_entries(entries.len(), self.limits);
            // Backwards, because the last directory pushed is the first one read.
            entries.sort_by(|a, b| b.name.cmp(&a.name));
            if self.is_rendered_chart(&name, &entries) {
                continue;
            }
            for entry in entries {
                let (name, real) = (name.join(&entry.name), real.join(&entry.name));
                if entry.kind == Kind::Directory && !is_hidden(&entry.name) {
                    waiting.push((name, real, depth + 1));
                } else {
                    self.enter(name, real, &entry, depth)?;
                }
            }
        }
        Ok(())
    }

    fn enter(
        &mut self,
        name: PathBuf,
        real: PathBuf,
        entry: &Entry,
        depth: usize,
    ) -> Result<(), SourceError> {
        if is_hidden(&entry.name) {
            return Ok(());
        }
        match entry.kind {
            Kind::File if is_kustomization(&entry.name) => self.kustomization(&name, &real),
            Kind::File if is_chart(&entry.name) => {
                self.collected.warning(
                    &name,
                    "a Helm chart below the source's folder is not rendered: the files beside it are read as plain manifests",
                );
                Ok(())
            }
            Kind::File if is_manifest(&entry.name) => self.take(&name, &real),
            Kind::Link => {
                self.links.insert(Pending { name, real, depth });
                Ok(())
            }
            // Manifests may be in there: to go on as if there were none would prune them.
            Kind::Submodule => {
                self.collected.error(
                    &name,
                    "is a submodule, which is not fetched",
                    Some("give the submodule's own repository as a source"),
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
        match self.tree.resolve(&link.real) {
            Ok(Target {
                path,
                kind: Kind::Directory,
            }) => self.visit(link.name, path, link.depth + 1),
            Ok(Target { path, kind }) => {
                let entry = Entry {
                    name: link.name.file_name().unwrap_or_default().to_owned(),
                    kind,
                };
                self.enter(link.name, path, &entry, link.depth)
            }
            Err(fault) => self.collected.fault(&link.name, fault),
        }
    }

    fn take(&mut self, name: &Path, real: &Path) -> Result<(), SourceError> {
        if let Some(bytes) = self.content(name, real)? {
            self.collected.file(name, bytes, self.limits);
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
                self.collected.file(name, bytes, self.limits);
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
