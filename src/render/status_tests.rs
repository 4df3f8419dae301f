//! What a Target's status says.

use serde_json::json;

use super::rollout::Rollout;
use super::status::{ServiceState, drift, status};
use super::{
    AgentImage, AgentPatch, AgentState, Deployment, Diagnosis, LiveTarget, NotInjected, PodShape,
    Stalled, Target,
};
use super::{agent_patch, coverage_service};
use crate::api::condition::ConditionStatus;
use crate::api::target::{EndpointCount, OnFailure, Phase, TargetSpec, TargetStatus};

fn target(coverage_service: bool, enabled: bool) -> Target {
    let spec: TargetSpec = serde_json::from_value(json!({
        "deploymentRef": { "name": "pet" },
        "coverageService": coverage_service,
        "agents": { "coverage": { "enabled": enabled, "injection": "None" } },
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
    let agent = deployment
        .filter(|_| target.wants_agent())
        .map(|it| AgentState::of(target, it, true, None, &AgentImage::default()));
    status(
        target,
        deployment,
        agent.as_ref(),
        &service,
        Vec::new(),
        "cluster.local",
        "t",
    )
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
            None,
            &service,
            drifted.map(drift).into_iter().collect(),
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
        None,
        &service,
        Vec::new(),
        "corp.example",
        "t",
    );
    assert_eq!(
        status.coverage_endpoint.as_deref(),
        Some("pet-coverage.shop.svc.corp.example:6300")
    );
}

/// A Target that wants the agent put there, and a Deployment that is rolled out, with the agent or without.
fn injected(with_agent: bool) -> (Target, Deployment) {
    let mut target = target(true, true);
    target.spec.agents.coverage.injection = Default::default();
    let mut object = json!({ "spec": { "template": { "spec": {
        "containers": [{ "name": "app", "image": "pet:1" }],
    } } } });
    let image = AgentImage::default();
    let patch = agent_patch(&target, &PodShape::read(&object), &image).unwrap();
    if with_agent {
        AgentPatch::compose(&patch, &mut object);
    }
    let pod = PodShape::read(&object).into();
    let deployment = deployment(2, 2, 2, 2);
    (target, Deployment { pod, ..deployment })
}

fn with_agent(target: &Target, deployment: &Deployment, agent: &AgentState) -> TargetStatus {
    let service = ServiceState::Applied(Some(EndpointCount { ready: 2, total: 2 }));
    let (agent, domain) = (Some(agent), "cluster.local");
    status(
        target,
        Some(deployment),
        agent,
        &service,
        Vec::new(),
        domain,
        "t",
    )
}

#[test]
fn replicas_count_only_when_their_template_has_the_agent() {
    let image = AgentImage::default();
    for (in_place, composed, phase, replicas, status, reason) in [
        (
            true,
            true,
            Phase::Instrumented,
            2,
            ConditionStatus::True,
            "Composed",
        ),
        (
            true,
            false,
            Phase::Instrumented,
            2,
            ConditionStatus::True,
            "Injected",
        ),
        (
            false,
            true,
            Phase::Injecting,
            0,
            ConditionStatus::False,
            "NotAppliedYet",
        ),
        (
            false,
            false,
            Phase::Pending,
            0,
            ConditionStatus::False,
            "LeftToController",
        ),
    ] {
        let (target, deployment) = injected(in_place);
        let agent = AgentState::of(&target, &deployment, composed, None, &image);
        let told = with_agent(&target, &deployment, &agent);
        assert_eq!(
            (told.phase, told.instrumented_replicas),
            (Some(phase), Some(replicas))
        );
        let [ready, _, injected] = &told.conditions[..] else {
            panic!("{:?}", told.conditions)
        };
        assert_eq!((injected.status, &*injected.reason), (status, reason));
        match in_place {
            true => assert_eq!((&*ready.reason, ready.status), ("Instrumented", status)),
            false => assert_eq!(
                (&ready.reason, &ready.message),
                (&injected.reason, &injected.message)
            ),
        }
    }
}

#[test]
fn a_deployment_that_cannot_carry_the_agent_is_a_failure_that_says_why() {
    let (target, deployment) = injected(false);
    let refused = AgentState::Refused(NotInjected::HostNetwork);
    let told = with_agent(&target, &deployment, &refused);
    assert_eq!(
        (told.phase, told.instrumented_replicas),
        (Some(Phase::Failed), Some(0))
    );
    for condition in [&told.conditions[0], &told.conditions[2]] {
        assert_eq!(
            (condition.status, &*condition.reason),
            (ConditionStatus::False, "HostNetwork")
        );
        assert_eq!(condition.message, NotInjected::HostNetwork.to_string());
    }
}

#[test]
fn what_was_planned_counts_more_than_what_others_made_of_the_pods() {
    let (target, mut deployment) = injected(true);
    let image = AgentImage::default();
    let planned = agent_patch(&target, &deployment.pod, &image);
    // Another tool has put a container beside the JVM since.
    let mut pod = PodShape::clone(&deployment.pod);
    pod.containers.push(Default::default());
    deployment.pod = pod.into();
    let state = AgentState::of(&target, &deployment, true, Some(&planned), &image);
    assert!(matches!(state, AgentState::InPlace { composed: true, .. }));
}

/// A Target that wants the agent, and says what becomes of it when it fails.
fn failing(on_failure: &str, points_to_agent: bool) -> (Target, Deployment) {
    let mut target = target(true, true);
    let coverage = json!({ "enabled": true, "onFailure": on_failure });
    target.spec.agents.coverage = serde_json::from_value(coverage).unwrap();
    target.live = Some(LiveTarget {
        generation: Some(7),
        ..LiveTarget::default()
    });
    let mut object =
        json!({ "spec": { "template": { "spec": { "containers": [{ "name": "app" }] } } } });
    let patch = agent_patch(&target, &PodShape::read(&object), &AgentImage::default()).unwrap();
    AgentPatch::compose(&patch, &mut object);
    let mut deployment = Deployment {
        pod: PodShape::read(&object).into(),
        ..deployment(2, 1, 2, 3)
    };
    deployment.rollout.stalled = Some(Stalled::DeadlineExceeded);
    let diagnosis = Diagnosis {
        words: "it is broken".into(),
        hint: Some("see there".into()),
        agent: points_to_agent,
        settled: true,
    };
    (target, deployment.diagnosed(Some(&diagnosis)))
}

fn ready_and_injected(status: &TargetStatus) -> [(&str, &str); 2] {
    [0, 2].map(|i| {
        let condition = &status.conditions[i];
        (&*condition.reason, &*condition.message)
    })
}

#[test]
fn a_rollout_that_fails_is_told_and_only_an_agent_to_blame_is_reverted() {
    let failed = "the rollout of Deployment pet has failed: it is broken; see there";
    let in_place = "the pods get the agent with the manifest of Deployment pet";
    let fails = "Deployment pet does not roll out with the agent: it is broken; see there";
    let reverted = "the agent is taken out of Deployment pet again, whose rollout failed with it: it is broken; it is tried again when the spec of this ClosureJVMTarget changes";
    for (on_failure, agent, ready, injected) in [
        (
            "Keep",
            true,
            ("RolloutFailed", failed),
            ("AgentFails", fails),
        ),
        (
            "Keep",
            false,
            ("RolloutFailed", failed),
            ("Composed", in_place),
        ),
        (
            "Revert",
            true,
            ("Reverted", reverted),
            ("Reverted", reverted),
        ),
        (
            "Revert",
            false,
            ("RolloutFailed", failed),
            ("Composed", in_place),
        ),
    ] {
        let (target, deployment) = failing(on_failure, agent);
        let status = judge(&target, Some(&deployment), 1);
        assert_eq!(status.phase, Some(Phase::Failed));
        assert_eq!(ready_and_injected(&status), [ready, injected]);
    }
}

#[test]
fn what_was_reverted_stays_so_until_something_else_is_asked_for() {
    let (mut target, deployment) = failing("Revert", true);
    let status = judge(&target, Some(&deployment), 1);
    let live = target.live.as_mut().unwrap();
    live.status = status;
    assert!(target.reverted().unwrap().contains("it is broken"));
    let mut kept = target.clone();
    kept.spec.agents.coverage.on_failure = OnFailure::Keep;
    assert_eq!(kept.reverted(), None);
    target.live.as_mut().unwrap().generation = Some(8);
    assert_eq!(target.reverted(), None);
}

#[test]
fn c27_a_deployment_that_is_scaled_paused_or_not_seen_yet() {
    let mut target = target(true, true);
    let reason = |target: &Target, deployment: &Deployment| {
        let status = judge(target, Some(deployment), 2);
        let ready = &status.conditions[0];
        (
            status.phase.unwrap(),
            ready.reason.clone(),
            status.instrumented_replicas.unwrap(),
        )
    };
    let zero = deployment(0, 0, 0, 0);
    let told = |phase, reason: &str, instrumented| (phase, reason.to_owned(), instrumented);
    assert_eq!(
        reason(&target, &zero),
        told(Phase::Instrumented, "ScaledToZero", 0)
    );
    let mut paused = deployment(2, 0, 2, 2);
    paused.rollout.paused = true;
    assert_eq!(
        reason(&target, &paused),
        told(Phase::Injecting, "DeploymentPaused", 0)
    );
    // Scaled from 2 to 7 a moment ago: two have it as before. Of a first rollout nothing is known yet.
    let mut scaled = deployment(7, 2, 2, 2);
    scaled.rollout.observed = false;
    assert_eq!(
        reason(&target, &scaled),
        told(Phase::Injecting, "RolloutInProgress", 0)
    );
    target.live = Some(LiveTarget {
        status: TargetStatus {
            instrumented_replicas: Some(2),
            ..TargetStatus::default()
        },
        ..LiveTarget::default()
    });
    assert_eq!(
        reason(&target, &scaled),
        told(Phase::Injecting, "RolloutInProgress", 2)
    );
}

#[test]
fn counts_of_the_template_before_are_not_those_of_the_present_one() {
    let (mut target, mut deployment) = injected(true);
    deployment.rollout.observed = false;
    let agent = AgentState::of(&target, &deployment, true, None, &AgentImage::default());
    let told = with_agent(&target, &deployment, &agent);
    assert_eq!(
        (told.phase, told.instrumented_replicas),
        (Some(Phase::Injecting), Some(0))
    );
    let before = TargetStatus {
        instrumented_replicas: Some(1),
        ..TargetStatus::default()
    };
    target.live = Some(LiveTarget {
        status: before,
        ..LiveTarget::default()
    });
    assert_eq!(
        with_agent(&target, &deployment, &agent).instrumented_replicas,
        Some(1)
    );
}
