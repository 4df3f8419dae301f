use serde_json::{Value, json};

use super::*;

const HASH: &str = "5d4f8c7b9";

fn case() -> Case {
    Case {
        namespace: "shop".into(),
        deployment: "pet".into(),
        hash: Some(HASH.into()),
        jvm: Some("app".into()),
        port: 6300,
    }
}

fn pod(name: &str, init: Value, app: Value) -> PodFacts {
    let with_name = |mut status: Value, name: &str| {
        status["name"] = name.into();
        status
    };
    let pod = json!({
        "metadata": { "name": name },
        "spec": {
            "initContainers": [{ "name": AGENT, "image": "agents:1" }],
            "containers": [{ "name": "app", "image": "shop/pet:1" }, { "name": "proxy", "image": "proxy:1" }],
        },
        "status": {
            "initContainerStatuses": [with_name(init, AGENT)],
            // In whatever order the kubelet has them.
            "containerStatuses": [{ "name": "proxy", "state": { "waiting": { "reason": "PodInitializing" } } }, with_name(app, "app")],
        },
    });
    PodFacts::read(&pod).unwrap()
}

fn waiting(reason: &str, message: &str) -> Value {
    json!({ "state": { "waiting": { "reason": reason, "message": message } } })
}

fn ended(exit_code: i64, message: &str) -> Value {
    json!({ "terminated": { "exitCode": exit_code, "reason": "Error", "message": message, "finishedAt": "2026-01-01T00:00:00Z" } })
}

fn crash_loop(exit_code: i64, message: &str) -> Value {
    let mut status = waiting(
        "CrashLoopBackOff",
        "back-off 10s restarting failed container",
    );
    status["lastState"] = ended(exit_code, message);
    status
}

fn done() -> Value {
    json!({ "ready": true, "state": ended(0, "{}") })
}

fn starting() -> Value {
    waiting("PodInitializing", "")
}

fn told(pods: &[PodFacts]) -> (String, bool) {
    match case().judge(pods) {
        Finding::Told(Diagnosis { words, agent, .. }) => (words, agent),
        Finding::Log(wanted) => panic!("{wanted:?}"),
    }
}

#[test]
fn an_init_container_that_does_not_start_points_to_the_agent() {
    let own = "reading\nerror: install the agent in /covergence-agent: No space left on device\n";
    let missing = "failed to create containerd task: exec: \"/usr/bin/covergence\": stat /usr/bin/covergence: no such file or directory: unknown";
    let root = "container has runAsNonRoot and image will run as root (pod: \"pet-5d4f8c7b9-x2x4z_shop(c0ffee)\", container: covergence-agent)";
    for (status, words) in [
        (
            waiting(
                "ErrImagePull",
                "rpc error: code = NotFound desc = agents:1: not found",
            ),
            "image agents:1 of init container covergence-agent cannot be pulled",
        ),
        (
            waiting("ImagePullBackOff", "Back-off pulling image \"agents:1\""),
            "image agents:1 of init container covergence-agent cannot be pulled",
        ),
        (
            waiting(
                "InvalidImageName",
                "Failed to apply default image tag \"agents:1\"",
            ),
            "init container covergence-agent does not start: agents:1 is no name of an image",
        ),
        (
            waiting(
                "ErrImageNeverPull",
                "Container image \"agents:1\" is not present with pull policy of Never",
            ),
            "image agents:1 of init container covergence-agent is not on the node, and may not be pulled",
        ),
        (
            waiting("CreateContainerConfigError", root),
            "init container covergence-agent does not start: container has runAsNonRoot and image will run as root",
        ),
        (
            waiting("CreateContainerError", "context deadline exceeded 4711"),
            "init container covergence-agent does not start: CreateContainerError",
        ),
        (
            crash_loop(1, own),
            "init container covergence-agent ends with exit code 1: install the agent in /covergence-agent: No space left on device",
        ),
        (
            json!({ "state": ended(128, missing) }),
            "init container covergence-agent does not start: image agents:1 has no /usr/bin/covergence",
        ),
        (
            json!({ "state": ended(2, "token=s3cr3t") }),
            "init container covergence-agent ends with exit code 2 (image agents:1)",
        ),
    ] {
        let pods = [pod("pet-a", status.clone(), starting())];
        assert_eq!(told(&pods), (words.to_owned(), true), "{status}");
    }
}

#[test]
fn what_the_application_does_does_not_point_to_the_agent() {
    let mut refused = pod("pet-a", done(), starting());
    refused.failed = Some("Evicted: The node was low on resource: memory.".into());
    let unschedulable = PodFacts {
        unschedulable: Some("0/3 nodes are available: 3 Insufficient cpu.".into()),
        ..PodFacts::default()
    };
    let running = json!({ "ready": false, "state": { "running": {} } });
    for (pod, words) in [
        (
            pod("pet-a", done(), waiting("ImagePullBackOff", "")),
            "image shop/pet:1 of container app cannot be pulled",
        ),
        (
            pod(
                "pet-a",
                done(),
                waiting("CreateContainerConfigError", "secret \"db\" not found"),
            ),
            "container app does not start: secret \"db\" not found",
        ),
        (
            refused,
            "a pod has failed: Evicted: The node was low on resource: memory.",
        ),
        (
            unschedulable,
            "no node takes its pods: 0/3 nodes are available: 3 Insufficient cpu.",
        ),
        (
            pod("pet-a", done(), running),
            "container app runs, and is not ready",
        ),
    ] {
        assert_eq!(told(&[pod]), (words.to_owned(), false));
    }
}

