//! Deployments that come with their Targets carry the agent from the first apply on, and lose it without a trace.

use std::fs;

use covergence::render::{AgentImage, PodShape, Target, agent_patch};
use serde_json::{Value, json};

use crate::support::audit::Audit;
use crate::support::controller::{Setup, directory_sync};
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, deployment, target};
use crate::support::namespace::{Namespace, condition_of};
use crate::support::shop::{
    JAR, applied, essence, generation, options, replica_sets, seen, shop, value_of,
};
use crate::support::source::Source;

#[test]
fn a_commit_brings_the_agent_and_the_next_one_takes_it_away_without_a_trace() {
    let (ns, source) = applied("composed");
    let (before, first) = (essence(&ns), replica_sets(&ns));
    assert_eq!(generation(&ns), 1);

    source.write("target.yaml", &[target("pet")]);
    let diff = ns.diff(&source).code(1);
    let step = diff.step("Deployment", "pet");
    assert_eq!(
        step["reason"],
        format!("coverage of Target {}/pet begins", ns.name).as_str()
    );
    let shown = step["diff"].as_str().unwrap();
    assert!(shown.contains(JAR), "{shown}");
    assert!(shown.contains("+        - /usr/bin/covergence"), "{shown}");
    ns.sync(&source).ok();
    assert_eq!(generation(&ns), 2, "one change, one rollout");
    assert_eq!(options(&ns).len(), 1);
    let value = &options(&ns)[0];
    assert!(
        value.starts_with(JAR) && value.ends_with(" $(BASE) -Dname='a b'"),
        "{value}"
    );
    assert_eq!(
        ns.get("deployments", "pet")["spec"]["selector"],
        before["spec"]["selector"]
    );
    let selector = &ns.get("services", "pet-coverage")["spec"]["selector"];
    assert_eq!(
        *selector,
        json!({ "app": "pet", "closurejvm.io/coverage-port": "6300" })
    );
    ns.sync(&source).ok().nothing_to_do();
    seen(&ns);

    fs::remove_file(source.path().join("target.yaml")).unwrap();
    let reason = ns
        .diff(&source)
        .arg("--prune")
        .code(1)
        .reason("Deployment", "pet");
    assert_eq!(
        reason,
        "the manifest has changed; coverage ends, and the agent goes"
    );
    ns.sync(&source).arg("--prune").ok();
    assert_eq!(essence(&ns), before);
    assert_eq!(generation(&ns), 3);
    seen(&ns);
    eventually("the pods of before are used again", || {
        let sets = replica_sets(&ns);
        let wanted = |set: &(String, u64)| first.contains(set);
        (sets.len() == 2 && sets.iter().any(wanted)).then_some(())
    });
    ns.sync(&source).ok().nothing_to_do();
}

#[test]
fn only_pods_of_a_template_with_the_agent_count() {
    let (ns, source) = applied("truth");
    ns.roll_out("pet");
    // The Target comes by itself: nothing has the agent yet.
    ns.create("closurejvmtargets", &target("pet"));
    ns.sync(&source).ok();
    let status = ns.status("pet");
    assert_eq!(
        (&status["phase"], &status["instrumentedReplicas"]),
        (&json!("Pending"), &json!(0))
    );
    assert_eq!(status["endpoints"], json!({ "ready": 0, "total": 0 }));
    let condition = ns.condition("pet", "AgentInjected");
    assert_eq!(
        (&condition["status"], &condition["reason"]),
        (&json!("False"), &json!("LeftToController"))
    );
    // Only another program does that, so that it is not waited for.
    ns.sync(&source).args(&["--wait", "--timeout", "60s"]).ok();

    source.write("target.yaml", &[target("pet")]);
    ns.sync(&source).ok();
    let status = ns.status("pet");
    assert_eq!(
        (&status["phase"], &status["instrumentedReplicas"]),
        (&json!("Injecting"), &json!(0))
    );
    let condition = ns.condition("pet", "AgentInjected");
    assert_eq!(
        (&condition["status"], &condition["reason"]),
        (&json!("True"), &json!("Composed"))
    );
    ns.roll_out("pet");
    ns.sync(&source).ok();
    let status = ns.status("pet");
    assert_eq!(
        (&status["phase"], &status["instrumentedReplicas"]),
        (&json!("Instrumented"), &json!(2))
    );
    eventually("the instrumented pods are endpoints", || {
        ns.sync(&source).ok();
        (ns.status("pet")["endpoints"] == json!({ "ready": 2, "total": 2 })).then_some(())
    });
}

