//! Takes policies out of what was read.

use super::read::is_policy_kind;
use super::set::Set;
use crate::api::Scope;
use crate::load::{
    Diagnostic, Document, Limits, Loaded, Severity, Snapshot, add_excerpts, builtin_scope, load,
};

/// Which policies a run is asked to evaluate.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Files and folders of the source, relative to its root: what they hold is no object to be made.
    pub inside: Vec<String>,
    /// Files from elsewhere, with what was said to find them.
    pub others: Vec<(String, Snapshot)>,
}

impl Asked {
    /// Gives diagnostics at objects of the source or in policies their lines.
    pub fn add_excerpts(&self, diagnostics: &mut [Diagnostic], snapshot: &Snapshot) {
        let others = self.others.iter().map(|(_, other)| other);
        for source in std::iter::once(snapshot).chain(others) {
            add_excerpts(diagnostics, source);
        }
    }
}

/// What was read, without the policies; and the policies.
#[derive(Debug)]
pub struct Gathered {
    /// What is to be made.
    pub documents: Vec<Document>,
    /// What is wrong with the files of the source.
    pub diagnostics: Vec<Diagnostic>,
    /// The policies.
    pub policies: Set,
}

/// Takes the policies that were asked for out of a source, and reads the others.
pub fn gather(
    loaded: Loaded,
    snapshot: &Snapshot,
    asked: &Asked,
    limits: &Limits,
    namespace: &str,
) -> Gathered {
    let Loaded {
        documents,
        diagnostics,
        parsed: _,
    } = loaded;
    let (mut policies, documents): (Vec<_>, Vec<_>) = documents.into_iter().partition(|document| {
        asked
            .inside
            .iter()
            .any(|path| is_below(&document.origin.file, path))
    });
    let mut found = Vec::new();
    for path in &asked.inside {
        let unread = snapshot.diagnostics.iter().chain(&diagnostics);
        let mut unread = unread.filter(|d| d.severity == Severity::Error);
        if unread.any(|d| is_below(&d.file, path)) {
            found.push(Diagnostic::file_error(
                path.as_str(),
                "policies in it could not be read",
            ));
        } else if !policies
            .iter()
            .any(|it| is_policy_kind(it) && is_below(&it.origin.file, path))
        {
            found.push(missing(path));
        }
    }
    for (name, other) in &asked.others {
        let mut read = load(other, limits);
        let of_kind = read.documents.iter().any(is_policy_kind);
        let faults = other.diagnostics.iter().cloned();
        read.diagnostics.extend(faults);
        let is_whole = !read
            .diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error);
        if is_whole && !of_kind {
            found.push(missing(name));
        }
        found.extend(read.diagnostics);
        policies.extend(read.documents);
    }
    for document in &mut policies {
        let scope = builtin_scope(&document.id.group_kind);
        if document.id.namespace.is_none() && scope == Some(Scope::Namespaced) {
            document.id.namespace = Some(namespace.to_owned());
        }
    }
    let mut policies = Set::read(&policies);
    asked.add_excerpts(&mut policies.diagnostics, snapshot);
    policies.diagnostics.splice(0..0, found);
    Gathered {
        documents,
        diagnostics,
        policies,
    }
}

fn missing(path: &str) -> Diagnostic {
    Diagnostic::file_error(path, "there is no policy in it").with_hint(
        "name a file or a folder with ValidatingAdmissionPolicy documents of admissionregistration.k8s.io/v1",
    )
}

/// Whether a file is a path of the source, or below it.
fn is_below(file: &str, path: &str) -> bool {
    let path = path.trim_start_matches("./").trim_matches('/');
    let below = |rest: &str| rest.is_empty() || rest.starts_with('/');
    matches!(path, "" | ".") || file.strip_prefix(path).is_some_and(below)
}
