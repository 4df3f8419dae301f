//! Deployments that come with their Targets carry the agent from the first apply on, and lose it without a trace.

use std::fs;

use covergence::render::{AgentImage, PodShape, Target, agent_patch};
use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::audit::Audit;
use crate::support::controller::{Setup, directory_sync};
use crate::support::covergence::Run;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, deployment, injecting};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

const JAR: &str = "-javaagent:/covergence-agent/jacocoagent.jar=";

/// A Deployment with something in each list that the agent is added to.
fn shop() -> Value {
    let container = json!({
        "name": "app",
        "image": "shop/pet:1",
        "env": [
            { "name": "BASE", "value": "-Xmx64m" },
            { "name": "JAVA_TOOL_OPTIONS", "value": "$(BASE) -Dname='a b'" },
        ],
        "ports": [{ "name": "http", "containerPort": 8080 }],
        "volumeMounts": [{ "name": "data", "mountPath": "/data" }],
    });
    deployment("pet")
        .set("/spec/template/spec/containers", json!([container]))
        .set(
            "/spec/template/spec/initContainers",
            json!([{ "name": "first", "image": "shop/first:1" }]),
        )
        .set(
            "/spec/template/spec/volumes",
            json!([{ "name": "data", "emptyDir": {} }]),
        )
}

/// What a Deployment is, without who wrote it when.
fn essence(ns: &Namespace) -> Value {
    let live = ns.get("deployments", "pet");
    let metadata = &live["metadata"];
    // The controller counts revisions there.
    let annotations = metadata["annotations"].clone();
    let annotations = annotations.unset("/deployment.kubernetes.io~1revision");
    json!({
        "spec": live["spec"], "labels": metadata["labels"], "annotations": annotations,
        "uid": metadata["uid"],
    })
}

fn generation(ns: &Namespace) -> i64 {
    let live = ns.get("deployments", "pet");
    live["metadata"]["generation"].as_i64().unwrap()
}

/// Waits until the Deployment controller has seen the present spec.
fn seen(ns: &Namespace) {
    eventually("the Deployment controller has seen it", || {
        let live = ns.get("deployments", "pet");
        let is_seen = live["status"]["observedGeneration"] == live["metadata"]["generation"];
        is_seen.then_some(())
    });
}

/// The options of the JVM, as the cluster has them.
fn options(ns: &Namespace) -> Vec<String> {
    let live = ns.get("deployments", "pet");
    let env = live.pointer("/spec/template/spec/containers/0/env");
    let entries = env.and_then(Value::as_array).into_iter().flatten();
    let entries = entries.filter(|entry| entry["name"] == "JAVA_TOOL_OPTIONS");
    let value = |entry: &Value| entry["value"].as_str().unwrap_or_default().to_owned();
    entries.map(value).collect()
}

/// Names of the sets of pods, and how many each is to have.
fn replica_sets(ns: &Namespace) -> Vec<(String, u64)> {
    let sets = ns.list("replicasets");
    let mut sets: Vec<_> = sets
        .iter()
        .map(|set| {
            let name = set["metadata"]["name"].as_str().unwrap().to_owned();
            (name, set["spec"]["replicas"].as_u64().unwrap())
        })
        .collect();
    sets.sort();
    sets
}

/// A source with the shop, applied and seen.
fn applied(prefix: &str) -> (Namespace, Source) {
    let ns = Namespace::new(prefix);
    let source = Source::new().with("shop.yaml", &[shop()]);
    ns.sync(&source).ok();
    seen(&ns);
    (ns, source)
}

