//! What a Service selects, as far as its source shows.

use super::finding::Finding;
use super::index::{Index, Pods};
use super::read::{entries, field, items, text};
use super::selector::value_of;
use super::slip::slip_of;
use crate::load::{Document, Entry, Node};

/// Warns when no pod of the source has the labels, but one nearly has them; and when pods of the source have them, but
/// not the port that is named. Services whose pods are not in the source are left alone.
pub(super) fn check<'n>(document: &'n Document, index: &Index<'n>, out: &mut Vec<Finding<'n>>) {
    let Some(spec) = field(&document.root, "spec") else {
        return;
    };
    let wanted = entries(spec.get("selector"));
    let Some(first) = wanted.first() else {
        return;
    };
    let namespace = index.namespace(document);
    let selected: Vec<&Pods<'_>> = index
        .labelled(namespace, first)
        .filter(|pods| has_all(pods.labels, wanted))
        .collect();
    if selected.is_empty() {
        let mut pods = index.pods(namespace).iter();
        out.extend(pods.find_map(|pods| slipped(wanted, pods.labels)));
        return;
    }
    for port in items(spec, "ports") {
        let Some(target) = field(port, "targetPort") else {
            continue;
        };
        let Some(name) = target
            .as_str()
            .filter(|name| super::syntax::port_name(name).is_none())
        else {
            continue;
        };
        let names: Vec<&str> = selected
            .iter()
            .flat_map(|pods| port_names(pods.spec))
            .collect();
        if !names.contains(&name) {
            let near = names.iter().find(|known| slip_of(name, known));
            let hint = near.map(|near| format!("did you mean `{near}`?"));
            let says = "is not the name of a port of the pods that the Service selects";
            out.push(Finding::warning(target, says).perhaps(hint));
        }
    }
}

fn has_all(labels: &[Entry], wanted: &[Entry]) -> bool {
    wanted
        .iter()
        .all(|entry| value_of(labels, &entry.key) == entry.value.as_str())
}

/// The one label that differs, by a slip of the fingers.
fn slipped<'n>(wanted: &'n [Entry], labels: &[Entry]) -> Option<Finding<'n>> {
    let mut differing = wanted
        .iter()
        .filter(|entry| value_of(labels, &entry.key) != entry.value.as_str());
    let (entry, None) = (differing.next()?, differing.next()) else {
        return None;
    };
    let near = match value_of(labels, &entry.key) {
        Some(value) => (slip_of(entry.value.as_str()?, value)).then_some(value)?,
        None => {
            let key = labels
                .iter()
                .find(|label| slip_of(&entry.key, &label.key))?;
            key.key.as_str()
        }
    };
    let says = "selects no pod of the source";
    Some(Finding::warning(&entry.value, says).hint(format!("did you mean `{near}`?")))
}

fn port_names(pod: &Node) -> impl Iterator<Item = &str> {
    // A sidecar among the init containers serves, too.
    let containers = ["containers", "initContainers"];
    let containers = containers.into_iter().flat_map(|list| items(pod, list));
    containers
        .flat_map(|container| items(container, "ports"))
        .filter_map(|port| text(port, "name"))
}
