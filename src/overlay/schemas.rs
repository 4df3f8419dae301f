//! Schemas of charts' values, which helm follows to wherever they lead: to other files of the machine, and into the network.

use crate::load::{
    Diagnostic, Limits, Node, NodeKind, Origin, Position, Severity, add_excerpts, values,
};
use crate::source::Overlay;

/// The name of a chart's schema.
const FILE: &str = "values.schema.json";

/// Keys whose values are followed.
const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Finds what leads out of a schema's own file.
pub(super) fn check(overlay: &Overlay) -> Vec<Diagnostic> {
    let mut faults = Vec::new();
    for file in &overlay.snapshot.files {
        if file.path.rsplit('/').next() != Some(FILE) {
            continue;
        }
        let (roots, diagnostics) = values(file, &Limits::default());
        let errors = diagnostics
            .into_iter()
            .filter(|d| d.severity == Severity::Error);
        faults.extend(errors);
        let mut found = Vec::new();
        roots.iter().for_each(|root| leads_out(root, &mut found));
        faults.extend(found.into_iter().map(|(text, position)| {
            let place = Origin {
                file: file.path.clone(),
                position,
            };
            let message = format!("{text:?} leads out of the schema, and is not followed");
            Diagnostic::error_at(&place, message).with_hint(
                "put what it leads to into the same file, and refer to it as \"#/$defs/…\"",
            )
        }));
    }
    add_excerpts(&mut faults, &overlay.snapshot);
    faults
}

fn leads_out<'a>(node: &'a Node, found: &mut Vec<(&'a str, Position)>) {
    match &node.kind {
        NodeKind::List(items) => items.iter().for_each(|item| leads_out(item, found)),
        NodeKind::Map(entries) => {
            for entry in entries {
                match entry.value.as_str() {
                    Some(text) if is_foreign(&entry.key, text) => {
                        found.push((text, entry.value.position));
                    }
                    _ => leads_out(&entry.value, found),
                }
            }
        }
        _ => {}
    }
}

fn is_foreign(key: &str, text: &str) -> bool {
    // Those of the drafts come with helm.
    let is_known = ["http://json-schema.org/", "https://json-schema.org/"]
        .iter()
        .any(|known| text.starts_with(known));
    REFERENCES.contains(&key) && !text.starts_with('#') || key == "$schema" && !is_known
}

/// Tells whether a chart has others within, packed, whose schemas cannot be seen.
pub(super) fn has_packed(overlay: &Overlay) -> bool {
    let mut files = overlay.snapshot.files.iter();
    files.any(|file| file.path.to_ascii_lowercase().ends_with(".tgz"))
}
