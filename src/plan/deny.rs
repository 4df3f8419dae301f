//! What policies hold back: it is not sent, and nothing goes while something is held back.

use std::collections::BTreeMap;

use super::step::{Action, Body, Plan};
use crate::api::ObjectId;

/// Makes the steps of denied objects send nothing, not even as a dry run.
pub fn hold_denied(plan: &mut Plan, denied: &BTreeMap<ObjectId, String>) {
    for step in &mut plan.steps {
        // What takes an object away makes nothing that a policy could mind.
        if matches!(step.body, Body::Delete | Body::Prune) || step.action == Action::Delete {
            continue;
        }
        if let Some(why) = denied.get(&step.id) {
            step.action = Action::Refuse;
            step.reason = why.clone();
            step.body = Body::None;
            step.conflicts = Vec::new();
        }
    }
}

/// Keeps what has left the source: something that takes its place may be among what is held back.
pub fn withhold_prunes(plan: &mut Plan, denied: usize) {
    let objects = if denied == 1 { "object" } else { "objects" };
    let why = format!("policies hold back {denied} {objects} of it");
    let mut withheld = false;
    let prunes = plan.steps.iter_mut();
    for step in prunes.filter(|step| step.body == Body::Prune && step.action == Action::Delete) {
        withheld = true;
        step.action = Action::Refuse;
        step.reason = format!("it has left the source, but {why}");
        step.body = Body::None;
    }
    if withheld && plan.prune_refused.is_none() {
        plan.prune_refused = Some(why);
    }
}
