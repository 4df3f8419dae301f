//! A rollout that fails: why is told, and an agent that is to blame goes again where its Target wants that.
//!
//! There is no kubelet here: what it would say of a pod, the test says.

use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::audit::{Audit, is_quiet};
use crate::support::controller::{Controller, Setup, directory_sync};
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, deployment, target};
use crate::support::namespace::{Namespace, condition_of};
use crate::support::source::Source;

const AGENT: &str = "covergence-agent";

/// A Deployment whose rollout has failed soon.
fn impatient() -> Value {
    deployment("pet").set("/spec/progressDeadlineSeconds", 4)
}

fn reverting() -> Value {
    target("pet").set("/spec/agents/coverage/onFailure", "Revert")
}

fn with_image(image: &str) -> Value {
    reverting().set("/spec/agents/coverage/image", image)
}

fn controller(ns: &Namespace, audit: &Audit<'_>, syncs: &[Value]) -> Controller {
    Setup {
        user: Some(&audit.user),
        syncs,
        ..Setup::new(&[&ns.name])
    }
    .start()
}

/// What a Deployment asks for.
fn spec(ns: &Namespace) -> Value {
    ns.get("deployments", "pet")["spec"].clone()
}

fn names(pods: &[Value]) -> Vec<String> {
    let names = pods.iter().map(|pod| pod["metadata"]["name"].as_str());
    let mut names: Vec<String> = names.map(|name| name.unwrap().to_owned()).collect();
    names.sort_unstable();
    names
}

/// Waits until there are pods with the agent, and gives them.
fn with_agent(ns: &Namespace, count: usize) -> Vec<Value> {
    let label = "?labelSelector=closurejvm.io%2Fcoverage-port%3D6300";
    let list = path("pods", Some(&ns.name), None) + label;
    eventually(&format!("{count} pods with the agent"), || {
        let pods = api().list(&list);
        (pods.len() == count).then_some(pods)
    })
}

/// Says of a container of a pod what the kubelet would say.
fn say(ns: &Namespace, pod: &Value, list: &str, container: &str, state: Value) {
    let mut status =
        json!({ "name": container, "ready": false, "restartCount": 0, "image": "", "imageID": "" });
    status
        .as_object_mut()
        .unwrap()
        .extend(state.as_object().unwrap().clone());
    let name = pod["metadata"]["name"].as_str().unwrap();
    ns.edit(
        "pods:status",
        name,
        &json!({ "status": { list: [status] } }),
    );
}

/// Waits until a condition of the Target is false for this reason, and gives its message.
fn told(ns: &Namespace, condition: &str, reason: &str) -> String {
    eventually(&format!("{condition} is false: {reason}"), || {
        let target = ns.find("closurejvmtargets", "pet")?;
        let found = condition_of(&target, condition);
        let is_it = found["status"] == "False" && found["reason"] == reason;
        is_it.then(|| found["message"].as_str().unwrap().to_owned())
    })
}

/// Requests about pods, such as `list pods` and `get pods/log`.
fn looks_at_pods(audit: &Audit<'_>) -> Vec<String> {
    let events = audit.events().into_iter();
    let of_pods = events.filter(|event| event.resource == "pods");
    of_pods
        .map(|event| format!("{} {}", event.verb, event.full_resource()))
        .collect()
}

/// The same, each once: pods that have said nothing yet when the rollout fails are looked at again.
fn kinds_of_looks(audit: &Audit<'_>) -> Vec<String> {
    let mut looks = looks_at_pods(audit);
    looks.sort_unstable();
    looks.dedup();
    looks
}

/// Waits until nothing is done any more; then the Target and the Deployment are as they were before that.
fn nothing_goes_on(ns: &Namespace, audit: &Audit<'_>) {
    is_quiet(&[audit]);
    let state = || {
        let version = |resource| ns.get(resource, "pet")["metadata"]["resourceVersion"].clone();
        (
            version("closurejvmtargets"),
            version("deployments"),
            looks_at_pods(audit),
        )
    };
    let before = state();
    is_quiet(&[audit]);
    assert_eq!(state(), before);
}

#[test]
fn an_agent_that_cannot_be_pulled_goes_from_the_manifest_until_another_one_is_asked_for() {
    let ns = Namespace::new("pull");
    let audit = Audit::new("pull");
    let source = Source::new().with("pet.yaml", &[impatient()]);
    let sync = directory_sync(&ns.name, "it", &source, json!({}));
    let _controller = controller(&ns, &audit, &[sync]);
    ns.run_pods("pet", 2);
    let (spec_before, pods) = (spec(&ns), names(&ns.list("pods")));
    source.write("target.yaml", &[with_image("agents.example/none:1")]);
    let pod = &with_agent(&ns, 1)[0];
    let waiting = json!({ "waiting": { "reason": "ErrImagePull", "message": "agents.example/none:1: not found" } });
    say(
        &ns,
        pod,
        "initContainerStatuses",
        AGENT,
        json!({ "state": waiting }),
    );

    let message = told(&ns, "AgentInjected", "Reverted");
    let why = "image agents.example/none:1 of init container covergence-agent cannot be pulled";
    assert_eq!(
        message,
        format!(
            "the agent is taken out of Deployment pet again, whose rollout failed with it: {why}; it is tried again when the spec of this ClosureJVMTarget changes"
        )
    );
    assert_eq!(told(&ns, "Ready", "Reverted"), message);
    eventually("the Deployment is as it was, and so are its pods", || {
        (spec(&ns) == spec_before && names(&ns.list("pods")) == pods).then_some(())
    });
    nothing_goes_on(&ns, &audit);
    let status = ns.status("pet");
    assert_eq!(status["phase"], "Failed");
    assert_eq!(status["instrumentedReplicas"], 0);
    assert_eq!(told(&ns, "AgentInjected", "Reverted"), message);
    assert_eq!(kinds_of_looks(&audit), ["list pods"]);
    let events = ns.list("events");
    assert!(
        events
            .iter()
            .any(|event| event["reason"] == "Reverted" && event["message"] == message)
    );

    source.write("target.yaml", &[with_image("agents.example/good:2")]);
    eventually("another image is tried", || {
        let init = &spec(&ns)["template"]["spec"]["initContainers"][0];
        (init["image"] == "agents.example/good:2").then_some(())
    });
}

