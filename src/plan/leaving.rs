//! What has left the source: what goes, what waits for somebody's word, and what stays.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::approval::{Approval, needs_approval};
use super::build::Inputs;
use super::limit::over_limit;
use super::live::Live;
use super::order::{Place, place};
use super::prune::{judge, may_prune};
use super::step::{Action, Body, Step};
use crate::api::ObjectId;

/// What becomes of the members that have left the source.
pub(super) struct Leaving {
    /// Their steps, with their places in the order.
    pub steps: Vec<(Place, Step)>,
    /// Why nothing is pruned although that was asked for, if so.
    pub refused: Option<String>,
}

/// Why nothing is pruned.
struct Refusal {
    why: String,
    /// Whether only a limit stands in the way, which an approval lifts.
    by_limit: bool,
}

/// Judges the members that have left the source.
pub(super) fn leaving(inputs: &Inputs<'_>) -> Leaving {
    // A server may serve one object under two groups (an Ingress of `extensions` and of `networking.k8s.io`): a member
    // that the source now asks for under the other one has not left it.
    let wanted: BTreeSet<&str> = inputs
        .desired
        .iter()
        .filter_map(|d| Some(inputs.known.live(&d.id)?.uid.as_str()))
        .collect();
    let left: Vec<Left<'_>> = inputs
        .known
        .members
        .iter()
        .filter(|(id, live)| !inputs.index.contains_key(id) && !wanted.contains(live.uid.as_str()))
        .map(|(id, live)| Left::judge(id, live, inputs))
        .collect();
    let refusal = refusal(inputs, &left);
    let steps = left
        .into_iter()
        .map(|left| left.into_step(refusal.as_ref(), inputs));
    Leaving {
        steps: steps.collect(),
        refused: refusal
            .map(|refusal| refusal.why)
            .filter(|_| inputs.prune.enabled),
    }
}

/// Whether anything may be pruned. What waits for an approval does not count against a limit: it does not go in this run.
fn refusal(inputs: &Inputs<'_>, left: &[Left<'_>]) -> Option<Refusal> {
    let rules = &inputs.prune;
    let goes = || left.iter().filter(|left| left.action == Action::Delete);
    goes().next()?;
    if let Err(why) = may_prune(rules) {
        let by_limit = false;
        return Some(Refusal { why, by_limit });
    }
    if rules.approved {
        return None;
    }
    let at_once = goes().filter(|left| left.needs.is_none());
    let at_once: Vec<&ObjectId> = at_once.map(|left| left.id).collect();
    over_limit(rules.limits, &at_once, inputs.known).map(|why| Refusal {
        why,
        by_limit: true,
    })
}

/// A member that has left the source.
struct Left<'a> {
    id: &'a ObjectId,
    live: &'a Live,
    action: Action,
    reason: String,
    /// Why it goes only when that is approved, if so.
    needs: Option<String>,
}

impl<'a> Left<'a> {
    fn judge(id: &'a ObjectId, live: &'a Live, inputs: &Inputs<'_>) -> Self {
        let (action, reason) = judge(id, live, &inputs.prune);
        Self {
            id,
            live,
            action,
            reason,
            needs: needs_approval(id, live).filter(|_| action == Action::Delete),
        }
    }

    fn into_step(self, refusal: Option<&Refusal>, inputs: &Inputs<'_>) -> (Place, Step) {
        let rules = &inputs.prune;
        let goes = self.action == Action::Delete;
        let (action, reason, approval) = match (refusal, self.needs) {
            (Some(Refusal { why, by_limit }), _) if goes && rules.enabled => (
                Action::Refuse,
                format!("it has left the source, but {why}"),
                by_limit.then_some(Approval::Needed),
            ),
            (Some(Refusal { why, .. }), _) if goes => {
                let reason = format!("it has left the source; {why}");
                (Action::Keep, reason, None)
            }
            (_, Some(_)) if rules.approved => {
                let reason = format!("{}, and its end is approved", self.reason);
                (self.action, reason, Some(Approval::Given))
            }
            (_, Some(why)) => {
                let reason = format!("it has left the source, and waits for approval ({why})");
                (Action::Keep, reason, Some(Approval::Needed))
            }
            (_, None) => (self.action, self.reason, None),
        };
        let mut step = Step::new(self.id.clone(), action, reason);
        step.expected = Some(self.live.expected());
        step.approval = approval;
        if action == Action::Delete {
            step.body = Body::Prune;
        }
        (place(self.id, &annotations_of(self.live)), step)
    }
}

/// The part of a live object that [`place`] reads.
fn annotations_of(live: &Live) -> Value {
    let annotations: Map<String, Value> = live
        .annotations
        .iter()
        .map(|(key, value)| (key.to_owned(), Value::String(value.to_owned())))
        .collect();
    serde_json::json!({ "metadata": { "annotations": annotations } })
}
