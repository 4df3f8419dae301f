//! What is told of agents in Deployments that do not come with their Targets.

use tracing::{info, warn};

use super::context::Context;
use crate::cluster::{EventType, ObjectRef};
use crate::plan::{AgentWish, Body, Step};
use crate::reconcile::{Done, Outcome};
use crate::render::{AGENT_INJECTED, Target};

/// A step's Deployment, as Events name it.
pub fn deployment(step: &Step) -> ObjectRef {
    let uid = step.expected.as_ref().map(|it| it.uid.clone());
    ObjectRef {
        api_version: step.api_version.clone(),
        kind: step.id.group_kind.kind.clone(),
        namespace: step.id.namespace.clone(),
        name: step.id.name.clone(),
        uid: uid.unwrap_or_default(),
    }
}

/// What a Target's status says of its agent already.
pub fn told_of_agent(target: &Target) -> Option<String> {
    let status = &target.live.as_ref()?.status;
    let mut conditions = status.conditions.iter();
    let condition = conditions.find(|it| it.type_ == AGENT_INJECTED)?;
    Some(condition.message.clone())
}

/// Tells what became of an agent's step, unless that is `told` already; and whether it came about, or never will by itself.
pub fn tell_of_agent(
    context: &Context,
    about: &ObjectRef,
    step: &Step,
    done: &Done,
    told: Option<&str>,
) -> bool {
    let Done {
        outcome, message, ..
    } = done;
    context.metrics.applied(*outcome);
    context.note_written(step, done);
    if step.drift && done.live.is_some() {
        context.tended.note_repair(&step.id);
    }
    let wish = match &step.body {
        Body::Agent { wish, .. } => Some(wish),
        _ => None,
    };
    let given_up = matches!(wish, Some(AgentWish::GiveUp { .. }));
    let (event, feat, good) = match outcome {
        Outcome::Unchanged => return true,
        // Looked at again when the Deployment or the Target changes, or a truce is over: nothing else helps.
        Outcome::Kept => (EventType::Warning, "DriftDetected", true),
        Outcome::Refused if step.conflicts.is_empty() => {
            (EventType::Warning, "AgentNotInjected", true)
        }
        Outcome::Refused => (EventType::Warning, "AgentConflict", true),
        Outcome::Failed | Outcome::Skipped if given_up => {
            (EventType::Warning, "AgentNotRemoved", false)
        }
        Outcome::Failed | Outcome::Skipped => (EventType::Warning, "AgentNotInjected", false),
        Outcome::Created | Outcome::Configured | Outcome::Deleted => {
            let feat = match (given_up, step.drift) {
                (true, _) => "AgentRemoved",
                (false, true) => "DriftCorrected",
                (false, false) => "AgentInjected",
            };
            (EventType::Normal, feat, true)
        }
    };
    if told == Some(message.as_str()) {
        return good;
    }
    match event {
        EventType::Normal => info!(object = %step.id, "{}: {message}", outcome.word()),
        EventType::Warning => warn!(object = %step.id, "{}: {message}", outcome.word()),
    }
    let what = format!("{}: {message}", step.id);
    context.recorder.record(about, event, feat, &what);
    good
}
