//! The kinds by themselves. That they do as the API server does is shown by `tests/it/sandbox_kinds.rs`.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::*;
use crate::store::Key;
use crate::types;

fn state() -> State {
    State {
        kinds: types::built_in(),
        ..State::default()
    }
}

/// Reads an object, adds defaults, and prepares it as a new one.
fn make(state: &mut State, mut object: Value) -> Result<Value, ApiError> {
    let (version, name) = (
        object["apiVersion"].as_str().unwrap(),
        object["kind"].as_str().unwrap(),
    );
    let kind = state.kinds.of(version, name).unwrap().clone();
    types::read(&kind, &mut object).unwrap();
    default(&kind, &mut object);
    prepare_create(state, &kind, &mut object)?;
    let causes = validate_create(&kind, &object);
    if causes.is_empty() {
        return Ok(object);
    }
    let name = object["metadata"]["name"].as_str().unwrap_or_default();
    Err(ApiError::invalid(&kind.group, &kind.kind, name, causes))
}

/// Makes an object and keeps it.
fn keep(state: &mut State, object: Value) -> Value {
    let object = make(state, object).unwrap();
    let kind = state.kinds.of(
        object["apiVersion"].as_str().unwrap(),
        object["kind"].as_str().unwrap(),
    );
    let key = Key {
        resource: kind.unwrap().resource().into(),
        namespace: object["metadata"]["namespace"]
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        name: object["metadata"]["name"].as_str().unwrap().to_owned(),
    };
    (*state.store.put(key, object)).clone()
}

/// What is wrong with a change of an object, one line for each.
fn changed(old: &Value, change: &[(&str, Value)]) -> Vec<String> {
    let kinds = types::built_in();
    let kind = kinds
        .of(
            old["apiVersion"].as_str().unwrap(),
            old["kind"].as_str().unwrap(),
        )
        .unwrap();
    let mut new = old.clone();
    for (path, value) in change {
        *new.pointer_mut(path).unwrap() = value.clone();
    }
    types::read(kind, &mut new).unwrap();
    default(kind, &mut new);
    prepare_update(kind, &mut new, old);
    let causes = validate_update(kind, &new, old);
    causes
        .iter()
        .map(|cause| format!("{}: {}", cause.field, cause.message))
        .collect()
}

fn service(name: &str, spec: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "Service", "metadata": { "name": name, "namespace": "shop" }, "spec": spec })
}

fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "web", "namespace": "shop" },
        "spec": {
            "selector": { "matchLabels": { "app": "web" } },
            "template": {
                "metadata": { "labels": { "app": "web" } },
                "spec": { "containers": [{ "name": "web", "image": "web", "ports": [{ "containerPort": 80 }] }] },
            },
        },
    })
}

#[test]
fn a_deployment_gets_its_defaults() {
    let made = make(&mut state(), deployment()).unwrap();
    assert_eq!(made["spec"]["replicas"], 1);
    assert_eq!(
        made["spec"]["strategy"],
        json!({ "type": "RollingUpdate", "rollingUpdate": { "maxSurge": "25%", "maxUnavailable": "25%" } })
    );
    assert_eq!(
        made["spec"]["template"]["spec"]["containers"][0],
        json!({
            "name": "web", "image": "web", "imagePullPolicy": "Always", "resources": {},
            "ports": [{ "containerPort": 80, "protocol": "TCP" }],
            "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
        })
    );
    assert_eq!(made["status"], json!({}));
}

#[test]
fn defaults_are_the_same_when_they_are_added_again() {
    for object in [
        deployment(),
        service(
            "a",
            json!({ "type": "LoadBalancer", "ports": [{ "port": 80 }] }),
        ),
    ] {
        let made = make(&mut state(), object).unwrap();
        let kinds = types::built_in();
        let kind = kinds
            .of(
                made["apiVersion"].as_str().unwrap(),
                made["kind"].as_str().unwrap(),
            )
            .unwrap();
        let mut again = made.clone();
        default(kind, &mut again);
        assert_eq!(again, made);
    }
}

#[test]
fn services_share_neither_addresses_nor_ports() {
    let mut state = state();
    let mut addresses = BTreeSet::new();
    let mut ports = BTreeSet::new();
    for number in 0..200 {
        let spec = json!({ "type": "NodePort", "ports": [{ "port": 80 }] });
        let made = keep(&mut state, service(&format!("s{number}"), spec));
        let address = made["spec"]["clusterIP"].as_str().unwrap();
        assert!(address.starts_with("10.96."), "{address}");
        assert_eq!(made["spec"]["clusterIPs"], json!([address]));
        assert!(addresses.insert(address.to_owned()));
        let port = made["spec"]["ports"][0]["nodePort"].as_i64().unwrap();
        assert!((30000..32768).contains(&port), "{port}");
        assert!(ports.insert(port));
    }
}

