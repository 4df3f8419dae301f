//! Reading fields that a schema has checked.

use crate::load::{Node, NodeKind};

/// The items of a list; none when there is no list.
pub(super) fn items(node: Option<&Node>) -> impl Iterator<Item = &Node> {
    let items = match node.map(|node| &node.kind) {
        Some(NodeKind::List(items)) => items.as_slice(),
        _ => &[],
    };
    items.iter()
}

/// A field's text.
pub(super) fn text(node: &Node, key: &str) -> Option<String> {
    node.get(key).and_then(Node::as_str).map(str::to_owned)
}

/// A list's texts.
pub(super) fn texts(node: Option<&Node>) -> Vec<String> {
    items(node)
        .filter_map(Node::as_str)
        .map(str::to_owned)
        .collect()
}
