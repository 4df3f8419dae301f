//! What is wrong with a value, and how that becomes a diagnostic.

use std::collections::BTreeMap;

use crate::load::path::{Step, name_of};
use crate::load::{
    Diagnostic, Document, Entry, MOST_FINDINGS, Node, NodeKind, Origin, Position, Severity,
};

/// A fault of a value. Where the value stands, and what it is called, is looked up at the end: most documents have no
/// fault, and keeping paths for them would cost more than all checks.
pub(super) struct Finding<'n> {
    pub severity: Severity,
    at: &'n Node,
    about: About,
    says: String,
    hint: Option<String>,
}

enum About {
    /// The value, by its path.
    Value,
    /// The key of the value.
    Key,
    /// A field that the value lacks.
    Lacks(&'static str),
}

impl<'n> Finding<'n> {
    /// The API refuses the value; the words follow its path.
    pub(super) fn error(at: &'n Node, says: impl Into<String>) -> Self {
        Self {
            severity: Severity::Error,
            at,
            about: About::Value,
            says: says.into(),
            hint: None,
        }
    }

    /// The API takes the value, but hardly anybody means it; the words follow its path.
    pub(super) fn warning(at: &'n Node, says: impl Into<String>) -> Self {
        Self {
            severity: Severity::Warning,
            ..Self::error(at, says)
        }
    }

    /// The API refuses a key; the words follow it.
    pub(super) fn key(entry: &'n Entry, says: impl Into<String>) -> Self {
        Self {
            about: About::Key,
            ..Self::error(&entry.value, says)
        }
    }

    /// The API refuses a value that lacks a field.
    pub(super) fn lacks(at: &'n Node, field: &'static str) -> Self {
        Self {
            about: About::Lacks(field),
            ..Self::error(at, "")
        }
    }

    /// Adds what to do.
    #[must_use]
    pub(super) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds what to do, if anything is known.
    #[must_use]
    pub(super) fn perhaps(mut self, hint: Option<String>) -> Self {
        self.hint = hint;
        self
    }

    fn spell(&self, path: &[Step<'_>]) -> String {
        let says = &self.says;
        match (&self.about, path.split_last()) {
            (About::Value, None) => format!("the object {says}"),
            (About::Value, Some(_)) => format!("`{}` {says}", name_of(path)),
            (About::Key, Some((Step::Key(key), above))) => {
                format!("the key `{key}` of `{}` {says}", name_of(above))
            }
            (About::Key, _) => format!("the key of `{}` {says}", name_of(path)),
            (About::Lacks(field), _) => {
                let mut path = path.to_vec();
                path.push(Step::Key(field));
                format!("`{}` is missing", name_of(&path))
            }
        }
    }
}

/// Makes diagnostics of the findings in one document, in the order of their places.
pub(super) fn diagnostics(document: &Document, findings: Vec<Finding<'_>>) -> Vec<Diagnostic> {
    if findings.is_empty() {
        return Vec::new();
    }
    let mut wanted: BTreeMap<*const Node, Vec<Finding<'_>>> = BTreeMap::new();
    for finding in findings.into_iter().take(MOST_FINDINGS) {
        wanted.entry(finding.at).or_default().push(finding);
    }
    let mut search = Search {
        document,
        wanted,
        path: Vec::new(),
        found: Vec::new(),
    };
    search.node(&document.root, document.root.position);
    search.found
}

struct Search<'n> {
    document: &'n Document,
    wanted: BTreeMap<*const Node, Vec<Finding<'n>>>,
    path: Vec<Step<'n>>,
    found: Vec<Diagnostic>,
}

impl<'n> Search<'n> {
    fn node(&mut self, node: &'n Node, position: Position) {
        for finding in self
            .wanted
            .remove(&std::ptr::from_ref(node))
            .into_iter()
            .flatten()
        {
            let origin = Origin {
                file: self.document.origin.file.clone(),
                position,
            };
            let mut diagnostic = Diagnostic::error_at(&origin, finding.spell(&self.path));
            diagnostic.severity = finding.severity;
            diagnostic.hint = finding.hint;
            self.found.push(diagnostic);
        }
        match &node.kind {
            NodeKind::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    self.path.push(Step::Index(index));
                    self.node(item, item.position);
                    self.path.pop();
                }
            }
            NodeKind::Map(entries) => {
                for entry in entries {
                    self.path.push(Step::Key(&entry.key));
                    self.node(&entry.value, entry.position);
                    self.path.pop();
                }
            }
            _ => {}
        }
    }
}