#[test]
fn the_log_of_the_jvm_that_ends_is_asked_for_and_its_known_words_are_told() {
    let command = "see kubectl -n shop logs -l pod-template-hash=5d4f8c7b9 -c app --previous";
    let pods = [pod("pet-b", done(), crash_loop(134, "token=s3cr3t"))];
    let Finding::Log(wanted) = case().judge(&pods) else {
        panic!("{pods:?}");
    };
    let asked = (&*wanted.pod, &*wanted.container, wanted.previous);
    assert_eq!(asked, ("pet-b", "app", true));
    let log = "Error opening zip file or JAR manifest missing : /covergence-agent/jacocoagent.jar";
    let diagnosis = case().judge_log(&wanted, Some(log));
    let words = "\"Error opening zip file or JAR manifest missing\"";
    assert_eq!(
        diagnosis.to_string(),
        format!("container app ends with exit code 134: {words}; {command}")
    );
    assert!(diagnosis.agent && diagnosis.settled);
    for log in [Some("password=hunter2"), None] {
        let diagnosis = case().judge_log(&wanted, log);
        assert_eq!(
            diagnosis.to_string(),
            format!("container app ends with exit code 134; {command}")
        );
        assert!(!diagnosis.agent);
    }
}

#[test]
fn a_run_that_has_just_ended_has_the_log_itself_and_one_that_was_restarted_the_one_before() {
    let mut again = json!({ "ready": false, "state": { "running": {} } });
    again["lastState"] = ended(134, "");
    for (status, previous) in [(json!({ "state": ended(134, "") }), false), (again, true)] {
        let found = case().judge(&[pod("pet-a", done(), status)]);
        assert!(
            matches!(found, Finding::Log(LogWanted { previous: p, .. }) if p == previous),
            "{found:?}"
        );
    }
}

#[test]
fn of_several_pods_the_one_that_says_most_of_the_agent_is_told() {
    let ready = PodFacts {
        ready: true,
        ..pod("pet-0", crash_loop(1, ""), starting())
    };
    let app = pod("pet-a", done(), waiting("ImagePullBackOff", ""));
    let agent = pod("pet-z", waiting("ImagePullBackOff", ""), starting());
    let words = "image agents:1 of init container covergence-agent cannot be pulled";
    assert_eq!(told(&[ready.clone(), app, agent]), (words.to_owned(), true));
    // Nothing but pods that are well, or that have only begun.
    for pods in [
        vec![ready],
        vec![pod("pet-a", starting(), starting())],
        Vec::new(),
    ] {
        let Finding::Told(diagnosis) = case().judge(&pods) else {
            panic!("{pods:?}");
        };
        assert!(!diagnosis.settled && !diagnosis.agent, "{diagnosis:?}");
    }
}

#[test]
fn what_refuses_pods_points_to_the_agent_when_it_names_its_container() {
    let refused = |message: &str| {
        let rollout = Rollout {
            stalled: Some(Stalled::Refused(message.into())),
            ..Rollout::default()
        };
        Case::refused(&rollout).unwrap().agent
    };
    let security = "pods \"pet-*\" is forbidden: violates PodSecurity \"restricted:latest\": seccompProfile (container \"covergence-agent\" must set securityContext.seccompProfile.type)";
    assert!(refused(security));
    assert!(!refused(
        "pods \"pet-*\" is forbidden: exceeded quota: small"
    ));
    // As v1.20.2 says it.
    let range = "pods \"pet-*\" is forbidden: [minimum cpu usage per Container is 200m, but request is ASKED, maximum memory usage per Container is 1Gi, but limit is 2Gi]";
    assert!(refused(&range.replace("ASKED", "100m")));
    assert!(!refused(&range.replace("ASKED", "64Mi")));
    let range = "pods \"pet-*\" is forbidden: minimum memory usage per Container is 128Mi, but request is 64Mi";
    assert!(refused(range));
    assert_eq!(Case::refused(&Rollout::default()), None);
}

#[test]
fn a_pod_that_is_being_deleted_says_nothing() {
    let pod = json!({ "metadata": { "name": "a", "deletionTimestamp": "2026-01-01T00:00:00Z" } });
    assert_eq!(PodFacts::read(&pod), None);
    // Whatever else stands there: none of it may be there, or what it should be.
    let odd = json!({ "metadata": { "name": "a" }, "spec": { "containers": 7 }, "status": { "containerStatuses": [3], "conditions": {} } });
    assert_eq!(PodFacts::read(&odd).unwrap().containers, []);
}
