//! Files of values that are no objects, such as a kustomization.

use super::loader::diagnostic;
use super::parse::{Parsed, read};
use super::{Diagnostic, Limits, Node, SourceFile, text};

/// Reads the values of a YAML file, with their places, and what is wrong with it; no diagnostic has its line yet.
pub fn values(file: &SourceFile, limits: &Limits) -> (Vec<Node>, Vec<Diagnostic>) {
    let SourceFile { path, bytes } = file;
    if bytes.len() > limits.file_bytes {
        let message = format!("larger than {} MiB", limits.file_bytes >> 20);
        return (
            Vec::new(),
            vec![Diagnostic::file_error(path.clone(), message)],
        );
    }
    let text = match text::decode(bytes) {
        Ok(text) => text,
        Err(fault) => return (Vec::new(), vec![diagnostic(path, fault, None)]),
    };
    let (mut roots, mut diagnostics) = (Vec::new(), Vec::new());
    for chunk in text::chunks(&text).take(limits.faults_per_file) {
        for Parsed { root, faults } in read(false, &chunk, limits) {
            roots.extend(root);
            let located = faults
                .into_iter()
                .map(|fault| diagnostic(path, fault, None));
            diagnostics.extend(located);
        }
    }
    (roots, diagnostics)
}