#[test]
fn a_commit_brings_the_agent_and_the_next_one_takes_it_away_without_a_trace() {
    let (ns, source) = applied("composed");
    let (before, first) = (essence(&ns), replica_sets(&ns));
    assert_eq!(generation(&ns), 1);

    source.write("target.yaml", &[injecting("pet")]);
    let diff = ns.diff(&source).code(1);
    let step = diff.step("Deployment", "pet");
    assert_eq!(
        step["reason"],
        format!("coverage of Target {}/pet begins", ns.name).as_str()
    );
    let shown = step["diff"].as_str().unwrap();
    assert!(shown.contains(JAR), "{shown}");
    assert!(shown.contains("- name: covergence-agent"), "{shown}");
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
    ns.create("closurejvmtargets", &injecting("pet"));
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

    source.write("target.yaml", &[injecting("pet")]);
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
    source.write("target.yaml", &[injecting("pet")]);
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
    let source = Source::new().with("all.yaml", &[shop(), injecting("pet")]);
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

fn value_of(essence: &Value) -> String {
    let value = essence.pointer("/spec/template/spec/containers/0/env/1/value");
    value.unwrap().as_str().unwrap().to_owned()
}

#[test]
fn c66_a_deployment_that_cannot_carry_it_stays_as_it_is_and_the_status_says_why() {
    let ns = Namespace::new("refused");
    let proxy = json!({ "name": "istio-proxy", "image": "proxyv2" });
    let app = shop().pointer("/spec/template/spec/containers/0").cloned();
    let two = shop().set("/spec/template/spec/containers", json!([proxy, app]));
    let source = Source::new().with("shop.yaml", &[two, injecting("pet")]);
    ns.sync(&source).ok();
    let live = ns.get("deployments", "pet");
    assert!(!live.to_string().contains("covergence-agent\""), "{live}");
    let status = ns.status("pet");
    assert_eq!(
        (&status["phase"], &status["instrumentedReplicas"]),
        (&json!("Failed"), &json!(0))
    );
    for condition in ["Ready", "AgentInjected"] {
        let condition = ns.condition("pet", condition);
        assert_eq!(condition["reason"], "ContainerAmbiguous", "{condition}");
        let message = condition["message"].as_str().unwrap();
        assert!(message.contains("agents.coverage.container"), "{message}");
    }
    let named = injecting("pet").set("/spec/agents/coverage/container", "app");
    source.write("target.yaml", &[named]);
    source.write("shop.yaml", &[live_manifest(&live)]);
    ns.sync(&source).ok();
    assert_eq!(ns.condition("pet", "AgentInjected")["reason"], "Composed");
    let containers = ns.get("deployments", "pet")["spec"]["template"]["spec"]["containers"].clone();
    assert!(
        containers[0].get("env").is_none() && containers[1]["env"].is_array(),
        "{containers}"
    );
}

/// The same as a manifest.
fn live_manifest(live: &Value) -> Value {
    let spec = live["spec"].clone();
    deployment("pet").set("/spec", spec)
}

#[test]
fn without_a_cluster_the_agent_is_shown_and_its_refusal_told_at_the_target() {
    let source = Source::new()
        .with("shop.yaml", &[shop()])
        .with("target.yaml", &[injecting("pet")]);
    let run = |command| Run::new(&[command, "-n", "here"]).arg(source.path());
    let shown = run("render")
        .args(&["--agent-image", "registry.example/agent:1"])
        .ok()
        .stdout;
    assert!(
        shown.contains(JAR) && shown.contains("image: registry.example/agent:1"),
        "{shown}"
    );
    let shown = run("render")
        .env("COVERGENCE_AGENT_IMAGE", "mine:2")
        .ok()
        .stdout;
    assert!(shown.contains("image: mine:2"), "{shown}");
    run("validate").ok();

    source.write(
        "shop.yaml",
        &[shop().set("/spec/template/spec/hostNetwork", true)],
    );
    assert!(!run("render").ok().stdout.contains(JAR));
    let told = run("validate").ok();
    let all = format!("{}{}", told.stdout, told.stderr);
    assert!(
        all.contains("target.yaml:2:1") && all.contains("hostNetwork"),
        "{all}"
    );
}

#[test]
fn a_target_that_a_policy_denies_brings_no_agent_and_the_deployment_goes_on() {
    let (ns, source) = applied("denied");
    let before = essence(&ns);
    source.write("target.yaml", &[injecting("pet")]);
    let changed = shop().set("/spec/template/metadata/labels/tier", "web");
    source.write("shop.yaml", &[changed]);
    let policy = concat!(env!("CARGO_MANIFEST_DIR"), "/policies/agents.yaml");
    let report = ns.sync(&source).args(&["--policy", policy]).code(2);
    assert_eq!(report.outcome("Deployment", "pet"), "configured");
    assert_eq!(options(&ns), [value_of(&before)]);
    let labels = &ns.get("deployments", "pet")["spec"]["template"]["metadata"]["labels"];
    assert_eq!(*labels, json!({ "app": "pet", "tier": "web" }));
    assert!(!ns.exists("closurejvmtargets", "pet"));
    // Where agents are allowed, both come.
    api().edit(
        &path("namespaces", None, Some(&ns.name)),
        &json!({ "metadata": { "labels": { "closurejvm.io/coverage": "allowed" } } }),
    );
    ns.sync(&source).args(&["--policy", policy]).ok();
    assert!(options(&ns)[0].starts_with(JAR));
}

#[test]
fn c64_of_two_targets_for_one_deployment_the_first_by_name_has_it() {
    let ns = Namespace::new("two");
    let other = injecting("pet")
        .set("/metadata/name", "another")
        .set("/spec/agents/coverage/port", 6301);
    let source = Source::new().with("all.yaml", &[shop(), injecting("pet"), other]);
    ns.sync(&source).ok();
    let value = &options(&ns)[0];
    assert!(
        value.contains("port=6301,") && value.matches("-javaagent").count() == 1,
        "{value}"
    );
    assert_eq!(
        ns.condition("another", "AgentInjected")["reason"],
        "Composed"
    );
    let taken = ns.condition("pet", "AgentInjected");
    assert_eq!(taken["reason"], "DeploymentTaken", "{taken}");
    ns.sync(&source).ok().nothing_to_do();
    // The controller, which sees what is live only, says the same.
    let before = (ns.status("pet"), ns.status("another"));
    let controller = Setup::new(&[&ns.name]).start();
    ns.edit(
        "deployments",
        "pet",
        &json!({ "metadata": { "annotations": { "a": "b" } } }),
    );
    ns.edit(
        "closurejvmtargets",
        "pet",
        &json!({ "spec": { "agents": { "coverage": { "includes": ["a.*"] } } } }),
    );
    eventually("the controller has seen the Target", || {
        let live = ns.get("closurejvmtargets", "pet");
        (live["status"]["observedGeneration"] == live["metadata"]["generation"]).then_some(())
    });
    drop(controller);
    let now = (ns.status("pet"), ns.status("another"));
    assert_eq!(before.0["phase"], now.0["phase"]);
    assert_eq!(
        ns.condition("pet", "AgentInjected")["reason"],
        "DeploymentTaken"
    );
    assert_eq!(before.1, now.1);
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
    source.write("shop.yaml", &[with_empty, injecting("pet")]);
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
    let target = Target::from_json(&injecting("pet").within(&ns.name)).unwrap();
    let patch = agent_patch(&target, &PodShape::read(&before), &AgentImage::default()).unwrap();
    let body = patch.to_apply(&target.deployment_id());
    let live = api().apply(&ns.path("deployments", "pet"), "covergence-agent", &body);
    let shape = PodShape::read(&live);
    assert!(patch.is_in(&shape), "{live}");
    assert_eq!(
        agent_patch(&target, &shape, &AgentImage::default()).as_ref(),
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
    source.write("target.yaml", &[injecting("pet")]);
    eventually("the agent is in place", || {
        let target = ns.find("closurejvmtargets", "pet")?;
        let condition = crate::support::namespace::condition_of(&target, "AgentInjected");
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
