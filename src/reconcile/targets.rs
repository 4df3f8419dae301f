//! The status of Targets after a run: read once what is new, write only what has changed.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, stream};
use serde::Serialize;

use super::endpoints::endpoint_counts;
use super::rollout::Insight;
use super::{Done, Outcome};
use crate::api::condition::{ConditionStatus, Finding};
use crate::api::names::{API_VERSION, TARGET};
use crate::api::target::{AgentStatus, Phase, TargetStatus};
use crate::api::{GroupKind, ObjectId};
use crate::cluster::{Cluster, ClusterError, Kinds};
use crate::plan::{Body, Index, Known, Plan, Step, child_id, deployment_of};
use crate::render::{
    AgentImage, AgentState, Composed, Deployment, LEFT_TO_CONTROLLER, NetworkPolicyState,
    ServiceState, Target, coverage_service, drift, network_policy, rival, status,
};

/// A Target after a run, for people and programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetReport {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Its status as it now is in the cluster.
    #[serde(flatten)]
    pub status: TargetStatus,
}

impl TargetReport {
    /// Tells whether nothing more is to be waited for.
    pub fn is_settled(&self) -> bool {
        let mut conditions = self.status.conditions.iter();
        let ready = conditions.any(|c| c.type_ == "Ready" && c.status == ConditionStatus::True);
        let mut conditions = self.status.conditions.iter();
        // What only another program does is not waited for.
        let left = conditions.any(|c| c.reason == LEFT_TO_CONTROLLER);
        ready || left || self.status.phase == Some(Phase::Failed)
    }
}

/// What becomes of Targets depends on these.
pub struct Facts<'a> {
    /// The connection.
    pub cluster: &'a Cluster,
    /// Kinds in use.
    pub kinds: &'a Kinds,
    /// What the source asks for.
    pub index: &'a Index<'a>,
    /// What the run did.
    pub plan: &'a Plan,
    /// What became of it.
    pub done: &'a [Done],
    /// The image that carries the agent, where a Target names none.
    pub agent_image: &'a AgentImage,
    /// What became of the agents of the source's Targets in the source's Deployments.
    pub composed: &'a Composed,
    /// What was found out of the rollout of the one Target that is served.
    pub insight: &'a Insight,
    /// Targets that may refer to the same Deployments.
    pub others: &'a [Target],
    /// Domain of the cluster's Services.
    pub cluster_domain: &'a str,
    /// The most requests in flight.
    pub concurrency: usize,
    /// Now, in RFC 3339 with seconds.
    pub now: &'a str,
}

/// Computes the status of every Target that is in the cluster and writes those that have changed.
///
/// `fresh` tells that Deployments are to be read again. Returns the reports, with the errors of failed writes.
///
/// # Errors
/// When the server cannot be asked.
pub async fn report_targets(
    facts: &Facts<'_>,
    targets: &[Target],
    known: &mut Known,
    fresh: bool,
) -> Result<Vec<(TargetReport, Option<ClusterError>)>, ClusterError> {
    let ended = || facts.plan.steps.iter().zip(facts.done);
    let results: Results<'_> = ended()
        .filter(|(step, _)| step.owner.is_none())
        .map(|(step, done)| (&step.id, (step, done)))
        .collect();
    let children = |kind: &str| -> Results<'_> {
        let ended = ended().filter(|(step, _)| step.id.group_kind.kind == kind);
        ended
            .filter_map(|(step, done)| Some((step.owner.as_ref()?, (step, done))))
            .collect()
    };
    let (services, policies) = (children("Service"), children("NetworkPolicy"));
    let present: Vec<Target> = targets
        .iter()
        .filter_map(|target| present(target, &results))
        .collect();
    refresh_deployments(facts, &present, &results, known, fresh).await?;
    let states: Vec<State> = present
        .into_iter()
        .map(|target| {
            let deployment = deployment_of(&target, facts.index, known);
            let deployment = deployment.map(|it| {
                let diagnosis = facts.insight.diagnosis(&it).cloned();
                it.diagnosed(diagnosis.as_ref())
            });
            State {
                agent: agent(facts, &target, deployment.as_ref()),
                intent: intent(&target, deployment.as_ref(), &services),
                policy: policy_state(&target, deployment.as_ref(), &policies),
                drifted: drifted(&target, &services)
                    .or_else(|| drifted(&target, &policies))
                    .map(drift),
                deployment,
                target,
            }
        })
        .collect();
    let applied = states
        .iter()
        .filter(|state| matches!(state.intent, Intent::Applied))
        .map(|state| &state.target);
    let counts = endpoint_counts(facts.cluster, applied).await?;
    let write = |state: State| {
        let State {
            target,
            deployment,
            agent,
            intent,
            policy,
            drifted,
        } = state;
        let service = match intent {
            Intent::Applied => {
                let count = |counts: &BTreeMap<_, _>| {
                    counts.get(&child_id(&target)).copied().unwrap_or_default()
                };
                ServiceState::Applied(counts.as_ref().map(count))
            }
            Intent::Other(state) => state,
        };
        let mut status = status(
            &target,
            deployment.as_ref(),
            agent.as_ref(),
            &service,
            policy.finding().into_iter().chain(drifted).collect(),
            facts.cluster_domain,
            facts.now,
        );
        status.agent = deployment.and_then(|it| in_pods(facts, &target, &it));
        write(facts, target, status)
    };
    let writes: Vec<_> = states.into_iter().map(write).collect();
    Ok(stream::iter(writes)
        .buffered(facts.concurrency.max(1))
        .collect()
        .await)
}

