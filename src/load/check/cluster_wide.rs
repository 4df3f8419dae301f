//! PriorityClasses, StorageClasses and PersistentVolumes.

use super::claim::MODES;
use super::finding::Finding;
use super::read::{field, integer};
use super::rules::{Rule, apply, needed};
use super::syntax::qualified;
use crate::load::Document;

/// The highest priority that is not the system's.
const HIGHEST: i64 = 1_000_000_000;

/// Checks a PriorityClass.
pub(super) fn priority<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let root = &document.root;
    let preemption = Rule::OneOf(&["PreemptLowerPriority", "Never"]);
    apply(root, &[("preemptionPolicy", preemption)], out);
    let name = document.id.name.as_str();
    if matches!(name, "system-cluster-critical" | "system-node-critical") {
        return;
    }
    let at = root.at(&["metadata", "name"]);
    let at = at.filter(|_| name.starts_with("system-"));
    out.extend(at.map(|at| Finding::error(at, "must not begin with `system-`")));
    let above = field(root, "value").filter(|value| integer(value).is_some_and(|n| n > HIGHEST));
    out.extend(above.map(|value| Finding::error(value, format!("must be no more than {HIGHEST}"))));
}

/// Checks a StorageClass.
pub(super) fn storage<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let rules = [
        ("reclaimPolicy", Rule::OneOf(&["Delete", "Retain"])),
        (
            "volumeBindingMode",
            Rule::OneOf(&["Immediate", "WaitForFirstConsumer"]),
        ),
        (
            "provisioner",
            Rule::Text(|text| qualified(&text.to_lowercase())),
        ),
    ];
    apply(&document.root, &rules, out);
}

/// Checks a PersistentVolume.
pub(super) fn volume<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let Some(spec) = field(&document.root, "spec") else {
        return;
    };
    let policies = Rule::OneOf(&["Delete", "Retain", "Recycle"]);
    let rules = [
        ("accessModes[]", Rule::OneOf(MODES)),
        ("persistentVolumeReclaimPolicy", policies),
    ];
    apply(spec, &rules, out);
    out.extend(needed(spec, "accessModes"));
    if field(spec, "capacity").is_none() {
        out.push(Finding::lacks(spec, "capacity"));
    }
}
