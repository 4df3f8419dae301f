//! An object's `metadata`: what identifies it, and labels that the API would refuse.

use super::fault::Fault;
use super::names::{is_label, name_fault};
use super::quota::Quota;
use super::{Node, NodeKind, Position};

/// Checks `metadata` and gives the namespace, when one is written, and the name.
///
/// Of labels and annotations at most `limit` faults each are told.
pub(super) fn metadata(
    root: &Node,
    limit: usize,
    faults: &mut Vec<Fault>,
) -> Option<(Option<String>, String)> {
    let at = key_position(root, "metadata");
    let Some(metadata) = root.get("metadata").filter(|m| m.kind != NodeKind::Null) else {
        faults.push(Fault::error(at, "no metadata.name"));
        return None;
    };
    if !matches!(metadata.kind, NodeKind::Map(_)) {
        let message = format!(
            "metadata must be a mapping, not {}",
            metadata.kind.describe()
        );
        faults.push(Fault::error(at, message));
        return None;
    }
    faults.extend(string_map(metadata, "labels", limit));
    faults.extend(string_map(metadata, "annotations", limit));
    let namespace = match metadata.get("namespace").map(|n| (&n.kind, n)) {
        None | Some((NodeKind::Null, _)) => None,
        Some((NodeKind::String(text), _)) if text.is_empty() => None,
        Some((NodeKind::String(text), _)) => {
            if !is_label(text) {
                let at = key_position(metadata, "namespace");
                faults.push(
                    Fault::error(at, "metadata.namespace cannot be the name of a namespace")
                        .hint("lower-case letters, digits and dashes, up to 63"),
                );
            }
            Some(text.clone())
        }
        Some((kind, _)) => {
            let at = key_position(metadata, "namespace");
            faults.push(not_a_string(at, "metadata.namespace", kind));
            None
        }
    };
    match metadata.get("name").map(|n| &n.kind) {
        Some(NodeKind::String(name)) if !name.is_empty() => {
            if let Some(why) = name_fault(name) {
                let at = key_position(metadata, "name");
                faults.push(Fault::error(at, format!("metadata.name {why}")));
            }
            Some((namespace, name.clone()))
        }
        None | Some(NodeKind::Null | NodeKind::String(_)) => {
            let fault = if metadata.get("generateName").is_some() {
                Fault::error(key_position(metadata, "generateName"), "generateName without a name")
                    .hint("give it a metadata.name: without one nobody can tell which object to update or delete")
            } else if metadata.get("name").is_some() {
                Fault::error(key_position(metadata, "name"), "metadata.name is empty")
            } else {
                Fault::error(at, "no metadata.name")
            };
            faults.push(fault);
            None
        }
        Some(kind) => {
            let at = key_position(metadata, "name");
            faults.push(not_a_string(at, "metadata.name", kind));
            None
        }
    }
}

/// Where a key stands, or where the mapping begins that lacks it.
pub(super) fn key_position(map: &Node, key: &str) -> Position {
    map.entry(key).map_or(map.position, |e| e.position)
}

/// A value that is not text where text belongs.
pub(super) fn not_a_string(at: Position, what: &str, kind: &NodeKind) -> Fault {
    let fault = Fault::error(
        at,
        format!("{what} must be a string, not {}", kind.describe()),
    );
    match kind {
        NodeKind::Bool(_) | NodeKind::Number(_) => fault.hint("put the value in quotes"),
        _ => fault,
    }
}

/// Labels and annotations: values that YAML reads as something else are the classic mistake here (`x: y`).
fn string_map(metadata: &Node, field: &str, limit: usize) -> Vec<Fault> {
    let Some(map) = metadata.get(field) else {
        return Vec::new();
    };
    let entries = match &map.kind {
        NodeKind::Map(entries) => entries,
        NodeKind::Null => return Vec::new(),
        kind => {
            let at = key_position(metadata, field);
            let message = format!(
                "metadata.{field} must be a mapping, not {}",
                kind.describe()
            );
            return vec![Fault::error(at, message)];
        }
    };
    let one = field.trim_end_matches('s');
    let faults = entries.iter().filter_map(|entry| match &entry.value.kind {
        NodeKind::String(_) => None,
        NodeKind::Null => {
            let message = format!(
                "the {one} `{}` has no value and will be left out",
                entry.key
            );
            Some(Fault::warning(entry.position, message).hint("write \"\" for an empty value"))
        }
        kind => Some(not_a_string(
            entry.position,
            &format!("the {one} `{}`", entry.key),
            kind,
        )),
    });
    let mut quota = Quota::new(limit);
    faults.filter(|fault| quota.takes(fault.severity)).collect()
}