#[test]
fn what_others_add_survives_the_agent_and_its_end() {
    let ns = Namespace::new("others");
    // Whoever scales it is to be heard.
    let shop = shop().unset("/spec/replicas");
    let source = Source::new().with("shop.yaml", &[shop]);
    ns.sync(&source).ok();
    let by_hand = json!([{ "op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": { "name": "MINE", "value": "1" } }]);
    api().patch(&ns.path("deployments", "pet"), &by_hand);
    let restart = json!({ "spec": { "template": { "metadata": { "annotations": { "kubectl.kubernetes.io/restartedAt": "now" } } } } });
    ns.edit("deployments", "pet", &restart);
    ns.edit(
        "deployments:scale",
        "pet",
        &json!({ "spec": { "replicas": 3 } }),
    );
    let theirs = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "pet" },
        "spec": { "template": { "spec": { "containers": [{ "name": "proxy", "image": "proxy:1" }] } } },
    });
    api().apply(&ns.path("deployments", "pet"), "mesh", &theirs);
    let before = essence(&ns);

    // The manifest has one container, whatever is beside it in the cluster.
    source.write("target.yaml", &[target("pet")]);
    ns.sync(&source).ok();
    let spec = &ns.get("deployments", "pet")["spec"];
    assert_eq!(spec["replicas"], 3);
    let template = &spec["template"];
    assert_eq!(
        template["metadata"]["annotations"],
        restart["spec"]["template"]["metadata"]["annotations"]
    );
    let containers = template["spec"]["containers"].as_array().unwrap();
    assert!(
        containers.iter().any(|it| it["name"] == "proxy"),
        "{containers:?}"
    );
    let app = containers.iter().find(|it| it["name"] == "app").unwrap();
    let names: Vec<_> = app["env"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(names, ["BASE", "JAVA_TOOL_OPTIONS", "MINE"]);
    assert_eq!(ns.condition("pet", "AgentInjected")["reason"], "Composed");
    ns.sync(&source).ok().nothing_to_do();

    source.write("target.yaml", &[]);
    ns.sync(&source).arg("--prune").ok();
    assert_eq!(essence(&ns), before);
}

#[test]
fn what_is_done_to_the_agent_by_hand_is_drift_of_the_deployment() {
    let ns = Namespace::new("agent-drift");
    let source = Source::new().with("all.yaml", &[shop(), target("pet")]);
    ns.sync(&source).ok();
    let before = essence(&ns);
    let at = "/spec/template/spec/containers/0/env/1/value";
    for (patch, field) in [
        (
            json!([{ "op": "replace", "path": at, "value": "-Xmx1g" }]),
            "JAVA_TOOL_OPTIONS",
        ),
        (
            json!([{ "op": "remove", "path": "/spec/template/metadata/labels/closurejvm.io~1coverage-port" }]),
            "coverage-port",
        ),
        (
            json!([{ "op": "remove", "path": "/spec/template/spec/initContainers/1" }]),
            "covergence-agent",
        ),
    ] {
        api().patch(&ns.path("deployments", "pet"), &patch);
        let reason = ns.diff(&source).code(1).reason("Deployment", "pet");
        assert!(
            reason.starts_with("drift: ") && reason.contains(field),
            "{reason}"
        );
        let whose = format!(
            "; it carries the agent for coverage of Target {}/pet",
            ns.name
        );
        assert!(reason.ends_with(&whose), "{reason}");
        ns.sync(&source).ok();
        assert_eq!(
            essence(&ns)["spec"]["template"]["metadata"],
            before["spec"]["template"]["metadata"]
        );
        assert_eq!(options(&ns), [value_of(&before)]);
        ns.sync(&source).ok().nothing_to_do();
    }
}

/// k8s#128924.
#[test]
fn c22_an_empty_value_of_somebody_else_is_no_conflict() {
    let ns = Namespace::new("c22");
    let plain = deployment("pet");
    let source = Source::new().with("shop.yaml", std::slice::from_ref(&plain));
    ns.sync(&source).ok();
    let empty = json!([{ "op": "add", "path": "/spec/template/spec/containers/0/env", "value": [{ "name": "JAVA_TOOL_OPTIONS", "value": "" }] }]);
    api().patch(&ns.path("deployments", "pet"), &empty);
    let before = essence(&ns);
    let with_empty = plain.set(
        "/spec/template/spec/containers/0/env",
        empty[0]["value"].clone(),
    );
    source.write("shop.yaml", &[with_empty, target("pet")]);
    ns.sync(&source).ok();
    assert_eq!(options(&ns).len(), 1);
    assert_eq!(options(&ns)[0].matches("-javaagent").count(), 1);
    for _ in 0..3 {
        ns.sync(&source).ok().nothing_to_do();
    }
    source.write("shop.yaml", &[source_with_empty()]);
    ns.sync(&source).arg("--prune").ok();
    assert_eq!(essence(&ns)["spec"], before["spec"]);
}

