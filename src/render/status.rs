//! A Target's status from what was rendered and what became of it.

use super::injection::AgentState;
use super::rollout::Rollout;
use super::service::{NoService, endpoint};
use super::target::{Deployment, Target};
use crate::api::condition::{ConditionStatus, Finding, conditions};
use crate::api::target::{EndpointCount, Phase, TargetStatus};

/// Type of the condition that says how it stands with the agent.
pub const AGENT_INJECTED: &str = "AgentInjected";

/// What became of the Service that was rendered, or why none was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServiceState {
    /// It is in the cluster as rendered, with so many pods behind it, if that can be told.
    Applied(Option<EndpointCount>),
    /// There is none, and there is to be none.
    Absent(NoService),
    /// There is to be one, but it could not be applied: reason and message.
    Failed(&'static str, String),
}

/// Computes the whole status; `now` (RFC 3339) is used only for conditions that flip. `agent` is how it stands with the agent
/// where that is to be put into a Deployment that is there, `aspects` what is to be told beside the rest.
pub fn status(
    target: &Target,
    deployment: Option<&Deployment>,
    agent: Option<&AgentState>,
    service: &ServiceState,
    aspects: Vec<Finding>,
    cluster_domain: &str,
    now: &str,
) -> TargetStatus {
    let enabled = target.spec.agents.coverage.enabled;
    let rollout = deployment.map(|d| &d.rollout);
    let phase = phase(enabled, rollout, agent, service);
    let mut findings = vec![
        ready(phase, target, rollout, agent, service),
        service_ready(service),
        agent_injected(target, rollout, agent),
    ];
    findings.extend(aspects);
    let generation = target.live.as_ref().and_then(|live| live.generation);
    let previous = target
        .live
        .as_ref()
        .map_or(&[][..], |live| &live.status.conditions);
    TargetStatus {
        phase: Some(phase),
        coverage_endpoint: matches!(service, ServiceState::Applied(_))
            .then(|| endpoint(target, cluster_domain)),
        instrumented_replicas: Some(match rollout.filter(|_| enabled && has_agent(agent)) {
            None => 0,
            Some(rollout) if rollout.observed => rollout.instrumented(),
            // Its counts are those of the template before.
            Some(_) => previous_replicas(target),
        }),
        endpoints: match service {
            ServiceState::Applied(count) => *count,
            _ => None,
        },
        agent: None,
        observed_generation: generation,
        conditions: conditions(findings, previous, generation, now),
    }
}

/// Tells what others have changed of what a Target brings about, and is left so.
pub fn drift(message: String) -> Finding {
    Finding {
        type_: "Drifted",
        status: ConditionStatus::True,
        reason: "DriftDetected",
        message,
    }
}

fn previous_replicas(target: &Target) -> i32 {
    let live = target.live.as_ref();
    live.and_then(|live| live.status.instrumented_replicas)
        .unwrap_or_default()
}

/// Tells whether the pods of the current template have an agent: one that we put there, or one that their image brings.
fn has_agent(agent: Option<&AgentState>) -> bool {
    match agent {
        None | Some(AgentState::InPlace { .. } | AgentState::Fails(_)) => true,
        Some(
            AgentState::Coming
            | AgentState::LeftToController
            | AgentState::Reverted(_)
            | AgentState::Hindered(..)
            | AgentState::Refused(_),
        ) => false,
    }
}

fn phase(
    enabled: bool,
    rollout: Option<&Rollout>,
    agent: Option<&AgentState>,
    service: &ServiceState,
) -> Phase {
    let permanent = matches!(
        service,
        ServiceState::Failed(..) | ServiceState::Absent(NoService::SelectorNotExpressible { .. })
    ) || matches!(
        agent,
        Some(AgentState::Refused(_) | AgentState::Reverted(_))
    );
    match rollout {
        _ if !enabled => Phase::Disabled,
        None => Phase::Pending,
        _ if permanent => Phase::Failed,
        _ if agent == Some(&AgentState::LeftToController) => Phase::Pending,
        Some(rollout) if rollout.stalled.is_some() => Phase::Failed,
        Some(_) if !has_agent(agent) => Phase::Injecting,
        Some(rollout) if rollout.is_complete() => Phase::Instrumented,
        Some(_) => Phase::Injecting,
    }
}