#[test]
fn an_agent_whose_pods_are_refused_goes_from_a_deployment_that_is_not_in_the_source() {
    let ns = Namespace::new("refused");
    let audit = Audit::new("refused");
    ns.create("deployments", &deployment("pet"));
    ns.run_pods("pet", 2);
    let (spec_before, pods) = (spec(&ns), names(&ns.list("pods")));
    // More than the init container asks for.
    let range = json!({
        "metadata": { "name": "large" },
        "spec": { "limits": [{ "type": "Container", "min": { "cpu": "200m" } }] },
    });
    api().create(
        &format!("/api/v1/namespaces/{}/limitranges", ns.name),
        &range,
    );
    let _controller = controller(&ns, &audit, &[]);
    ns.create("closurejvmtargets", &reverting());

    let message = told(&ns, "AgentInjected", "Reverted");
    assert!(
        message.contains("pods \"pet-*\" is forbidden: "),
        "{message}"
    );
    assert!(
        message.contains("minimum cpu usage per Container is 200m, but request is 100m"),
        "{message}"
    );
    eventually("the Deployment is as it was, and so are its pods", || {
        (spec(&ns) == spec_before && names(&ns.list("pods")) == pods).then_some(())
    });
    nothing_goes_on(&ns, &audit);
    assert_eq!(spec(&ns), spec_before);
    // The Deployment itself says it.
    assert_eq!(looks_at_pods(&audit), [""; 0]);
}

#[test]
fn a_failure_that_does_not_point_to_the_agent_is_told_and_never_reverted() {
    let ns = Namespace::new("crash");
    let audit = Audit::new("crash");
    ns.create("deployments", &impatient());
    ns.run_pods("pet", 2);
    let _controller = controller(&ns, &audit, &[]);
    ns.create("closurejvmtargets", &reverting());
    let pod = &with_agent(&ns, 1)[0];
    let done = json!({ "terminated": { "exitCode": 0 } });
    say(
        &ns,
        pod,
        "initContainerStatuses",
        AGENT,
        json!({ "state": done }),
    );
    let crash = json!({
        "state": { "waiting": { "reason": "CrashLoopBackOff" } },
        "lastState": { "terminated": { "exitCode": 134, "reason": "Error", "message": "token=s3cr3t" } },
    });
    say(&ns, pod, "containerStatuses", "app", crash);
    let with_agent = spec(&ns);

    let message = told(&ns, "Ready", "RolloutFailed");
    let hash = &pod["metadata"]["labels"]["pod-template-hash"];
    assert_eq!(
        message,
        format!(
            "the rollout of Deployment pet has failed: container app ends with exit code 134; see kubectl -n {} logs -l pod-template-hash={} -c app --previous",
            ns.name,
            hash.as_str().unwrap()
        )
    );
    nothing_goes_on(&ns, &audit);
    assert_eq!(ns.status("pet")["phase"], "Failed");
    assert_eq!(ns.condition("pet", "AgentInjected")["status"], "True");
    assert_eq!(spec(&ns), with_agent);
    // No node is there that would have the log; it was asked for all the same.
    assert_eq!(kinds_of_looks(&audit), ["get pods/log", "list pods"]);
}

#[test]
fn which_agent_the_pods_have_is_asked_once_when_the_rollout_is_through() {
    let ns = Namespace::new("version");
    let audit = Audit::new("version");
    let source = Source::new().with("pet.yaml", &[deployment("pet"), target("pet")]);
    let sync = directory_sync(&ns.name, "it", &source, json!({}));
    let _controller = controller(&ns, &audit, &[sync]);
    let digest = format!("sha256:{}", "0f".repeat(32));
    let installed = json!({ "agent": "JaCoCo", "version": "0.8.6.202009150832", "digest": digest });
    for pod in with_agent(&ns, 2) {
        let ended = json!({ "terminated": { "exitCode": 0, "message": installed.to_string() } });
        say(
            &ns,
            &pod,
            "initContainerStatuses",
            AGENT,
            json!({ "state": ended }),
        );
    }
    ns.run_pods("pet", 2);
    let image = spec(&ns)["template"]["spec"]["initContainers"][0]["image"].clone();
    let agent = json!({ "image": image, "version": installed["version"], "digest": digest });
    eventually("the agent is told", || {
        let status = ns.status("pet");
        (status["agent"] == agent && status["phase"] == "Instrumented").then_some(())
    });
    // Whatever else is looked at for: pods are not asked again.
    ns.edit(
        "closurejvmtargets",
        "pet",
        &json!({ "metadata": { "labels": { "seen": "again" } } }),
    );
    ns.edit(
        "deployments",
        "pet",
        &json!({ "metadata": { "labels": { "seen": "again" } } }),
    );
    nothing_goes_on(&ns, &audit);
    assert_eq!(looks_at_pods(&audit), ["list pods"]);
    assert_eq!(ns.status("pet")["agent"], agent);
}
