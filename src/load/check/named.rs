//! What a name in one object of a source leads to in another.
//!
//! What a source does not have may well be in the cluster, made by hand or by another tool: most Secrets are. So a name
//! that leads nowhere is no fault by itself. It is told of only where the source shows that something else was meant: an
//! object of the same kind is a slip of the fingers away, or of the same name in another namespace; or the object is
//! there and lacks the key, or the port, that is asked for. What is `optional` is never told of.

use super::finding::Finding;
use super::index::{Found, Index};
use super::read::entries;
use super::slip::slip_of;
use crate::load::{Document, Node};

/// Looks for the object that a value names, and says when another one seems to be meant.
pub(super) fn named<'n>(
    name: &'n Node,
    kind: &str,
    namespace: &str,
    index: &Index<'n>,
    out: &mut Vec<Finding<'n>>,
) -> Option<&'n Document> {
    let hint = match index.find(kind, namespace, name.as_str()?) {
        Found::Here(document) => return Some(document),
        Found::Unknown => return None,
        Found::Near(document) => {
            format!("did you mean `{}` ({})?", document.id.name, document.origin)
        }
        Found::Elsewhere(document) => {
            let there = index.namespace(document);
            format!(
                "there is one of that name in namespace `{there}` ({})",
                document.origin
            )
        }
    };
    let says = format!("names a {kind} that the source does not have");
    out.push(Finding::warning(name, says).hint(hint));
    None
}

/// Checks that a ConfigMap or Secret of the source has a key.
pub(super) fn key_of<'n>(key: &'n Node, document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let Some(wanted) = key.as_str().filter(|key| !key.is_empty()) else {
        return;
    };
    let maps = ["data", "stringData", "binaryData"].map(|map| document.root.get(map));
    let keys = || {
        maps.iter()
            .flat_map(|map| entries(*map))
            .map(|entry| entry.key.as_str())
    };
    // One without any is filled by somebody else.
    if keys().next().is_none() || keys().any(|key| key == wanted) {
        return;
    }
    let id = &document.id;
    let says = format!(
        "is no key of {} `{}` ({})",
        id.group_kind.kind, id.name, document.origin
    );
    let hint = match keys().find(|key| slip_of(wanted, key)) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!(
            "it has `{}`",
            keys().take(5).collect::<Vec<_>>().join("`, `")
        ),
    };
    out.push(Finding::warning(key, says).hint(hint));
}
