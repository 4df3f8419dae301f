//! PersistentVolumeClaims, and their templates in StatefulSets.

use super::finding::Finding;
use super::read::field;
use super::resources::quantity;
use super::rules::{Rule, apply, needed};
use super::selector;
use super::syntax::subdomain;
use crate::load::{Document, Node};

/// How volumes may be used.
pub(super) const MODES: &[&str] = &[
    "ReadWriteOnce",
    "ReadOnlyMany",
    "ReadWriteMany",
    "ReadWriteOncePod",
];

const RULES: &[(&str, Rule)] = &[
    ("accessModes[]", Rule::OneOf(MODES)),
    ("volumeMode", Rule::OneOf(&["Filesystem", "Block"])),
    ("storageClassName", Rule::Text(subdomain)),
];

/// Checks a PersistentVolumeClaim.
pub(super) fn check<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    template(&document.root, out);
}

/// Checks an object that looks like one.
pub(super) fn template<'n>(claim: &'n Node, out: &mut Vec<Finding<'n>>) {
    let Some(spec) = field(claim, "spec") else {
        return;
    };
    apply(spec, RULES, out);
    let modes = needed(spec, "accessModes");
    out.extend(modes.map(|finding| finding.hint("most volumes are `ReadWriteOnce`")));
    if let Some(found) = field(spec, "selector") {
        selector::syntax(found, out);
    }
    let storage = spec.at(&["resources", "requests", "storage"]);
    match storage {
        None => out.push(Finding::error(
            spec,
            "must say how much: `resources.requests.storage`",
        )),
        Some(storage) if quantity(storage).is_some_and(|size| size <= 0) => {
            out.push(Finding::error(storage, "must be more than nothing"));
        }
        Some(_) => {}
    }
}
