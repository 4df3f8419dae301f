//! Reads the files once.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use super::checks::{config_faults, sync_faults, sync_remarks};
use super::{ConfigSync, Configuration, Reading, is_complete};
use crate::api::{Config, ObjectId, crds, names};
use crate::load::{
    Diagnostic, Document, Limits, Position, Schemas, Severity, add_excerpts, elsewhere, load,
};
use crate::source::{self, directory};

/// Reads a file or a folder of `Config` and `Sync` documents, as if nothing was in force before.
///
/// `own_namespace` is that of Syncs that name none; without it they must name one. Never fails: what is wrong is among the
/// diagnostics. Blocks.
pub fn read(path: &Path, own_namespace: Option<&str>) -> Configuration {
    read_once(path, own_namespace).after(None)
}

pub(super) fn read_once(path: &Path, own_namespace: Option<&str>) -> Reading {
    let whole = |message: String| Reading::failed(Diagnostic::file_error(".", message));
    let schemas = match crds().and_then(|crds| Ok((crds, Config::definition()?))) {
        Ok((crds, config)) => Schemas::new(crds.iter().chain([&config])),
        Err(error) => return whole(format!("make the schemas: {error}")),
    };
    let snapshot = match directory::read(path, &source::Limits::default()) {
        Ok(snapshot) => snapshot,
        Err(error) => return whole(error.to_string()),
    };
    let loaded = load(&snapshot, &Limits::default());
    let mut sorted = Sorted {
        schemas,
        own_namespace,
        configs: Vec::new(),
        syncs: BTreeMap::new(),
        findings: Vec::new(),
    };
    for document in &loaded.documents {
        sorted.take(document);
    }
    let mut reading = sorted.finish();
    add_excerpts(&mut reading.diagnostics, &snapshot);
    let found = std::mem::take(&mut reading.diagnostics);
    let diagnostics = [&snapshot.diagnostics, &loaded.diagnostics, &found];
    reading.diagnostics = diagnostics.into_iter().flatten().cloned().collect();
    let empty = snapshot.files.iter().filter(|file| file.bytes.is_empty());
    reading.empty = empty.map(|file| Arc::clone(&file.path)).collect();
    if loaded.documents.is_empty() && is_complete(&reading.diagnostics) {
        // Most likely a volume that is not there yet: it must not remove every Sync.
        let message = "holds neither a Config nor a Sync; nothing counts as removed";
        let error = Diagnostic::file_error(".", message).with_hint("keep a Config in it");
        reading.diagnostics.push(error);
    }
    reading
}