/// A Target that is in the cluster, and what its status is made of.
struct State {
    target: Target,
    deployment: Option<Deployment>,
    agent: Option<AgentState>,
    intent: Intent,
    policy: NetworkPolicyState,
    /// What others have changed of its Service or NetworkPolicy and is left so.
    drifted: Option<Finding>,
}

enum Intent {
    Applied,
    Other(ServiceState),
}

/// What became of each object's step.
type Results<'a> = BTreeMap<&'a ObjectId, (&'a Step, &'a Done)>;

/// The Target with its live identity, if it is in the cluster and as the source wants it.
fn present(target: &Target, results: &Results<'_>) -> Option<Target> {
    let mut target = target.clone();
    if let Some((_, done)) = results.get(&target.id()) {
        if !done.outcome.is_good() || done.outcome == Outcome::Deleted {
            return None;
        }
        if let Some(live) = &done.live {
            let known = target.live.get_or_insert_default();
            known.uid = live.uid.clone();
            known.generation = live.generation;
        }
    }
    target
        .live
        .as_ref()
        .filter(|live| !live.terminating && !live.uid.is_empty())?;
    Some(target)
}

/// Says which agent a Target's pods have.
fn in_pods(facts: &Facts<'_>, target: &Target, deployment: &Deployment) -> Option<AgentStatus> {
    let before = target.live.as_ref();
    let before = before.and_then(|live| live.status.agent.as_ref());
    let told = facts.insight.agent_of(deployment).or(before);
    target.wants_agent().then(|| deployment.agent(told))?
}

/// Finds out how it stands with a Target's agent, where that is to be put into a Deployment that is there.
fn agent(
    facts: &Facts<'_>,
    target: &Target,
    deployment: Option<&Deployment>,
) -> Option<AgentState> {
    let deployment = deployment.filter(|_| target.wants_agent())?;
    let is_composed =
        |it: &Target| facts.composed.contains_key(&it.id()) || it.comes_with(deployment);
    let planned = facts.composed.get(&target.id());
    let rival = match planned {
        Some(_) => None,
        None => rival(target, facts.others.iter(), is_composed),
    };
    // It holds whatever becomes of taking it out.
    let reverted = target.reverted().map(str::to_owned);
    let reverted = reverted.map(AgentState::Reverted);
    let refused = reverted.or_else(|| rival.map(AgentState::Refused));
    let refused = refused.or_else(|| hindered(facts, &target.deployment_id()));
    Some(refused.unwrap_or_else(|| {
        let composed = is_composed(target);
        AgentState::of(target, deployment, composed, planned, facts.agent_image)
    }))
}

/// What became of the step that was to put an agent into a Deployment, where that did not come about.
fn hindered(facts: &Facts<'_>, deployment: &ObjectId) -> Option<AgentState> {
    let mut ended = facts.plan.steps.iter().zip(facts.done);
    let (step, done) = ended.find(|(step, _)| step.id == *deployment)?;
    let message = || done.message.clone();
    match (&step.body, done.outcome) {
        (Body::Agent { refusal, .. }, Outcome::Refused) => refusal.clone().map(AgentState::Refused),
        (Body::Agent { .. }, Outcome::Failed | Outcome::Skipped) => {
            Some(AgentState::Hindered("InjectionFailed", message()))
        }
        (Body::None, Outcome::Kept) if step.drift && !facts.index.contains_key(deployment) => {
            Some(AgentState::Hindered("DriftDetected", message()))
        }
        _ => None,
    }
}

