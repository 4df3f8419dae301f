//! Events, Leases and ControllerRevisions.

use serde_json::Value;

use super::causes::{Causes, quoted};
use super::spot::Spot;
use crate::words;

/// What is wrong with an Event of the core group, where the newer fields are optional.
pub(super) fn check_core(causes: &mut Causes, event: &Spot<'_>) {
    let object = event.field("involvedObject");
    check_namespace(causes, event, &object);
    if event.field("eventTime").absent() {
        return;
    }
    let controller = event.field("reportingComponent");
    let said = event.named("reportingController", controller.value);
    check_reporter(causes, event, &said);
}

/// What is wrong with an Event of the newer group.
pub(super) fn check(causes: &mut Causes, event: &Spot<'_>) {
    let time = event.field("eventTime");
    if time.absent() {
        causes.required(&time, "");
    }
    check_reporter(causes, event, &event.field("reportingController"));
    let reason = event.field("reason");
    if reason.text().is_empty() {
        causes.required(&reason, "");
    }
    let kind = event.field("type");
    if !matches!(kind.text(), "Normal" | "Warning") {
        causes.invalid_as(
            &kind,
            "\"\"",
            &format!("has invalid value: {}", kind.text()),
        );
    }
    let series = event.field("series");
    let count = series.field("count");
    if series.present() && count.int().unwrap_or(0) < 2 {
        causes.invalid_as(&count, "\"\"", "should be at least 2");
    }
}

fn check_namespace(causes: &mut Causes, event: &Spot<'_>, object: &Spot<'_>) {
    let metadata = event.field("metadata");
    let (own, namespace) = (metadata.field("namespace"), object.field("namespace"));
    let same = own.text() == namespace.text();
    let global = namespace.text().is_empty() && own.text() == "default";
    if !same && !global {
        causes.invalid_as(
            &namespace,
            &quoted(namespace.text()),
            "does not match event.namespace",
        );
    }
}

fn check_reporter(causes: &mut Causes, event: &Spot<'_>, controller: &Spot<'_>) {
    if controller.text().is_empty() {
        causes.required(controller, "");
    }
    causes.text_invalid(
        controller,
        controller.text(),
        &words::qualified(controller.text()),
    );
    for field in ["reportingInstance", "action"] {
        let field = event.field(field);
        if field.text().is_empty() {
            causes.required(&field, "");
        }
    }
}

/// What is wrong with a Lease.
pub(super) fn check_lease(causes: &mut Causes, lease: &Spot<'_>) {
    let spec = lease.field("spec");
    let (seconds, changes) = (
        spec.field("leaseDurationSeconds"),
        spec.field("leaseTransitions"),
    );
    if seconds.int().is_some_and(|seconds| seconds <= 0) {
        causes.invalid(&seconds, "must be greater than 0");
    }
    if changes.int().is_some_and(|changes| changes < 0) {
        causes.invalid(&changes, "must to greater or equal than 0");
    }
}

/// What is wrong with a ControllerRevision.
pub(super) fn check_revision(causes: &mut Causes, object: &Spot<'_>) {
    let data = object.field("data");
    if data.absent() {
        causes.required(&data, "data is mandatory");
    }
    causes.not_negative(&object.field("revision"));
}

/// What may not change of a ControllerRevision.
pub(super) fn check_revision_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    causes.unchanged(&new.field("data"), old.get("data").unwrap_or(&Value::Null));
}
