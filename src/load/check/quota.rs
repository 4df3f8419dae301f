//! ResourceQuotas and LimitRanges.

use super::finding::Finding;
use super::read::{entries, field, items};
use super::resources::quantity;
use super::rules::{Rule, apply};
use crate::load::{Document, Node};

/// Checks a ResourceQuota.
pub(super) fn quota<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    for entry in entries(document.root.at(&["spec", "hard"])) {
        if quantity(&entry.value).is_some_and(|amount| amount < 0) {
            out.push(Finding::error(&entry.value, "must not be negative"));
        }
    }
}

/// Checks a LimitRange.
pub(super) fn limits<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let Some(spec) = field(&document.root, "spec") else {
        return;
    };
    for limit in items(spec, "limits") {
        let kind = limit.get("type").and_then(Node::as_str).unwrap_or_default();
        if !kind.contains('/') {
            let kinds = Rule::OneOf(&["Pod", "Container", "PersistentVolumeClaim"]);
            apply(limit, &[("type", kinds)], out);
        }
        // None may be more than those after it.
        let order = ["min", "defaultRequest", "default", "max"];
        for (at, lower) in order.iter().enumerate() {
            for upper in order.iter().skip(at + 1) {
                ordered(limit, lower, upper, out);
            }
        }
    }
}

fn ordered<'n>(limit: &'n Node, lower: &str, upper: &str, out: &mut Vec<Finding<'n>>) {
    for entry in entries(limit.get(lower)) {
        let most = limit.get(upper).and_then(|upper| upper.get(&entry.key));
        let (least, most) = (quantity(&entry.value), most.and_then(quantity));
        if let (Some(least), Some(most)) = (least, most)
            && least > most
        {
            out.push(Finding::error(
                &entry.value,
                format!("is more than `{upper}`"),
            ));
        }
    }
}
