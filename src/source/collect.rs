//! What a walk has gathered so far, within the limits.

use std::path::Path;

use super::names::shown;
use super::tree::Fault;
use super::{Limits, SourceError};
use crate::load::{Diagnostic, Severity, SourceFile};

/// Files and diagnostics of a snapshot in the making.
#[derive(Debug)]
pub(super) struct Collected {
    files: Vec<SourceFile>,
    diagnostics: Vec<Diagnostic>,
    overlays: Vec<String>,
    bytes: u64,
    entries: usize,
    full: bool,
}

impl Collected {
    pub(super) fn new() -> Self {
        Self {
            files: Vec::new(),
            diagnostics: Vec::new(),
            overlays: Vec::new(),
            bytes: 0,
            entries: 0,
            full: false,
        }
    }

    /// Tells whether a limit on the whole source was reached; the rest is then left unread.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Number of directory entries that may still be looked at.
    pub(super) fn room(&self, limits: &Limits) -> usize {
        limits.entries.saturating_sub(self.entries)
    }

    pub(super) fn count_entries(&mut self, entries: usize, limits: &Limits) {
        self.entries = self.entries.saturating_add(entries);
        if self.entries > limits.entries {
            self.overflow(format!(
                "the source has more than {} directory entries",
                limits.entries
            ));
        }
    }

    pub(super) fn file(&mut self, path: &Path, bytes: Vec<u8>, limits: &Limits) {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        if self.bytes > limits.total_bytes {
            self.overflow(format!(
                "the source's manifests are larger than {} bytes together",
                limits.total_bytes
            ));
        } else if self.files.len() >= limits.files {
            self.overflow(format!(
                "the source has more than {} manifest files",
                limits.files
            ));
        } else {
            self.files.push(SourceFile {
                path: shown(path).into(),
                bytes,
            });
        }
    }

    fn overflow(&mut self, message: String) {
        if !self.full {
            self.full = true;
            self.diagnostics.push(
                Diagnostic::file_error(".", message)
                    .with_hint("name a directory that holds the manifests only"),
            );
        }
    }

    pub(super) fn error(&mut self, path: &Path, message: impl Into<String>, hint: Option<&str>) {
        self.diagnostics.push(Diagnostic {
            hint: hint.map(str::to_owned),
            ..Diagnostic::file_error(shown(path), message)
        });
    }

    pub(super) fn warning(&mut self, path: &Path, message: impl Into<String>) {
        self.diagnostics.push(Diagnostic {
            severity: Severity::Warning,
            ..Diagnostic::file_error(shown(path), message)
        });
    }

    /// Records a fault of one entry, or gives back the one that ends the walk.
    pub(super) fn fault(&mut self, path: &Path, fault: Fault) -> Result<(), SourceError> {
        match fault {
            Fault::Ignored => Ok(()),
            Fault::Entry { message, hint } => {
                self.error(path, message, hint);
                Ok(())
            }
            Fault::Fatal(error) => Err(error),
        }
    }

    pub(super) fn overlay(&mut self, path: &Path) {
        self.overlays.push(shown(path));
    }

    /// Ends the gathering: files and diagnostics in the order of their paths.
    pub(super) fn finish(mut self) -> (Vec<SourceFile>, Vec<Diagnostic>) {
        self.overlays.sort();
        if let Some(first) = self.overlays.first() {
            // One for all: a repository of overlays would otherwise drown everything else.
            let others = match self.overlays.len() - 1 {
                0 => String::new(),
                n => format!(" ({n} more like it)"),
            };
            self.diagnostics.push(Diagnostic {
                severity: Severity::Warning,
                hint: Some("give the overlay's own folder as a source to have it built".to_owned()),
                ..Diagnostic::file_error(
                    first.as_str(),
                    format!("an overlay below the source's folder is not built: the files beside it are read as plain manifests{others}"),
                )
            });
        }
        self.files.sort_by(|a, b| a.path.cmp(&b.path));
        self.diagnostics.sort_by(|a, b| a.file.cmp(&b.file));
        (self.files, self.diagnostics)
    }
}
