//! What is added to a pod template, and what is not.

mod options;
mod pods;

use serde_json::{Value, json};

use super::*;
use crate::render::Target;

fn target(coverage: Value) -> Target {
    let mut coverage = coverage;
    coverage["enabled"] = json!(true);
    Target::from_json(&json!({
        "metadata": { "name": "pet", "namespace": "shop" },
        "spec": { "deploymentRef": { "name": "pet" }, "agents": { "coverage": coverage } },
    }))
    .unwrap()
}

fn deployment(pod: Value) -> Value {
    json!({
        "metadata": { "name": "pet", "namespace": "shop" },
        "spec": {
            "selector": { "matchLabels": { "app": "pet" } },
            "template": { "metadata": { "labels": { "app": "pet" } }, "spec": pod },
        },
    })
}

fn judge(coverage: Value, pod: Value) -> Result<AgentPatch, NotInjected> {
    let shape = PodShape::read(&deployment(pod));
    agent_patch(&target(coverage), &shape, &AgentImage::default())
}

/// A pod of one container, with these fields beside its name.
fn app(fields: Value) -> Value {
    let mut container = json!({ "name": "app", "image": "pet:1" });
    let fields = fields.as_object().unwrap().clone();
    container.as_object_mut().unwrap().extend(fields);
    json!({ "containers": [container] })
}

fn env(value: &str) -> Value {
    app(json!({ "env": [{ "name": "JAVA_TOOL_OPTIONS", "value": value }] }))
}

/// The options of the JVM after a patch of a container that has these, without ours.
fn rest(patch: &AgentPatch) -> &str {
    let rest = patch.java_tool_options.strip_prefix(&patch.option).unwrap();
    rest.strip_prefix(' ').unwrap_or(rest)
}

/// Composes again and again, and insists that nothing changes any more.
fn composed(coverage: &Value, pod: Value) -> Value {
    let mut object = deployment(pod);
    let mut first = None;
    for _ in 0..5 {
        let (target, shape) = (target(coverage.clone()), PodShape::read(&object));
        let patch = agent_patch(&target, &shape, &AgentImage::default()).unwrap();
        patch.compose(&mut object);
        assert!(patch.is_in(&PodShape::read(&object)));
        assert_eq!(first.get_or_insert_with(|| object.clone()), &object);
    }
    object["spec"]["template"].take()
}

fn reason(coverage: Value, pod: Value) -> (&'static str, String) {
    let no = judge(coverage, pod.clone()).expect_err(&pod.to_string());
    (no.reason(), no.to_string())
}

#[test]
fn a_plain_deployment_gets_all_of_it_and_no_more() {
    let mut object = deployment(json!({ "containers": [{ "name": "app", "image": "pet:1" }] }));
    let patch = judge(json!({}), object["spec"]["template"]["spec"].clone()).unwrap();
    assert!(!patch.is_in(&PodShape::read(&object)));
    patch.compose(&mut object);
    let same = json!({ "cpu": "100m", "memory": "64Mi", "ephemeral-storage": "32Mi" });
    let option = "-javaagent:/covergence-agent/jacocoagent.jar=output=tcpserver,address=*,port=6300,dumponexit=true";
    assert_eq!(
        object["spec"],
        json!({
            "selector": { "matchLabels": { "app": "pet" } },
            "template": {
                "metadata": { "labels": { "app": "pet", "closurejvm.io/coverage-port": "6300" } },
                "spec": {
                    "initContainers": [{
                        "name": "covergence-agent",
                        "image": concat!("covergence:", env!("CARGO_PKG_VERSION")),
                        "command": ["/usr/bin/covergence", "agent", "install", "/covergence-agent"],
                        "resources": { "requests": same, "limits": same },
                        "securityContext": {
                            "allowPrivilegeEscalation": false,
                            "capabilities": { "drop": ["ALL"] },
                            "readOnlyRootFilesystem": true,
                            "runAsNonRoot": true,
                            "seccompProfile": { "type": "RuntimeDefault" },
                        },
                        "terminationMessagePolicy": "FallbackToLogsOnError",
                        "volumeMounts": [{ "name": "covergence-agent", "mountPath": "/covergence-agent" }],
                    }],
                    "containers": [{
                        "name": "app",
                        "image": "pet:1",
                        "env": [{ "name": "JAVA_TOOL_OPTIONS", "value": option }],
                        "ports": [{ "containerPort": 6300, "name": "jacoco", "protocol": "TCP" }],
                        "volumeMounts": [{
                            "name": "covergence-agent",
                            "mountPath": "/covergence-agent",
                            "readOnly": true,
                        }],
                    }],
                    "volumes": [{ "name": "covergence-agent", "emptyDir": { "sizeLimit": "16Mi" } }],
                },
            },
        })
    );
    let shape = PodShape::read(&object);
    assert!(patch.is_in(&shape));
    assert_eq!(
        agent_patch(&target(json!({})), &shape, &AgentImage::default()),
        Ok(patch)
    );
}