fn intent(target: &Target, deployment: Option<&Deployment>, services: &Results<'_>) -> Intent {
    let child = services.get(&target.id());
    let failed = child.filter(|(_, done)| !done.outcome.is_good());
    match (coverage_service(target, deployment), failed) {
        (Ok(_), None) => Intent::Applied,
        (Err(no), None) => Intent::Other(ServiceState::Absent(no)),
        (_, Some((step, done))) => {
            let reason = why_failed(step, done, "ServiceNotOurs", "ServiceFailed");
            Intent::Other(ServiceState::Failed(reason, done.message.clone()))
        }
    }
}

fn policy_state(
    target: &Target,
    deployment: Option<&Deployment>,
    policies: &Results<'_>,
) -> NetworkPolicyState {
    let child = policies.get(&target.id());
    let failed = child.filter(|(_, done)| !done.outcome.is_good());
    match (network_policy(target, deployment), failed) {
        (Ok(_), None) => NetworkPolicyState::Applied,
        (Err(no), None) => NetworkPolicyState::Absent(no),
        (_, Some((step, done))) => {
            let reason = why_failed(step, done, "NetworkPolicyNotOurs", "NetworkPolicyFailed");
            NetworkPolicyState::Failed(reason, done.message.clone())
        }
    }
}

/// The reason of a child's failure.
fn why_failed(
    step: &Step,
    done: &Done,
    not_ours: &'static str,
    failed: &'static str,
) -> &'static str {
    match done.outcome {
        // What a policy holds back is not even shown to the server.
        Outcome::Refused if step.body == Body::None => "PolicyDenied",
        Outcome::Refused => not_ours,
        Outcome::Skipped => "DependencyFailed",
        _ => failed,
    }
}

/// Says what others have changed of a Target's child, if the run leaves it so.
fn drifted(target: &Target, children: &Results<'_>) -> Option<String> {
    let (step, done) = children.get(&target.id())?;
    let left = step.drift && done.outcome == Outcome::Kept;
    left.then(|| format!("{}: {}", step.id, done.message))
}

/// Reads again those Deployments whose rollout may have gone on.
///
/// One that appeared since the plan was made is left to the next run: no Service was made for it.
async fn refresh_deployments(
    facts: &Facts<'_>,
    targets: &[Target],
    results: &Results<'_>,
    known: &mut Known,
    fresh: bool,
) -> Result<(), ClusterError> {
    let written = |id: &ObjectId| results.get(id).is_some_and(|(_, done)| done.live.is_some());
    let places: BTreeSet<_> = targets
        .iter()
        .filter(|target| target.spec.agents.coverage.enabled)
        .map(Target::deployment_id)
        .filter(|id| written(id) || fresh && known.deployments.contains_key(id))
        .map(|id| (id.namespace, id.name))
        .collect();
    let Some(kind) = facts
        .kinds
        .get("apps/v1", "Deployment")
        .filter(|_| !places.is_empty())
    else {
        return Ok(());
    };
    let found = facts.cluster.deployments_of(kind, places).await?;
    for ((namespace, name), (deployment, _)) in found {
        let id = ObjectId {
            group_kind: GroupKind::new("apps", "Deployment"),
            namespace,
            name,
        };
        known.deployments.insert(id, deployment);
    }
    Ok(())
}

async fn write(
    facts: &Facts<'_>,
    target: Target,
    status: TargetStatus,
) -> (TargetReport, Option<ClusterError>) {
    let same = target
        .live
        .as_ref()
        .is_some_and(|live| live.status == status);
    let error = match facts.kinds.get(API_VERSION, TARGET) {
        Some(kind) if !same => {
            let body = serde_json::to_value(&status).unwrap_or_default();
            facts
                .cluster
                .apply_status(kind, &target.namespace, &target.name, &body)
                .await
                .err()
        }
        _ => None,
    };
    (
        TargetReport {
            namespace: target.namespace,
            name: target.name,
            status,
        },
        error,
    )
}