fn source_with_empty() -> Value {
    let env = json!([{ "name": "JAVA_TOOL_OPTIONS", "value": "" }]);
    deployment("pet").set("/spec/template/spec/containers/0/env", env)
}

/// open-telemetry/opentelemetry-operator#1058, #2272, #4894.
#[test]
fn c65_a_second_manager_may_apply_the_patch_and_take_it_back() {
    let ns = Namespace::new("c65");
    ns.create("deployments", &shop());
    let before = ns.get("deployments", "pet");
    let parsed = Target::from_json(&target("pet").within(&ns.name)).unwrap();
    let patch = agent_patch(&parsed, &PodShape::read(&before), &AgentImage::default()).unwrap();
    let body = patch.to_apply(&parsed.deployment_id());
    let live = api().apply(&ns.path("deployments", "pet"), "covergence-agent", &body);
    let shape = PodShape::read(&live);
    assert!(patch.is_in(&shape), "{live}");
    assert_eq!(
        agent_patch(&parsed, &shape, &AgentImage::default()).as_ref(),
        Ok(&patch)
    );
    let init = live
        .pointer("/spec/template/spec/initContainers")
        .unwrap()
        .as_array()
        .unwrap();
    let ours = init
        .iter()
        .find(|it| it["name"] == "covergence-agent")
        .unwrap();
    assert_eq!(
        ours["securityContext"],
        patch.init_container["securityContext"]
    );

    let bare =
        json!({ "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "pet" } });
    let after = api().apply(&ns.path("deployments", "pet"), "covergence-agent", &bare);
    // The value that was taken is for whoever took it to put back.
    let value = "/spec/template/spec/containers/0/env/1/value";
    assert_eq!(after.pointer(value), None);
    let back = before.pointer(value).unwrap().clone();
    assert_eq!(after.set(value, back)["spec"], before["spec"]);
}

#[test]
fn a_controller_composes_as_a_sync_does_and_then_rests() {
    let ns = Namespace::new("controller-agent");
    let source = Source::new().with("shop.yaml", &[shop()]);
    let sync = directory_sync(&ns.name, "it", &source, json!({ "prune": true }));
    let audit = Audit::new("controller-agent");
    let _controller = Setup {
        syncs: &[sync],
        user: Some(&audit.user),
        config: json!({ "agentImage": "registry.example/agent:7", "agentImagePullPolicy": "Always" }),
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    seen(&ns);
    let before = essence(&ns);
    source.write("target.yaml", &[target("pet")]);
    eventually("the agent is in place", || {
        let target = ns.find("closurejvmtargets", "pet")?;
        let condition = condition_of(&target, "AgentInjected");
        (condition["reason"] == "Composed").then_some(())
    });
    assert_eq!(generation(&ns), 2);
    let init =
        ns.get("deployments", "pet")["spec"]["template"]["spec"]["initContainers"][1].clone();
    assert_eq!(
        (&init["image"], &init["imagePullPolicy"]),
        (&json!("registry.example/agent:7"), &json!("Always"))
    );
    ns.roll_out("pet");
    eventually("it is instrumented", || {
        let status = ns.status("pet");
        let ready = ns.condition("pet", "Ready")["status"] == "True";
        (status["instrumentedReplicas"] == 2 && ready).then_some(())
    });
    ns.ask_for_a_run("it", "one");
    let quiet = audit.writes().len();
    let version = ns.get("deployments", "pet")["metadata"]["resourceVersion"].clone();
    ns.ask_for_a_run("it", "two");
    let more: Vec<_> = audit.writes().split_off(quiet);
    let others: Vec<_> = more
        .iter()
        .filter(|event| event.resource != "syncs" && event.resource != "leases")
        .collect();
    assert!(others.is_empty(), "{others:#?}");
    assert_eq!(
        ns.get("deployments", "pet")["metadata"]["resourceVersion"],
        version
    );

    source.write("target.yaml", &[]);
    eventually("the agent is gone", || {
        (essence(&ns) == before).then_some(())
    });
}
