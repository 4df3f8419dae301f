//! What may change of a pod: images, its deadline, and more tolerations.

use serde_json::{Map, Value};

use crate::kinds::causes::Causes;
use crate::kinds::defaults::{items, put, take};
use crate::kinds::spot::Spot;

const FORBIDDEN: &str = "pod updates may not change fields other than `spec.containers[*].image`, \
    `spec.initContainers[*].image`, `spec.activeDeadlineSeconds` or `spec.tolerations` (only additions to existing tolerations)";

/// What is wrong with a change of a pod.
pub(in super::super) fn check(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let spec = new.field("spec");
    let nothing = Value::Object(Map::new());
    let old = old.get("spec").unwrap_or(&nothing);
    let old_spot = Spot::root(old);
    for list in ["containers", "initContainers"] {
        let (containers, before) = (spec.field(list), old_spot.field(list));
        if containers.len() != before.len() {
            causes.forbidden(&containers, "pod updates may not add or remove containers");
            return;
        }
    }
    for list in ["containers", "initContainers"] {
        let containers = spec.field(list);
        for container in containers.items() {
            let image = container.field("image");
            if image.text().is_empty() {
                causes.required(&image, "");
            }
        }
    }
    check_deadline(causes, &spec, old);
    check_tolerations(causes, &spec, &old_spot);
    if without_mutable(spec.value) != without_mutable(old) {
        causes.forbidden(&spec, FORBIDDEN);
    }
}

fn check_deadline(causes: &mut Causes, spec: &Spot<'_>, old: &Value) {
    let deadline = spec.field("activeDeadlineSeconds");
    let before = old.get("activeDeadlineSeconds").and_then(Value::as_i64);
    match (deadline.int(), before) {
        (Some(seconds), _) if !(0..=i64::from(i32::MAX)).contains(&seconds) => {
            causes.invalid(&deadline, "must be between 0 and 2147483647, inclusive");
        }
        (Some(seconds), Some(before)) if seconds > before => {
            causes.invalid(&deadline, "must be less than or equal to previous value");
        }
        (None, Some(_)) => {
            causes.invalid(
                &deadline,
                "must not update from a positive integer to nil value",
            );
        }
        _ => {}
    }
}

fn check_tolerations(causes: &mut Causes, spec: &Spot<'_>, old: &Spot<'_>) {
    let (tolerations, before) = (spec.field("tolerations"), old.field("tolerations"));
    let stripped = |toleration: &Value| {
        let mut toleration = toleration.clone();
        take(&mut toleration, "tolerationSeconds");
        toleration
    };
    for toleration in before.items() {
        let kept = tolerations
            .items()
            .any(|new| stripped(new.value) == stripped(toleration.value));
        if !kept {
            causes.forbidden(
                &tolerations,
                "existing toleration can not be modified except its tolerationSeconds",
            );
            return;
        }
    }
}

fn without_mutable(spec: &Value) -> Value {
    let mut spec = spec.clone();
    take(&mut spec, "activeDeadlineSeconds");
    take(&mut spec, "tolerations");
    for list in ["/containers", "/initContainers"] {
        for container in items(&mut spec, list) {
            put(container, "image", "");
        }
    }
    spec
}
