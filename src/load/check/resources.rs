//! What containers ask for and may have.

use super::finding::Finding;
use super::read::{entries, field};
use super::syntax::qualified;
use crate::load::schema::nanos;
use crate::load::{Entry, Node, NodeKind};

const BILLION: i128 = 1_000_000_000;

/// Checks the requests and limits of a container.
pub(super) fn check<'n>(container: &'n Node, out: &mut Vec<Finding<'n>>) {
    let Some(resources) = field(container, "resources") else {
        return;
    };
    let limits = entries(resources.get("limits"));
    let requests = entries(resources.get("requests"));
    for entry in limits.iter().chain(requests) {
        name(entry, out);
        amount(entry, out);
    }
    for request in requests {
        let limit = limits.iter().find(|limit| limit.key == request.key);
        let least = quantity(&request.value);
        let most = limit.and_then(|limit| quantity(&limit.value));
        let shared = is_shared(&request.key);
        match (least, most) {
            (Some(least), Some(most)) if least > most => {
                out.push(Finding::error(&request.value, "is more than the limit"));
            }
            (Some(least), Some(most)) if least != most && !shared => {
                let says = "must be the same as the limit: it cannot be shared";
                out.push(Finding::error(&request.value, says));
            }
            (Some(_), None) if limit.is_none() && !shared => {
                let says = "must have a limit as well: it cannot be shared";
                out.push(Finding::error(&request.value, says));
            }
            _ => {}
        }
    }
}

fn name<'n>(entry: &'n Entry, out: &mut Vec<Finding<'n>>) {
    let key = entry.key.as_str();
    let known =
        matches!(key, "cpu" | "memory" | "ephemeral-storage") || key.starts_with("hugepages-");
    if known {
        return;
    }
    match qualified(key) {
        Some(must) => out.push(Finding::key(entry, must)),
        None if !key.contains('/') => {
            let near = ["cpu", "memory", "ephemeral-storage"];
            let near = crate::load::schema::nearest(key, near.into_iter());
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            let must = "must be `cpu`, `memory`, `ephemeral-storage`, `hugepages-…`, or a name with a domain and `/`";
            out.push(Finding::key(entry, must).perhaps(hint));
        }
        None => {}
    }
}

fn amount<'n>(entry: &'n Entry, out: &mut Vec<Finding<'n>>) {
    let Some(nanos) = quantity(&entry.value) else {
        return;
    };
    let whole = nanos % BILLION == 0;
    if nanos < 0 {
        out.push(Finding::error(&entry.value, "must not be negative"));
    } else if is_extended(&entry.key) && !whole {
        out.push(Finding::error(&entry.value, "must be a whole number"));
    } else if matches!(entry.key.as_str(), "memory" | "ephemeral-storage") && !whole {
        // `m` is a thousandth; a mebibyte is meant.
        let hint = "`m` stands for thousandths: write `Mi` for mebibytes";
        out.push(Finding::warning(&entry.value, "has a fraction of a byte").hint(hint));
    }
}

/// Whether a resource may be promised to more than there is: what Kubernetes itself knows, but for huge pages.
fn is_shared(name: &str) -> bool {
    !name.starts_with("hugepages-") && !is_extended(name)
}

/// Whether a resource is counted in whole pieces: devices and the like.
fn is_extended(name: &str) -> bool {
    let domain = name.split_once('/').map(|(domain, _)| domain);
    domain.is_some_and(|domain| domain != "kubernetes.io" && !domain.ends_with(".kubernetes.io"))
}

/// The billionths of a value, when it is a quantity.
pub(super) fn quantity(node: &Node) -> Option<i128> {
    match &node.kind {
        NodeKind::String(text) => nanos(text),
        NodeKind::Number(number) => nanos(&number.to_string()),
        _ => None,
    }
}
