use serde_json::{Value, json};

use super::*;
use crate::api::ObjectId;
use crate::api::names::AGENT_RECORD;
use crate::render::{PodShape, Target};

const AGENT_OPTION: &str = "-javaagent:/covergence-agent/jacocoagent.jar=output=tcpserver,address=*,port=6300,dumponexit=true";

fn target(coverage: Value) -> Target {
    let mut all = json!({ "enabled": true });
    let fields = coverage.as_object().unwrap().clone();
    all.as_object_mut().unwrap().extend(fields);
    let object = json!({
        "metadata": { "name": "pet", "namespace": "shop", "uid": "target-uid" },
        "spec": { "deploymentRef": { "name": "pet" }, "agents": { "coverage": all } },
    });
    Target::from_json(&object).unwrap()
}

/// A Deployment whose container has these variables, and these owners.
fn deployment(env: Value, managed: Value) -> Value {
    json!({
        "metadata": {
            "name": "pet", "namespace": "shop", "uid": "u", "resourceVersion": "7", "managedFields": managed,
        },
        "spec": { "template": { "metadata": { "labels": { "app": "pet" } }, "spec": {
            "containers": [{ "name": "app", "image": "shop/pet:1", "env": env }],
        } } },
    })
}

fn options(value: &str) -> Value {
    json!([{ "name": "A", "value": "1" }, { "name": "JAVA_TOOL_OPTIONS", "value": value }])
}

/// Who owns the value of the options.
fn owned(manager: &str, operation: &str) -> Value {
    let variable = json!({ ".": {}, "f:name": {}, "f:value": {} });
    json!([{ "manager": manager, "operation": operation, "apiVersion": "apps/v1", "fieldsV1": { "f:spec": { "f:template": { "f:spec": {
        "f:containers": { "k:{\"name\":\"app\"}": { ".": {}, "f:name": {}, "f:env": { "k:{\"name\":\"JAVA_TOOL_OPTIONS\"}": variable } } },
    } } } } }])
}

fn judge(wish: &AgentWish, object: &Value) -> AgentVerdict {
    let live = Live::from_object(object).unwrap();
    judge_agent(wish, &id(), &live, &PodShape::read(object))
}

fn id() -> ObjectId {
    target(json!({})).deployment_id()
}

fn carry(coverage: Value) -> AgentWish {
    AgentWish::Carry {
        target: Box::new(target(coverage)),
        images: AgentImages::default(),
    }
}

fn give_up() -> AgentWish {
    AgentWish::GiveUp {
        target: "pet".into(),
        why: "it is over",
    }
}

/// What is applied to a Deployment.
fn put(coverage: Value, object: &Value) -> Value {
    match judge(&carry(coverage), object) {
        AgentVerdict::Put { object, .. } => object,
        other => panic!("{other:?}"),
    }
}

fn refusal(verdict: &AgentVerdict) -> Option<&'static str> {
    match verdict {
        AgentVerdict::Refuse { no, .. } => Some(no.reason()),
        _ => None,
    }
}

fn record_in(object: &Value) -> Value {
    let text = object["metadata"]["annotations"][AGENT_RECORD].as_str();
    serde_json::from_str(text.unwrap()).unwrap()
}

/// The Deployment with the agent in it, as the server has it after the apply.
fn carrying(before: &Value) -> Value {
    let applied = put(json!({}), before);
    let mut object = before.clone();
    let mut all = before["metadata"]["managedFields"]
        .as_array()
        .unwrap()
        .clone();
    all.push(json!({ "manager": "covergence-agent", "operation": "Apply", "apiVersion": "apps/v1", "fieldsV1": fields(&applied) }));
    object["metadata"]["managedFields"] = all.into();
    for map in ["labels", "annotations"] {
        object["metadata"][map] = applied["metadata"][map].clone();
    }
    let (pod, from) = (
        &mut object["spec"]["template"],
        &applied["spec"]["template"],
    );
    pod["metadata"]["labels"]["closurejvm.io/coverage-port"] = json!("6300");
    for list in ["initContainers", "volumes"] {
        pod["spec"][list] = from["spec"][list].clone();
    }
    let (container, from) = (
        &mut pod["spec"]["containers"][0],
        &from["spec"]["containers"][0],
    );
    for list in ["ports", "volumeMounts"] {
        container[list] = from[list].clone();
    }
    let env = container["env"].as_array_mut().unwrap();
    env.retain(|it| it["name"] != "JAVA_TOOL_OPTIONS");
    env.push(from["env"][0].clone());
    object
}