/// The documents of a reading, by kind and identity.
struct Sorted<'a> {
    schemas: Schemas,
    own_namespace: Option<&'a str>,
    /// All Configs, sound or not.
    configs: Vec<(&'a Document, Option<Config>)>,
    /// All Syncs, sound or not.
    syncs: BTreeMap<ObjectId, Vec<(&'a Document, Option<ConfigSync>)>>,
    findings: Vec<Diagnostic>,
}

impl<'a> Sorted<'a> {
    fn take(&mut self, document: &'a Document) {
        match (&*document.api_version, &*document.id.group_kind.kind) {
            (names::API_VERSION, names::CONFIG) => {
                let config = self.config(document);
                self.configs.push((document, config));
            }
            (names::API_VERSION, names::SYNC) => {
                let Some(id) = self.identity(document) else {
                    return;
                };
                let sync = self.sync(document, &id);
                self.syncs.entry(id).or_default().push((document, sync));
            }
            (api_version, kind) => {
                let message = format!(
                    "{api_version} {kind} has no place in the controller's configuration: it takes Config and Sync of {}",
                    names::API_VERSION
                );
                let error = Diagnostic::error_at(&document.origin, message)
                    .with_hint("objects belong into a source that a Sync names");
                self.findings.push(error);
            }
        }
    }

    fn config(&mut self, document: &Document) -> Option<Config> {
        if !self.is_sound(document, config_faults(&document.root)) {
            return None;
        }
        let spec = document.root.get("spec")?.to_json();
        match serde_json::from_value(spec) {
            Ok(config) => Some(config),
            Err(error) => {
                let error = Diagnostic::error_at(&document.origin, format!("`spec`: {error}"));
                self.findings.push(error);
                None
            }
        }
    }

    /// Fills the namespace in.
    fn identity(&mut self, document: &Document) -> Option<ObjectId> {
        let mut id = document.id.clone();
        id.namespace = id.namespace.or(self.own_namespace.map(str::to_owned));
        if id.namespace.is_none() {
            let message = "`metadata.namespace` is missing, and the controller has none of its own";
            self.findings
                .push(Diagnostic::error_at(&document.origin, message));
            return None;
        }
        Some(id)
    }

    fn sync(&mut self, document: &Document, id: &ObjectId) -> Option<ConfigSync> {
        if !self.is_sound(document, sync_faults(&document.root)) {
            return None;
        }
        for ((position, message), hint) in sync_remarks(&document.root) {
            let warning = Diagnostic::warning_at(&document.origin, message).with_hint(hint);
            self.findings.push(Diagnostic {
                position: Some(position),
                ..warning
            });
        }
        let mut object = document.root.to_json();
        let metadata = object.get_mut("metadata")?.as_object_mut()?;
        metadata.insert("namespace".to_owned(), id.namespace.clone()?.into());
        Some(ConfigSync {
            id: id.clone(),
            object,
            origin: document.origin.clone(),
        })
    }

    /// Tells whether a document has no error, and notes those it has.
    fn is_sound(&mut self, document: &Document, faults: Vec<(Position, String)>) -> bool {
        let mut found = self.schemas.check(document);
        let fits = found.is_empty();
        for (position, message) in faults {
            // Our words for a value say more than that it does not match a pattern. Besides that, what has the wrong type or
            // name need not be looked at any closer.
            let others = found.len();
            found.retain(|d| d.position != Some(position));
            if fits || found.len() < others {
                found.push(Diagnostic {
                    position: Some(position),
                    ..Diagnostic::error_at(&document.origin, message)
                });
            }
        }
        let is_sound = found.iter().all(|d| d.severity != Severity::Error);
        self.findings.extend(found);
        is_sound
    }

    /// Refuses what is there more than once.
    fn finish(self) -> Reading {
        let Self {
            configs,
            syncs,
            findings: mut diagnostics,
            ..
        } = self;
        let places: Vec<_> = configs.iter().map(|(document, _)| *document).collect();
        diagnostics.extend(repeated(&places, "this Config"));
        let has_configs = !configs.is_empty();
        let config = match <[_; 1]>::try_from(configs) {
            Ok([(_, config)]) => config,
            Err(_) => None,
        };
        let mut sound = Vec::new();
        for (id, of_id) in syncs {
            let places: Vec<_> = of_id.iter().map(|(document, _)| *document).collect();
            diagnostics.extend(repeated(&places, &id.to_string()));
            if let Ok([(_, sync)]) = <[_; 1]>::try_from(of_id) {
                sound.extend(sync);
            }
        }
        diagnostics.sort_by(|a, b| (&a.file, a.position).cmp(&(&b.file, b.position)));
        Reading {
            empty: BTreeSet::new(),
            config_is_refused: has_configs && config.is_none(),
            config,
            syncs: sound,
            diagnostics,
        }
    }
}

/// Says of each document where the others are, if there are others.
fn repeated(documents: &[&Document], what: &str) -> Vec<Diagnostic> {
    let at = |document: &Document| {
        let others = elsewhere(documents.iter().map(|it| &it.origin), &document.origin);
        let message = format!("{what} is also at {others}; none of them counts");
        Diagnostic::error_at(&document.origin, message)
    };
    match documents {
        [] | [_] => Vec::new(),
        several => several.iter().map(|document| at(document)).collect(),
    }
}
