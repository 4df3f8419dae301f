//! A Target's status from what was rendered and what became of it.

use super::rollout::Rollout;
use super::service::{NoService, endpoint};
use super::target::{Deployment, Target};
use crate::api::condition::{ConditionStatus, Finding, conditions};
use crate::api::target::{EndpointCount, Injection, Phase, TargetStatus};

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

/// Computes the whole status; `now` (RFC 3339) is used only for conditions that flip. `drifted` is what others have changed
/// of the Service and is left so.
pub fn status(
    target: &Target,
    deployment: Option<&Deployment>,
    service: &ServiceState,
    drifted: Option<String>,
    cluster_domain: &str,
    now: &str,
) -> TargetStatus {
    let enabled = target.spec.agents.coverage.enabled;
    let rollout = deployment.map(|d| &d.rollout);
    let phase = phase(enabled, rollout, service);
    let mut findings = vec![
        ready(phase, target, rollout, service),
        service_ready(service),
        agent_injected(target, rollout),
    ];
    findings.extend(drifted.map(|message| Finding {
        type_: "Drifted",
        status: ConditionStatus::True,
        reason: "DriftDetected",
        message,
    }));
    let generation = target.live.as_ref().and_then(|live| live.generation);
    let previous = target
        .live
        .as_ref()
        .map_or(&[][..], |live| &live.status.conditions);
    TargetStatus {
        phase: Some(phase),
        coverage_endpoint: matches!(service, ServiceState::Applied(_))
            .then(|| endpoint(target, cluster_domain)),
        instrumented_replicas: Some(rollout.filter(|_| enabled).map_or(0, Rollout::instrumented)),
        endpoints: match service {
            ServiceState::Applied(count) => *count,
            _ => None,
        },
        agent: None,
        observed_generation: generation,
        conditions: conditions(findings, previous, generation, now),
    }
}

fn phase(enabled: bool, rollout: Option<&Rollout>, service: &ServiceState) -> Phase {
    let permanent = matches!(
        service,
        ServiceState::Failed(..) | ServiceState::Absent(NoService::SelectorNotExpressible { .. })
    );
    match rollout {
        _ if !enabled => Phase::Disabled,
        None => Phase::Pending,
        _ if permanent => Phase::Failed,
        Some(rollout) if rollout.stalled.is_some() => Phase::Failed,
        Some(rollout) if rollout.is_complete() => Phase::Instrumented,
        Some(_) => Phase::Injecting,
    }
}

