//! Files of values that are no objects, such as a kustomization.

use super::loader::diagnostic;
use super::parse::{Parsed, Spent, read};
use super::{Diagnostic, Limits, Node, SourceFile, text};

/// Reads the values of a YAML file, with their places, and what is wrong with it; no diagnostic has its line yet.
pub fn values(file: &SourceFile, limits: &Limits) -> (Vec<Node>, Vec<Diagnostic>) {
    let SourceFile { path, bytes } = file;
    if bytes.len() > limits.file_bytes {
        let message = format!("larger than {} bytes", limits.file_bytes);
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
    let mut spent = Spent::default();
    for chunk in text::chunks(&text) {
        for Parsed { root, faults } in read(false, &chunk, limits, &mut spent) {
            roots.extend(root);
            let room = limits.file_faults.saturating_sub(diagnostics.len());
            let faults = faults.into_iter().take(room);
            diagnostics.extend(faults.map(|fault| diagnostic(path, fault, None)));
        }
        if spent.documents > limits.file_documents || spent.values > limits.file_values {
            break;
        }
    }
    (roots, diagnostics)
}
