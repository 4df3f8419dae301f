//! The step of an object that the source asks for.

use std::borrow::Cow;
use std::sync::Arc;

use serde_json::Value;

use super::build::Inputs;
use super::classify::{Verdict, classify_member};
use super::composed::for_coverage;
use super::known::Known;
use super::live::Live;
use super::order::depends_on;
use super::step::{Action, Body, Step};
use crate::api::ObjectId;
use crate::render::Desired;

/// Workloads that run another number of replicas than their manifest states: whether an autoscaler wants that must be
/// looked up.
pub fn maybe_scaled<'a>(
    desired: &'a [Desired],
    known: &'a Known,
) -> impl Iterator<Item = &'a ObjectId> {
    desired
        .iter()
        .filter(|d| rescaled(d, known).is_some())
        .map(|d| &d.id)
}

/// The live replicas of a workload, where its manifest states others.
fn rescaled(desired: &Desired, known: &Known) -> Option<i64> {
    let stated = desired.object.pointer("/spec/replicas")?.as_i64()?;
    known
        .replicas
        .get(&desired.id)
        .copied()
        .filter(|live| *live != stated)
}

/// Makes the step of an object; its batch and wave come later.
pub(super) fn member(inputs: &Inputs<'_>, desired: &Desired) -> Step {
    let live = inputs.known.live(&desired.id);
    let mut object = Arc::clone(&desired.object);
    let rescaled = rescaled(desired, inputs.known);
    let scaled = rescaled.filter(|_| inputs.known.scaled.contains(&desired.id));
    let mut judged = Cow::Borrowed(&*object);
    if let Some(spec) = scaled.and_then(|_| judged.to_mut().get_mut("spec")?.as_object_mut()) {
        spec.remove("replicas");
    }
    let mut verdict = classify_member(&judged, &desired.digest, live, inputs.applyset);
    if let (Some(replicas), None, Action::Unchanged) = (rescaled, scaled, verdict.action) {
        verdict.action = Action::Configure;
        verdict.reason = format!("drift: .spec.replicas was set to {replicas}");
        verdict.force = true;
        verdict.drift = true;
    }
    // k8s#25238: an autoscaler's replicas are its own, whatever the file says. They are sent as they are, not left out:
    // where the server noted no owner for them, leaving them out would set them to the default of one.
    if let Some(live) = scaled
        && let Some(replicas) = Arc::make_mut(&mut object).pointer_mut("/spec/replicas")
    {
        *replicas = Value::from(live);
    }
    let Known {
        forbidden, denied, ..
    } = inputs.known;
    if let Some(why) = denied.get(&desired.id).or(forbidden.get(&desired.id)) {
        verdict = Verdict::refuse(why);
    }
    if scaled.is_some() {
        verdict
            .reason
            .push_str("; its replicas are left as they are, for its autoscaler");
    }
    if inputs.force_conflicts {
        verdict = take_conflicts(verdict);
    }
    let needs = match depends_on(&desired.object) {
        Ok(needs) => needs,
        Err(why) => {
            verdict = Verdict::refuse(why);
            Vec::new()
        }
    };
    if matches!(verdict.action, Action::Create | Action::Configure) {
        verdict.reason = for_coverage(verdict.reason, desired, live);
    }
    let Verdict {
        action,
        reason,
        force,
        conflicts,
        drift,
    } = verdict;
    Step {
        api_version: desired.api_version.clone(),
        origin: Some(desired.origin.clone()),
        needs,
        conflicts,
        drift,
        expected: live.map(Live::expected),
        body: Body::Apply {
            object,
            force: force || inputs.force_conflicts,
        },
        ..Step::new(desired.id.clone(), action, reason)
    }
}

/// What would be refused only because another manager applied the fields is done when that was asked for.
fn take_conflicts(verdict: Verdict) -> Verdict {
    if verdict.action == Action::Refuse && !verdict.conflicts.is_empty() {
        Verdict {
            action: Action::Configure,
            force: true,
            ..verdict
        }
    } else {
        verdict
    }
}
