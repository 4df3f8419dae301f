//! The steps of a Target's agent: into the Deployment that it refers to, and out of those that carry it for no reason.

use std::sync::Arc;

use super::judge::{AgentVerdict, AgentWish, judge_agent};
use super::{AgentImages, AgentRecord};
use crate::api::target::Injection;
use crate::api::{GroupKind, ObjectId};
use crate::plan::build::Inputs;
use crate::plan::{Action, Body, Live, Plan, Step};
use crate::render::{PodShape, Target, rival};

/// What bears on the agents of Deployments that do not come with their Targets.
#[derive(Clone, Copy, Debug)]
pub struct Agents<'a> {
    /// What may bring them.
    pub images: &'a AgentImages,
    /// Targets that may refer to the same Deployments.
    pub others: &'a [Target],
}

/// Makes the steps of a Target's agent, as far as no Sync composes it into a manifest.
pub(in crate::plan) fn agent_steps(
    inputs: &Inputs<'_>,
    target: &Target,
    agents: Agents<'_>,
) -> Vec<Step> {
    let known = inputs.known;
    let id = target.deployment_id();
    let deployment = known.deployments.get(&id).zip(known.carriers.get(&id));
    let comes_with =
        |it: &Target| deployment.is_some_and(|(deployment, _)| it.comes_with(deployment));
    let rival = rival(target, agents.others.iter(), comes_with);
    let no_longer = match rival {
        Some(_) => Some("the agent is taken out: another ClosureJVMTarget comes first"),
        None => why_not(target, comes_with(target)),
    };
    let mut steps = Vec::new();
    if let (None, Some((deployment, live))) = (no_longer, deployment) {
        let wish = AgentWish::Carry {
            target: Box::new(target.clone()),
            images: agents.images.clone(),
        };
        steps.extend(step(&id, live, &deployment.pod, wish));
    }
    let others = known.carriers.iter();
    let others = others.filter(|(other, _)| no_longer.is_some() || **other != id);
    let why = no_longer
        .unwrap_or("the agent is taken out: its ClosureJVMTarget refers to another Deployment");
    steps.extend(others.filter_map(|(id, live)| give_up(id, live, &target.name, why)));
    steps
}

/// Says why a Target's Deployment is not to carry the agent by our hand, if so.
fn why_not(target: &Target, is_composed: bool) -> Option<&'static str> {
    let coverage = &target.spec.agents.coverage;
    match coverage.injection {
        _ if !coverage.enabled => Some("the agent is taken out: coverage is switched off"),
        _ if target.reverted().is_some() => {
            Some("the agent is taken out: the rollout has failed with it")
        }
        Injection::None => Some("the agent is taken out: the image brings one along"),
        Injection::Auto => is_composed.then_some("the agent is left to the manifest, which has it"),
    }
}

/// Makes the plan that takes the agent of a Target that is gone out of all Deployments.
pub fn give_up_agents(carriers: &[Arc<Live>], target: &str) -> Plan {
    let why = "the agent is taken out: its ClosureJVMTarget is gone";
    let steps = carriers.iter().filter_map(|live| {
        let id = ObjectId {
            group_kind: GroupKind::new("apps", "Deployment"),
            namespace: live.namespace.clone(),
            name: live.name.clone(),
        };
        give_up(&id, live, target, why)
    });
    Plan {
        steps: steps.collect(),
        ..Plan::default()
    }
}

fn give_up(id: &ObjectId, live: &Live, target: &str, why: &'static str) -> Option<Step> {
    let record = AgentRecord::of(live)?;
    if record.target.name != target {
        return None;
    }
    let wish = AgentWish::GiveUp {
        target: target.to_owned(),
        why,
    };
    // How its pods are does not matter to what is taken out.
    step(id, live, &PodShape::default(), wish)
}

/// Makes the step that a verdict calls for; none when nothing is to be done.
fn step(id: &ObjectId, live: &Live, pod: &PodShape, wish: AgentWish) -> Option<Step> {
    let (action, reason, drift, refusal, conflicts) = match judge_agent(&wish, id, live, pod) {
        AgentVerdict::Nothing(_) => return None,
        AgentVerdict::Put { reason, drift, .. } => {
            (Action::Configure, reason, drift, None, Vec::new())
        }
        AgentVerdict::TakeOut { reason, .. } => {
            (Action::Configure, reason, false, None, Vec::new())
        }
        AgentVerdict::Refuse { no, conflicts } => {
            (Action::Refuse, no.to_string(), false, Some(no), conflicts)
        }
    };
    Some(Step {
        api_version: "apps/v1".into(),
        drift,
        conflicts,
        expected: Some(live.expected()),
        body: Body::Agent { wish, refusal },
        ..Step::new(id.clone(), action, reason)
    })
}