/// Fields as the server notes them, as far as these objects need it.
fn fields(value: &Value) -> Value {
    match value {
        Value::Object(map) => {
            let identity = ["apiVersion", "kind"];
            let steps = map
                .iter()
                .filter(|(key, _)| !identity.contains(&key.as_str()));
            steps
                .map(|(key, value)| (format!("f:{key}"), fields(value)))
                .collect()
        }
        Value::Array(items) if items.iter().all(Value::is_object) => items
            .iter()
            .map(|item| {
                let keys = match item.get("containerPort") {
                    Some(port) => json!({ "containerPort": port, "protocol": "TCP" }),
                    None => match item.get("mountPath") {
                        Some(path) => json!({ "mountPath": path }),
                        None => json!({ "name": item["name"] }),
                    },
                };
                (format!("k:{keys}"), fields(item))
            })
            .collect(),
        _ => json!({}),
    }
}

#[test]
fn what_is_replaced_is_noted_with_its_owner() {
    let by_hand = owned("kubectl-edit", "Update");
    for (env, noted, from) in [
        (options("-Xmx1g"), json!("-Xmx1g"), json!("kubectl-edit")),
        (
            options(" -Xmx1g  -ea "),
            json!(" -Xmx1g  -ea "),
            json!("kubectl-edit"),
        ),
        (options(""), json!(""), json!("kubectl-edit")),
        (
            json!([{ "name": "A", "value": "1" }]),
            Value::Null,
            Value::Null,
        ),
        // Our own option from before is nothing to come back to.
        (options(AGENT_OPTION), Value::Null, Value::Null),
        (
            options(&format!("{AGENT_OPTION} -ea")),
            json!("-ea"),
            json!("kubectl-edit"),
        ),
    ] {
        let applied = put(json!({}), &deployment(env.clone(), by_hand.clone()));
        let record = record_in(&applied);
        assert_eq!(record["javaToolOptions"], noted, "{env}");
        assert_eq!(record["takenFrom"], from, "{env}");
        assert_eq!(
            record["target"],
            json!({ "name": "pet", "uid": "target-uid" })
        );
    }
}

