//! Reading values that may be there or not, and may be anything: what is of the wrong type is the schema's to tell.

use crate::load::{Entry, Node, NodeKind};

/// The value of a field that is there and not null.
pub(super) fn field<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    node.get(key).filter(|value| value.kind != NodeKind::Null)
}

/// The text of a field, when it has one that is not empty.
pub(super) fn text<'n>(node: &'n Node, key: &str) -> Option<&'n str> {
    node.get(key)
        .and_then(Node::as_str)
        .filter(|text| !text.is_empty())
}

/// The integer of a value.
pub(super) fn integer(node: &Node) -> Option<i64> {
    match &node.kind {
        NodeKind::Number(number) => number.as_i64(),
        _ => None,
    }
}

/// Whether a field says `true`.
pub(super) fn is_true(node: &Node, key: &str) -> bool {
    node.get(key)
        .is_some_and(|value| value.kind == NodeKind::Bool(true))
}

/// The items of a field that is a list.
pub(super) fn items<'n>(node: &'n Node, key: &str) -> &'n [Node] {
    match node.get(key).map(|value| &value.kind) {
        Some(NodeKind::List(items)) => items,
        _ => &[],
    }
}

/// The list of a field, when there is nothing in it.
pub(super) fn empty_list<'n>(node: &'n Node, key: &str) -> Option<&'n Node> {
    let is_empty = |node: &&Node| matches!(&node.kind, NodeKind::List(items) if items.is_empty());
    node.get(key).filter(is_empty)
}

/// The entries of a mapping.
pub(super) fn entries(node: Option<&Node>) -> &[Entry] {
    match node.map(|node| &node.kind) {
        Some(NodeKind::Map(entries)) => entries,
        _ => &[],
    }
}

/// Calls `visit` with each value at a path such as `ports[].name`, where `[]` stands for each item of a list.
pub(super) fn each<'n>(node: &'n Node, path: &str, visit: &mut dyn FnMut(&'n Node)) {
    let (step, rest) = match path.split_once('.') {
        Some((step, rest)) => (step, Some(rest)),
        None => (path, None),
    };
    let mut go_on = |node: &'n Node| match rest {
        Some(rest) => each(node, rest, visit),
        None => visit(node),
    };
    match step.strip_suffix("[]") {
        Some(key) => items(node, key).iter().for_each(go_on),
        None => {
            if let Some(value) = field(node, step) {
                go_on(value);
            }
        }
    }
}
