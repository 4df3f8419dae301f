//! What is wrong with a source, and exactly where.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

/// A place in a file: line and column, both counted from 1, the column in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Where an object or a fault comes from: a file of the source, relative to its root, and a place in it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Origin {
    /// Path relative to the root of the source, with `/` between its parts.
    pub file: Arc<str>,
    /// Place in that file.
    #[serde(flatten)]
    pub position: Position,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}:{}:{}",
            self.file, self.position.line, self.position.column
        )
    }
}

/// How much a diagnostic matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Worth a look; the object is applied all the same.
    Warning,
    /// The object or file is left out, and nothing is pruned in this run.
    Error,
}

/// One fault of a source, for people: where, what, the line itself, and what to do about it.
///
/// Neither `message` nor `excerpt` may carry a Secret's value (invariant 6).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Diagnostic {
    /// How much it matters.
    pub severity: Severity,
    /// Path relative to the root of the source.
    pub file: Arc<str>,
    /// Place in the file; absent when the fault concerns the file as a whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub position: Option<Position>,
    /// What is wrong, in one sentence without a full stop.
    pub message: String,
    /// The line the position names, as it stands in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<String>,
    /// What to do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Diagnostic {
    /// Makes an error that concerns a whole file.
    pub fn file_error(file: impl Into<Arc<str>>, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            file: file.into(),
            position: None,
            message: message.into(),
            excerpt: None,
            hint: None,
        }
    }

    /// Makes an error at a place.
    pub fn error_at(origin: &Origin, message: impl Into<String>) -> Self {
        Self {
            position: Some(origin.position),
            ..Self::file_error(origin.file.clone(), message)
        }
    }

    /// Makes a warning at a place.
    pub fn warning_at(origin: &Origin, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error_at(origin, message)
        }
    }

    /// Adds what to do about it.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

/// So many places are named; more would not be read, and a hundred thousand of them would name each other.
const PLACES: usize = 3;

/// Names the places of `all` other than `own`: `a.yaml:1:1, b.yaml:1:1, c.yaml:1:1 and 7 more`.
pub fn elsewhere<'o>(all: impl ExactSizeIterator<Item = &'o Origin>, own: &Origin) -> String {
    let others = all.len().saturating_sub(1);
    let mut named: Vec<String> = all
        .filter(|other| *other != own)
        .take(PLACES)
        .map(ToString::to_string)
        .collect();
    if others > named.len() {
        named.push(format!("{} more", others - named.len()));
    }
    match named.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => named.concat(),
    }
}
