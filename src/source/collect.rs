//! What a walk has gathered so far, within the limits.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use super::names::shown;
use super::tree::{Entry, Fault, Tree};
use super::{Limits, SourceError};
use crate::load::{Diagnostic, Severity, SourceFile};

/// Of a name that is too long so many bytes are shown.
const NAME_SHOWN: usize = 64;

/// Files and diagnostics of a snapshot in the making.
#[derive(Debug)]
pub(super) struct Collected {
    files: Vec<SourceFile>,
    diagnostics: Vec<Diagnostic>,
    overlays: Vec<String>,
    limits: Limits,
    bytes: u64,
    entries: usize,
    path_bytes: usize,
    errors: usize,
    warnings: usize,
    full: bool,
}

impl Collected {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            files: Vec::new(),
            diagnostics: Vec::new(),
            overlays: Vec::new(),
            limits: limits.clone(),
            bytes: 0,
            entries: 0,
            path_bytes: 0,
            errors: 0,
            warnings: 0,
            full: false,
        }
    }

    /// Tells whether a limit on the whole source was reached; the rest is then left unread.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// Lists a directory that is so deep in the source, the last name first; gives nothing, and says why, when that is too deep
    /// or it cannot be listed. `name` is its path as shown, `real` its path in the tree.
    pub(super) fn list<T: Tree>(
        &mut self,
        tree: &mut T,
        (name, real): (&Path, &Path),
        depth: usize,
    ) -> Result<Vec<Entry>, SourceError> {
        let Limits {
            depth: deepest,
            entries: most,
            ..
        } = self.limits;
        if depth > deepest {
            let message = format!("is more than {deepest} directories deep");
            self.error(name, message, None);
            return Ok(Vec::new());
        }
        let mut entries = match tree.list(real, most.saturating_sub(self.entries)) {
            Ok(entries) => entries,
            Err(fault) => return self.fault(name, fault).map(|()| Vec::new()),
        };
        self.entries = self.entries.saturating_add(entries.len());
        if self.entries > most {
            self.overflow(format!("the source has more than {most} directory entries"));
        }
        entries.sort_by(|a, b| b.name.cmp(&a.name));
        Ok(entries)
    }

    /// Tells whether an entry's paths are short enough to keep, and says so if they are not. `name` and `real` are those of its
    /// directory. In git, a name may be as long as a file, and many entries share it.
    pub(super) fn fits(&mut self, name: &Path, real: &Path, entry: &OsStr) -> bool {
        if entry.as_bytes().contains(&b'/') {
            // Git itself makes no such tree; joined to a path it would be another one.
            let message = "holds a name with a slash in it, which was not read";
            self.error(name, message, None);
            return false;
        }
        let directory = name.as_os_str().len().max(real.as_os_str().len());
        let begin = entry
            .as_bytes()
            .get(..NAME_SHOWN)
            .unwrap_or(entry.as_bytes());
        let shown = || name.join(OsStr::from_bytes(begin));
        self.is_short(directory + 1 + entry.len(), shown)
    }

    /// The same for a path of so many bytes.
    pub(super) fn is_short(&mut self, bytes: usize, name: impl FnOnce() -> PathBuf) -> bool {
        let most = self.limits.path_bytes;
        if bytes > most {
            let message =
                format!("begins a path of {bytes} bytes, more than {most}; it was not read");
            self.error(&name(), message, None);
            return false;
        }
        self.path_bytes = self.path_bytes.saturating_add(bytes);
        let most = self.limits.all_path_bytes;
        if self.path_bytes > most {
            self.overflow(format!(
                "the source's paths are longer than {most} bytes together"
            ));
        }
        true
    }

    pub(super) fn file(&mut self, path: &Path, bytes: Vec<u8>) {
        self.bytes = self.bytes.saturating_add(bytes.len() as u64);
        let Limits {
            total_bytes, files, ..
        } = self.limits;
        if self.bytes > total_bytes {
            self.overflow(format!(
                "the source's manifests are larger than {total_bytes} bytes together"
            ));
        } else if self.files.len() >= files {
            self.overflow(format!("the source has more than {files} manifest files"));
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
        self.errors += 1;
        if self.errors >= self.limits.faults {
            let errors = self.errors;
            self.overflow(format!(
                "{errors} entries of the source cannot be read so far"
            ));
        }
    }

    /// Warns; past the limit it only counts.
    pub(super) fn warning(&mut self, path: &Path, message: impl Into<String>, hint: Option<&str>) {
        self.warnings += 1;
        if self.warnings <= self.limits.faults {
            self.diagnostics.push(Diagnostic {
                severity: Severity::Warning,
                hint: hint.map(str::to_owned),
                ..Diagnostic::file_error(shown(path), message)
            });
        }
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