#[test]
fn an_address_that_is_taken_is_refused_to_another_service() {
    let mut state = state();
    let wanted = json!({ "clusterIP": "10.96.3.4", "ports": [{ "port": 80 }] });
    keep(&mut state, service("first", wanted.clone()));
    let refused = make(&mut state, service("second", wanted)).unwrap_err();
    assert_eq!(refused.code, 422);
    assert_eq!(
        refused.message,
        "Service \"second\" is invalid: spec.clusterIPs: Invalid value: []string{\"10.96.3.4\"}: failed to allocated \
         ip:10.96.3.4 with error:provided IP is already allocated"
    );
}

#[test]
fn a_service_that_gets_another_type_gets_what_it_needs_for_it() {
    let mut state = state();
    let old = keep(
        &mut state,
        service("s", json!({ "ports": [{ "port": 80 }] })),
    );
    let kind = state.kinds.of("v1", "Service").unwrap().clone();
    let mut new = old.clone();
    new["spec"]["type"] = "NodePort".into();
    default(&kind, &mut new);
    prepare_update(&kind, &mut new, &old);
    complete_update(&state, &kind, &mut new, &old).unwrap();
    assert_eq!(new["spec"]["clusterIP"], old["spec"]["clusterIP"]);
    assert!(new["spec"]["ports"][0]["nodePort"].is_i64());
    let open = new.clone();
    new["spec"]["type"] = "ClusterIP".into();
    prepare_update(&kind, &mut new, &open);
    assert_eq!(new["spec"], old["spec"]);
}

#[test]
fn what_selects_pods_selects_them_for_ever() {
    let old = make(&mut state(), deployment()).unwrap();
    let other = json!({ "app": "other" });
    let wrong = changed(
        &old,
        &[
            ("/spec/selector/matchLabels", other.clone()),
            ("/spec/template/metadata/labels", other),
        ],
    );
    assert_eq!(
        wrong,
        ["spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"other\"}}: field is immutable"]
    );
    assert_eq!(
        changed(&old, &[("/spec/replicas", json!(3))]),
        Vec::<String>::new()
    );
}

#[test]
fn secrets_are_never_shown() {
    let secret = json!({
        "apiVersion": "v1", "kind": "Secret", "metadata": { "name": "s" }, "type": "kubernetes.io/dockerconfigjson",
        "stringData": { ".dockerconfigjson": "hunter2" },
    });
    let refused = make(&mut state(), secret).unwrap_err();
    assert_eq!(
        refused.message,
        "Secret \"s\" is invalid: data[.dockerconfigjson]: Invalid value: \"<secret contents redacted>\": invalid character \
         'h' looking for beginning of value"
    );
}

#[test]
fn a_pod_has_the_priority_of_its_class() {
    let mut state = state();
    let class = json!({
        "apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": { "name": "high" }, "value": 7,
        "preemptionPolicy": "Never",
    });
    keep(&mut state, class);
    let pod = |class: &str| {
        json!({
            "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p" },
            "spec": { "priorityClassName": class, "containers": [{ "name": "c", "image": "i:1" }] },
        })
    };
    let made = make(&mut state, pod("high")).unwrap();
    assert_eq!(made["spec"]["priority"], 7);
    assert_eq!(made["spec"]["preemptionPolicy"], "Never");
    assert_eq!(
        made["status"],
        json!({ "phase": "Pending", "qosClass": "BestEffort" })
    );
    let refused = make(&mut state, pod("higher")).unwrap_err();
    assert_eq!(refused.code, 403);
    assert_eq!(
        refused.message,
        "pods \"p\" is forbidden: no PriorityClass with name higher was found"
    );
}

#[test]
fn nonsense_is_refused_without_a_panic() {
    let mut state = state();
    let kinds: Vec<_> = state.kinds.all().cloned().collect();
    let nonsense = [
        json!(null),
        json!(1),
        json!("x"),
        json!([[]]),
        json!([null]),
        json!({ "": null }),
    ];
    for kind in kinds {
        for value in &nonsense {
            let fields = [
                "spec",
                "metadata",
                "data",
                "rules",
                "webhooks",
                "subsets",
                "endpoints",
                "template",
                "status",
            ];
            let mut object: Value = fields
                .iter()
                .map(|field| ((*field).to_owned(), value.clone()))
                .collect();
            object["spec"] = json!({
                "template": value, "ports": value, "containers": value, "selector": value, "hard": value,
                "rules": value, "limits": value, "metrics": value, "strategy": value, "behavior": value,
            });
            for object in [&mut object, &mut value.clone()] {
                default(&kind, object);
                let _ = prepare_create(&mut state, &kind, object);
                let old = object.clone();
                prepare_update(&kind, object, &old);
                validate_create(&kind, object);
                validate_update(&kind, object, &old);
            }
        }
    }
}