fn ready(
    phase: Phase,
    target: &Target,
    rollout: Option<&Rollout>,
    agent: Option<&AgentState>,
    service: &ServiceState,
) -> Finding {
    use ConditionStatus::{False, True};
    use ServiceState::{Absent, Applied, Failed};
    let in_the_way = |agent: &&AgentState| !has_agent(Some(agent));
    let name = &target.spec.deployment_ref.name;
    let (status, reason, message) = match (phase, service) {
        (Phase::Pending, _) if rollout.is_none() => {
            let no = NoService::deployment_not_found(target);
            (False, no.reason(), no.to_string())
        }
        (_, Failed(reason, message)) => (False, *reason, message.clone()),
        (Phase::Disabled, _) => {
            let message = "coverage is switched off".to_owned();
            (True, NoService::CoverageDisabled.reason(), message)
        }
        (Phase::Failed, Absent(no @ NoService::SelectorNotExpressible { .. })) => {
            (False, no.reason(), no.to_string())
        }
        (Phase::Pending | Phase::Failed | Phase::Injecting, _)
            if let Some(agent) = agent.filter(in_the_way) =>
        {
            let (reason, message) = agent.words(name);
            (False, reason, message)
        }
        (Phase::Pending | Phase::Failed, _) => {
            let stalled = rollout.and_then(|rollout| rollout.stalled.as_ref());
            let why = stalled.map(|why| format!(": {why}")).unwrap_or_default();
            let message = format!("the rollout of Deployment {name} has failed{why}");
            (False, "RolloutFailed", message)
        }
        (Phase::Injecting, _) if rollout.is_some_and(|it| it.paused) => {
            let message = format!(
                "Deployment {name} is paused, so that its rollout does not go on (kubectl -n {} rollout resume deployment/{name})",
                target.namespace
            );
            (False, "DeploymentPaused", message)
        }
        (Phase::Injecting, _) => {
            let message = format!("Deployment {name} is rolling out");
            (False, "RolloutInProgress", message)
        }
        (Phase::Instrumented, _) if rollout.is_some_and(|it| it.wanted == 0) => {
            let message = format!("Deployment {name} is scaled to zero");
            (False, "ScaledToZero", message)
        }
        (Phase::Instrumented, Applied(Some(EndpointCount { total: 0, .. }))) => {
            let message = "no pod is behind the Service yet".to_owned();
            (False, "NoEndpoints", message)
        }
        (Phase::Instrumented, _) => {
            let message = format!("Deployment {name} is rolled out");
            (True, "Instrumented", message)
        }
    };
    Finding {
        type_: "Ready",
        status,
        reason,
        message,
    }
}

fn service_ready(service: &ServiceState) -> Finding {
    use ConditionStatus::{False, True};
    let (status, reason, message) = match service {
        ServiceState::Applied(_) => {
            let message = "the headless Service is in place".to_owned();
            (True, "ServiceApplied", message)
        }
        ServiceState::Absent(no) => (False, no.reason(), no.to_string()),
        ServiceState::Failed(reason, message) => (False, *reason, message.clone()),
    };
    Finding {
        type_: "CoverageServiceReady",
        status,
        reason,
        message,
    }
}

fn agent_injected(
    target: &Target,
    rollout: Option<&Rollout>,
    agent: Option<&AgentState>,
) -> Finding {
    use ConditionStatus::{False, True, Unknown};
    let name = &target.spec.deployment_ref.name;
    let (status, (reason, message)) = match (rollout, agent) {
        _ if !target.spec.agents.coverage.enabled => {
            let no = NoService::CoverageDisabled;
            (False, (no.reason(), no.to_string()))
        }
        (None, _) => {
            let message = "there is no Deployment to look at".to_owned();
            (Unknown, ("DeploymentNotFound", message))
        }
        (Some(_), None) => {
            let message = "the image is expected to bring the agent along".to_owned();
            (Unknown, ("BroughtByImage", message))
        }
        (Some(_), Some(agent @ AgentState::InPlace { .. })) => (True, agent.words(name)),
        (Some(_), Some(agent)) => (False, agent.words(name)),
    };
    Finding {
        type_: AGENT_INJECTED,
        status,
        reason,
        message,
    }
}