#[test]
fn a_deployment_that_carries_it_is_left_as_it_is() {
    let object = carrying(&deployment(
        options("-Xmx1g"),
        owned("kubectl-edit", "Update"),
    ));
    let verdict = judge(&carry(json!({})), &object);
    assert_eq!(
        verdict,
        AgentVerdict::Nothing("it carries the agent".into())
    );
    // What the Target asks for has changed, and nobody has changed the Deployment.
    match judge(&carry(json!({ "includes": ["shop.*"] })), &object) {
        AgentVerdict::Put { drift, object, .. } => {
            assert!(!drift);
            assert_eq!(record_in(&object)["javaToolOptions"], "-Xmx1g");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_field_that_somebody_applies_is_in_conflict() {
    for manager in ["argocd-controller", "covergence"] {
        let object = deployment(options("-Xmx1g"), owned(manager, "Apply"));
        match judge(&carry(json!({})), &object) {
            AgentVerdict::Refuse { no, conflicts } => {
                assert_eq!(no.reason(), "Conflict");
                let message = no.to_string();
                let field = ".spec.template.spec.containers[name=\"app\"].env[name=\"JAVA_TOOL_OPTIONS\"].value";
                let told: Vec<_> = conflicts.iter().map(|c| (&*c.manager, &*c.field)).collect();
                assert_eq!(told, [(manager, field)]);
                assert!(message.contains(field), "{message}");
            }
            other => panic!("{other:?}"),
        }
    }
    // Who applies the container and not its options is in nobody's way.
    let mut managed = owned("argocd-controller", "Apply");
    let container = managed[0]
        .pointer_mut("/fieldsV1/f:spec/f:template/f:spec/f:containers/k:{\"name\":\"app\"}");
    container.unwrap()["f:env"] =
        json!({ "k:{\"name\":\"A\"}": { ".": {}, "f:name": {}, "f:value": {} } });
    put(json!({}), &deployment(options("-Xmx1g"), managed));
}

#[test]
fn a_change_by_hand_is_drift_and_what_it_says_is_kept() {
    let mut object = carrying(&deployment(options("-Xmx1g"), json!([])));
    object["spec"]["template"]["spec"]["containers"][0]["env"] = options("-Xmx2g");
    let ours = object.pointer_mut("/metadata/managedFields/0/fieldsV1/f:spec/f:template/f:spec/f:containers/k:{\"name\":\"app\"}/f:env/k:{\"name\":\"JAVA_TOOL_OPTIONS\"}");
    ours.unwrap().as_object_mut().unwrap().remove("f:value");
    object["metadata"]["managedFields"]
        .as_array_mut()
        .unwrap()
        .extend(owned("kubectl-edit", "Update").as_array().unwrap().clone());
    match judge(&carry(json!({})), &object) {
        AgentVerdict::Put {
            drift,
            object,
            reason,
        } => {
            assert!(drift);
            assert!(
                reason.ends_with(".value was changed by kubectl-edit"),
                "{reason}"
            );
            assert_eq!(record_in(&object)["javaToolOptions"], "-Xmx2g");
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn one_deployment_carries_the_agent_of_one_target() {
    let mut object = carrying(&deployment(options(""), json!([])));
    let text = object["metadata"]["annotations"][AGENT_RECORD]
        .as_str()
        .unwrap();
    object["metadata"]["annotations"][AGENT_RECORD] = text.replace("\"pet\"", "\"dog\"").into();
    let verdict = judge(&carry(json!({})), &object);
    assert_eq!(refusal(&verdict), Some("DeploymentTaken"), "{verdict:?}");
    assert_eq!(
        judge(&give_up(), &object),
        AgentVerdict::Nothing("it carries no agent".into())
    );
}

#[test]
fn what_a_controller_makes_is_left_to_it() {
    let mut object = deployment(options(""), json!([]));
    let owner = json!({ "apiVersion": "x.io/v1", "kind": "App", "name": "shop", "uid": "o", "controller": true });
    object["metadata"]["ownerReferences"] = json!([owner]);
    let verdict = judge(&carry(json!({})), &object);
    assert_eq!(refusal(&verdict), Some("Controlled"), "{verdict:?}");
}

#[test]
fn an_image_must_be_allowed() {
    let object = deployment(options(""), json!([]));
    let judge_with = |allowed: &[&str]| {
        let images = AgentImages {
            allowed: allowed.iter().map(|it| (*it).to_owned()).collect(),
            ..AgentImages::default()
        };
        let target = Box::new(target(json!({ "image": "evil.example/agent:1" })));
        judge(&AgentWish::Carry { target, images }, &object)
    };
    for allowed in [&[][..], &["shop.example/*"]] {
        let verdict = judge_with(allowed);
        assert_eq!(refusal(&verdict), Some("ImageNotAllowed"), "{verdict:?}");
    }
    assert!(matches!(
        judge_with(&["evil.example/*"]),
        AgentVerdict::Put { .. }
    ));
}

/// What the removal does, without its tests and our own marks.
fn removal(object: &Value) -> (Vec<Value>, String) {
    let live = Live::from_object(object).unwrap();
    let record = AgentRecord::of(&live).unwrap();
    let TakeOut {
        operations,
        manager,
    } = take_out(object, &live, &record);
    assert_eq!(
        operations[0],
        json!({ "op": "test", "path": "/metadata/uid", "value": "u" })
    );
    assert_eq!(operations[1]["value"], "7");
    let path = |it: &Value| it["path"].as_str().unwrap().to_owned();
    let rest = operations
        .into_iter()
        .skip(2)
        .filter(|it| path(it).starts_with("/spec"));
    (rest.collect(), manager)
}

#[test]
fn the_removal_puts_back_what_was_there() {
    let env = "/spec/template/spec/containers/0/env";
    let remove = |path: &str| json!({ "op": "remove", "path": path });
    let by_hand = owned("kubectl-edit", "Update");
    for (before, last, manager) in [
        (
            options("-Xmx1g"),
            json!({ "op": "replace", "path": format!("{env}/1/value"), "value": "-Xmx1g" }),
            "kubectl-edit",
        ),
        (
            options(""),
            remove(&format!("{env}/1/value")),
            "covergence-agent",
        ),
        (
            json!([{ "name": "A" }]),
            remove(&format!("{env}/1")),
            "covergence-agent",
        ),
        (json!([]), remove(env), "covergence-agent"),
    ] {
        let (operations, sender) = removal(&carrying(&deployment(before.clone(), by_hand.clone())));
        let pod = "/spec/template/spec";
        let expected = [
            remove(&format!("{pod}/initContainers")),
            remove(&format!("{pod}/volumes")),
            remove("/spec/template/metadata/labels/closurejvm.io~1coverage-port"),
            remove(&format!("{pod}/containers/0/volumeMounts")),
            remove(&format!("{pod}/containers/0/ports")),
            last,
        ];
        assert_eq!(operations, expected, "{before}");
        assert_eq!(sender, manager, "{before}");
    }
}

#[test]
fn the_removal_keeps_what_others_have_written_since() {
    let mut object = carrying(&deployment(
        options("-Xmx1g"),
        owned("kubectl-edit", "Update"),
    ));
    let pod = &mut object["spec"]["template"]["spec"];
    pod["volumes"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({ "name": "data" }));
    let mut written = |value: &str| {
        object["spec"]["template"]["spec"]["containers"][0]["env"][1]["value"] = value.into();
        removal(&object).0
    };
    // Without the agent that goes, a JVM with this option would not start.
    let operations = written(&format!("-ea {AGENT_OPTION} -Xmx2g"));
    assert_eq!(operations.last().unwrap()["value"], "-ea -Xmx2g");
    assert_eq!(operations[1]["path"], "/spec/template/spec/volumes/1");
    // This is theirs.
    let operations = written("-Xmx2g");
    let about_env = |it: &Value| it["path"].as_str().unwrap().contains("/env");
    assert!(!operations.iter().any(about_env), "{operations:?}");
}

#[test]
fn what_an_applier_has_in_its_manifest_is_only_given_up() {
    let mut object = carrying(&deployment(options("-Xmx1g"), json!([])));
    let ours = object["metadata"]["managedFields"][0].clone();
    object["metadata"]["managedFields"] = json!([{ "manager": "covergence", "operation": "Apply", "fieldsV1": ours["fieldsV1"] }, ours]);
    let live = Live::from_object(&object).unwrap();
    let TakeOut {
        operations,
        manager,
    } = take_out(&object, &live, &AgentRecord::of(&live).unwrap());
    let paths: Vec<&str> = operations
        .iter()
        .skip(2)
        .map(|it| it["path"].as_str().unwrap())
        .collect();
    let expected = [
        "/metadata/labels/closurejvm.io~1agent",
        "/metadata/annotations/closurejvm.io~1agent",
        "/metadata/managedFields/1",
    ];
    assert_eq!(paths, expected);
    assert_eq!(manager, "covergence-agent");
}

#[test]
fn a_port_that_was_declared_before_stays() {
    let mut before = deployment(options(""), json!([]));
    before["spec"]["template"]["spec"]["containers"][0]["ports"] =
        json!([{ "containerPort": 6300, "protocol": "TCP" }]);
    let object = carrying(&before);
    assert_eq!(record_in(&object)["portWasThere"], true);
    let (operations, _) = removal(&object);
    let about_ports = |it: &Value| it["path"].as_str().unwrap().contains("/ports");
    assert!(!operations.iter().any(about_ports), "{operations:?}");
}
