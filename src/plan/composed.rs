//! Which of a source's Targets have their agents put into the source's Deployments.

use std::collections::BTreeSet;

use super::annotations::leaves_alone;
use super::classify::classify_member;
use super::known::Known;
use super::live::Live;
use super::step::Action;
use crate::api::names::COVERAGE_PORT;
use crate::api::{GroupKind, ObjectId};
use crate::render::{AgentImage, Composed, Desired, Target, compose};

/// Puts the agents of a source's Targets into its Deployments, so that what is shown, judged, sent and looked after is one
/// object.
///
/// A Target that will not be as the source says has no say: one that a policy holds back or that belongs to others, and
/// one that is to be left alone and is not there. Nor has one whose agent was taken out again after a rollout failed. Neither has it in a Deployment that is left alone.
pub fn compose_agents(
    desired: &mut [Desired],
    known: &Known,
    applyset: &str,
    image: &AgentImage,
) -> Composed {
    let has_a_say = |it: &&Desired| {
        let live = known.live(&it.id);
        let barred = known.denied.contains_key(&it.id) || known.forbidden.contains_key(&it.id);
        let verdict = classify_member(&it.object, &it.digest, live, applyset);
        match verdict.action {
            Action::Refuse => !barred && !verdict.conflicts.is_empty(),
            Action::Keep => !barred && live.is_some(),
            _ => !barred,
        }
    };
    let of_kind = |kind| desired.iter().filter(move |it| it.id.group_kind == kind);
    let mut targets: Vec<Target> = of_kind(Target::group_kind())
        .filter(has_a_say)
        .filter_map(|it| Target::from_json(&it.object).ok())
        .collect();
    if targets.is_empty() {
        return Composed::new();
    }
    let kept = |it: &&Desired| leaves_alone(&it.object, known.live(&it.id)).is_some();
    let kept = of_kind(GroupKind::new("apps", "Deployment")).filter(kept);
    let kept: BTreeSet<&ObjectId> = kept.map(|it| &it.id).collect();
    targets.retain(|target| {
        !kept.contains(&target.deployment_id()) && !known.reverted.contains(&target.id())
    });
    compose(desired, &targets, image)
}

/// Adds to the reason of a Deployment's change what coverage has to do with it.
pub(super) fn for_coverage(reason: String, desired: &Desired, live: Option<&Live>) -> String {
    let coverage = match (&desired.agent, carries_agent(live)) {
        (None, false) => return reason,
        (None, true) => "coverage ends, and the agent goes".to_owned(),
        (Some(agent), carries) => {
            let namespace = agent.target.namespace.as_deref().unwrap_or_default();
            let coverage = format!("coverage of Target {namespace}/{}", agent.target.name);
            let was_applied =
                |digest: &str| live.is_some_and(|live| live.applied_digest() == Some(digest));
            // Without the agent, and nothing else has changed since.
            if was_applied(&agent.digest) {
                return format!("{coverage} begins");
            }
            match carries || was_applied(&desired.digest) {
                true => format!("it carries the agent for {coverage}"),
                false => format!("{coverage} begins"),
            }
        }
    };
    format!("{reason}; {coverage}")
}

/// Tells whether what we last applied had the agent in it.
fn carries_agent(live: Option<&Live>) -> bool {
    let labels = ["f:spec", "f:template", "f:metadata", "f:labels"];
    let owned = live.and_then(Live::ours).and_then(|entry| {
        let labels = labels
            .iter()
            .try_fold(&entry.fields, |fields, step| fields.get(step))?;
        labels.get(&format!("f:{COVERAGE_PORT}"))
    });
    owned.is_some()
}
