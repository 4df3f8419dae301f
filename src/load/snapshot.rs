//! One state of a source, read completely or with the reasons why not.

use std::sync::Arc;

use super::{Diagnostic, Severity};

/// All manifest files of a source at one revision.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// `<branch or tag>@sha1:<commit>` for git, `sha256:<digest of names and contents>` for a directory.
    pub revision: String,
    /// Files in the order of their paths.
    pub files: Vec<SourceFile>,
    /// What could not be read. An error here means that the snapshot is partial and prunes nothing.
    pub diagnostics: Vec<Diagnostic>,
}

/// One file of a source.
#[derive(Clone, Debug)]
pub struct SourceFile {
    /// Path relative to the root of the source, with `/` between its parts.
    pub path: Arc<str>,
    /// The file's bytes, unread so far.
    pub bytes: Vec<u8>,
}

impl Snapshot {
    /// Tells whether everything the source holds was read.
    pub fn is_complete(&self) -> bool {
        !self
            .diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }
}
