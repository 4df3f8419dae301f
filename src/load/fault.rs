//! A fault inside one document, before it is tied to a file and an excerpt.

use super::{Position, Severity};

/// What is wrong and where; becomes a [`Diagnostic`](super::Diagnostic) once the file is known.
///
/// `message` names keys and types but never quotes a value: it may be a Secret's (invariant 6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Fault {
    /// How much it matters.
    pub severity: Severity,
    /// Place in the file.
    pub position: Position,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub hint: Option<String>,
    /// Whether the text could not be parsed, so that nobody knows which parts of a line are values.
    pub syntax: bool,
}

impl Fault {
    /// A document that parses, but says something impossible.
    pub(super) fn error(position: Position, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            position,
            message: message.into(),
            hint: None,
            syntax: false,
        }
    }

    /// Text that does not parse.
    pub(super) fn syntax(position: Position, message: impl Into<String>) -> Self {
        Self {
            syntax: true,
            ..Self::error(position, message)
        }
    }

    /// Something worth a look.
    pub(super) fn warning(position: Position, message: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(position, message)
        }
    }

    /// Adds what to do about it.
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}