fn ready(
    phase: Phase,
    target: &Target,
    rollout: Option<&Rollout>,
    service: &ServiceState,
) -> Finding {
    use ConditionStatus::{False, True};
    use ServiceState::{Absent, Applied, Failed};
    let name = &target.spec.deployment_ref.name;
    let (status, reason, message) = match (phase, service) {
        (Phase::Pending, _) => {
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
        (Phase::Failed, _) => {
            let stalled = rollout.and_then(|rollout| rollout.stalled.as_ref());
            let message = stalled.map(ToString::to_string).unwrap_or_default();
            (False, "RolloutFailed", message)
        }
        (Phase::Injecting, _) => {
            let message = format!("Deployment {name} is rolling out");
            (False, "RolloutInProgress", message)
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

fn agent_injected(target: &Target, rollout: Option<&Rollout>) -> Finding {
    let coverage = &target.spec.agents.coverage;
    let (status, reason, message) = match (coverage.enabled, rollout, coverage.injection) {
        (false, ..) => (
            ConditionStatus::False,
            "CoverageDisabled",
            "agents.coverage.enabled is false",
        ),
        (true, None, _) => (
            ConditionStatus::Unknown,
            "DeploymentNotFound",
            "there is no Deployment to look at",
        ),
        (true, Some(_), Injection::Auto | Injection::None) => (
            ConditionStatus::Unknown,
            "BroughtByImage",
            "the image is expected to bring the agent along",
        ),
    };
    Finding {
        type_: "AgentInjected",
        status,
        reason,
        message: message.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::api::target::TargetSpec;
    use crate::render::coverage_service;

    fn target(coverage_service: bool, enabled: bool) -> Target {
        let spec: TargetSpec = serde_json::from_value(json!({
            "deploymentRef": { "name": "pet" },
            "coverageService": coverage_service,
            "agents": { "coverage": { "enabled": enabled } },
        }))
        .unwrap();
        Target {
            namespace: "shop".into(),
            name: "pet".into(),
            spec,
            live: None,
        }
    }

    fn deployment(wanted: i32, updated: i32, available: i32, all: i32) -> Deployment {
        let selector = json!({ "matchLabels": { "app": "pet" } });
        Deployment {
            selector,
            rollout: Rollout {
                wanted,
                updated,
                available,
                all,
                observed: true,
                ..Rollout::default()
            },
            ..Deployment::default()
        }
    }

    fn judge(target: &Target, deployment: Option<&Deployment>, ready: i32) -> TargetStatus {
        let service = match coverage_service(target, deployment) {
            Ok(_) => ServiceState::Applied(Some(EndpointCount {
                ready,
                total: ready,
            })),
            Err(no) => ServiceState::Absent(no),
        };
        status(target, deployment, &service, None, "cluster.local", "t")
    }

    #[test]
    fn c39_without_a_service_there_is_no_endpoint_and_a_reason() {
        let rolled_out = deployment(2, 2, 2, 2);
        for (target, deployment, phase, reason) in [
            (
                target(true, true),
                None,
                Phase::Pending,
                "DeploymentNotFound",
            ),
            (
                target(true, false),
                Some(&rolled_out),
                Phase::Disabled,
                "CoverageDisabled",
            ),
            (
                target(false, true),
                Some(&rolled_out),
                Phase::Instrumented,
                "CoverageServiceDisabled",
            ),
        ] {
            let status = judge(&target, deployment, 0);
            assert_eq!(status.phase, Some(phase));
            assert_eq!(status.conditions[1].reason, reason);
            let json = serde_json::to_value(&status).unwrap();
            assert!(json.get("coverageEndpoint").is_none(), "{json}");
            assert!(json.get("endpoints").is_none(), "{json}");
        }
    }

    #[test]
    fn phase_follows_the_rollout() {
        let target = target(true, true);
        for (deployment, phase, instrumented, ready) in [
            (
                deployment(2, 0, 0, 0),
                Phase::Injecting,
                0,
                ConditionStatus::False,
            ),
            // Two old pods still serve while the first new one starts.
            (
                deployment(2, 1, 2, 3),
                Phase::Injecting,
                0,
                ConditionStatus::False,
            ),
            (
                deployment(2, 2, 2, 3),
                Phase::Injecting,
                1,
                ConditionStatus::False,
            ),
            (
                deployment(2, 2, 2, 2),
                Phase::Instrumented,
                2,
                ConditionStatus::True,
            ),
        ] {
            let status = judge(&target, Some(&deployment), 2);
            assert_eq!(
                (
                    status.phase,
                    status.instrumented_replicas,
                    status.conditions[0].status
                ),
                (Some(phase), Some(instrumented), ready)
            );
        }
    }

    #[test]
    fn c60_a_service_without_addresses_is_not_ready() {
        let status = judge(&target(true, true), Some(&deployment(1, 1, 1, 1)), 0);
        assert_eq!(status.conditions[0].reason, "NoEndpoints");
        assert_eq!(
            status.coverage_endpoint.as_deref(),
            Some("pet-coverage.shop.svc.cluster.local:6300")
        );
    }

    #[test]
    fn a_service_that_is_left_as_others_want_it_is_told_beside_the_rest() {
        let (target, deployment) = (target(true, true), deployment(1, 1, 1, 1));
        let service = ServiceState::Applied(Some(EndpointCount { ready: 1, total: 1 }));
        let judge = |drifted| {
            let drifted: Option<String> = drifted;
            status(
                &target,
                Some(&deployment),
                &service,
                drifted,
                "cluster.local",
                "t",
            )
            .conditions
        };
        let fought = judge(Some("it was changed again".into()));
        assert_eq!(fought[..3], judge(None));
        let told = (&*fought[3].type_, fought[3].status, &*fought[3].message);
        assert_eq!(
            told,
            ("Drifted", ConditionStatus::True, "it was changed again")
        );
    }

    #[test]
    fn c58_the_cluster_domain_is_the_users() {
        let deployment = deployment(1, 1, 1, 1);
        let service = ServiceState::Applied(Some(EndpointCount::default()));
        let status = status(
            &target(true, true),
            Some(&deployment),
            &service,
            None,
            "corp.example",
            "t",
        );
        assert_eq!(
            status.coverage_endpoint.as_deref(),
            Some("pet-coverage.shop.svc.corp.example:6300")
        );
    }
}
