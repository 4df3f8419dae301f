//! What the sandbox knows of the built-in kinds, held against an API server's own answers.

use std::sync::Arc;

use covergence::sandbox::types::{Kind, Origin, built_in, read, tables};
use serde_json::{Value, json};

use crate::support::lab::api;
use crate::support::namespace::Namespace;

/// Where the objects of a kind are listed.
fn path_of(kind: &Kind) -> String {
    let Kind {
        group,
        version,
        plural,
        ..
    } = kind;
    match group.as_str() {
        "" => format!("/api/{version}/{plural}"),
        group => format!("/apis/{group}/{version}/{plural}"),
    }
}

/// Objects with about everything that Go treats in a way of its own: templates, quantities, times, empty and zero values.
fn odd_ones(namespace: &str) -> Vec<Value> {
    let template = json!({
        "metadata": { "labels": { "app": "a" }, "annotations": {} },
        "spec": {
            "hostNetwork": false, "terminationGracePeriodSeconds": 0, "nodeSelector": {}, "tolerations": [],
            "securityContext": {}, "restartPolicy": "Always",
            "containers": [{
                "name": "a", "image": "a:1", "args": [], "workingDir": "",
                "env": [
                    { "name": "A", "value": "" },
                    { "name": "B", "valueFrom": { "resourceFieldRef": { "resource": "limits.cpu" } } },
                ],
                "resources": { "limits": { "cpu": 0.5, "memory": "1024Mi" }, "requests": {} },
                "ports": [{ "containerPort": 80, "protocol": "TCP" }],
                "readinessProbe": { "httpGet": { "port": "http", "path": "/" }, "initialDelaySeconds": 0 },
            }],
            "volumes": [
                { "name": "v", "emptyDir": { "sizeLimit": "1000Mi" } },
                { "name": "s", "secret": { "secretName": "s", "optional": false, "defaultMode": 0 } },
            ],
        },
    });
    let object = |api_version: &str, kind: &str, rest: Value| {
        let mut object = json!({
            "apiVersion": api_version, "kind": kind,
            "metadata": { "name": "odd", "namespace": namespace, "labels": { "a": null }, "finalizers": [] },
        });
        object
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        object
    };
    let selector = json!({ "matchLabels": { "app": "a" }, "matchExpressions": [] });
    let claim = json!({ "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1024Mi" } } });
    vec![
        object(
            "apps/v1",
            "Deployment",
            json!({ "spec": { "replicas": 0, "selector": selector, "template": template } }),
        ),
        object(
            "apps/v1",
            "DaemonSet",
            json!({ "spec": { "selector": selector, "template": template } }),
        ),
        object(
            "apps/v1",
            "StatefulSet",
            json!({
                "spec": {
                    "serviceName": "", "selector": selector, "template": template,
                    "volumeClaimTemplates": [{ "metadata": { "name": "c" }, "spec": claim }],
                },
            }),
        ),
        object(
            "v1",
            "Service",
            json!({ "spec": { "ports": [{ "port": 80, "targetPort": "http" }], "selector": {} } }),
        ),
        object(
            "v1",
            "Secret",
            json!({ "data": { "a": "YQ\n==", "b": null } }),
        ),
        object(
            "v1",
            "ConfigMap",
            json!({ "data": {}, "immutable": false, "binaryData": null }),
        ),
        object(
            "v1",
            "PersistentVolumeClaim",
            json!({ "spec": claim, "status": null }),
        ),
        object(
            "rbac.authorization.k8s.io/v1",
            "Role",
            json!({ "rules": [] }),
        ),
        object(
            "networking.k8s.io/v1",
            "NetworkPolicy",
            json!({ "spec": { "podSelector": {}, "ingress": [{}] } }),
        ),
        object(
            "coordination.k8s.io/v1",
            "Lease",
            json!({
                "spec": { "renewTime": "2024-03-01T10:00:00.500000+02:00", "leaseTransitions": 0 },
            }),
        ),
        object(
            "v1",
            "ResourceQuota",
            json!({ "spec": { "hard": { "cpu": "1500m", "pods": "10" } } }),
        ),
    ]
}

/// Where an object has what another has not, or has otherwise.
fn differences(object: &Value, whole: &Value, at: &str, found: &mut Vec<String>) {
    match (object, whole) {
        (Value::Object(fields), Value::Object(others)) => {
            for (name, value) in fields {
                let at = format!("{at}.{name}");
                match others.get(name) {
                    Some(other) => differences(value, other, &at, found),
                    None => found.push(format!("{at}: {value} and nothing")),
                }
            }
        }
        (Value::Array(items), Value::Array(others)) if items.len() == others.len() => {
            for (item, other) in items.iter().zip(others) {
                differences(item, other, &format!("{at}[]"), found);
            }
        }
        _ if object == whole => {}
        _ => found.push(format!("{at}: {object} and {whole}")),
    }
}

#[test]
fn what_is_read_is_what_the_api_server_reads() {
    let namespace = Namespace::new("types");
    let kinds = built_in();
    for object in odd_ones(&namespace.name) {
        let text = |name: &str| object[name].as_str().unwrap();
        let kind = kinds.of(text("apiVersion"), text("kind")).unwrap();
        let path = path_of(kind).replace(
            &format!("/{}", kind.plural),
            &format!("/namespaces/{}/{}?dryRun=All", namespace.name, kind.plural),
        );
        let answer = api().create(&path, &object);
        let mut ours = object.clone();
        assert!(read(kind, &mut ours).unwrap().unknown.is_empty());
        // Given by the server.
        ours["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("creationTimestamp");
        let mut found = Vec::new();
        differences(&ours, &answer, &kind.kind, &mut found);
        // What the server writes stays as it is, and defaults are all that it adds.
        let mut again = answer.clone();
        read(kind, &mut again).unwrap();
        differences(&again, &answer, &kind.kind, &mut found);
        differences(&answer, &again, &kind.kind, &mut found);
        assert!(found.is_empty(), "{found:#?}");
    }
}

#[test]
fn all_that_is_there_is_read_without_a_change() {
    let mut count = 0;
    for kind in built_in()
        .all()
        .filter(|kind| kind.origin == Origin::BuiltIn)
    {
        // Both documents of definitions and what is in them are kept as JSON, and not as Go would have them.
        if kind.kind == "CustomResourceDefinition" {
            continue;
        }
        let Some(list) = api()
            .find(&path_of(kind))
            .filter(|it| it["items"].is_array())
        else {
            continue;
        };
        for object in list["items"].as_array().unwrap() {
            let mut ours = object.clone();
            let unknown = read(kind, &mut ours).unwrap().unknown;
            assert_eq!((&ours, unknown), (object, Vec::new()), "{}", kind.kind);
            count += 1;
        }
    }
    assert!(count > 50, "{count} objects");
}

/// Cells that say how long ago something was, which was longer ago the second time.
const AGES: &[&str] = &[
    "Age",
    "Last Seen",
    "First Seen",
    "Last Schedule",
    "Duration",
];

#[test]
fn everyday_tables_are_those_of_the_api_server() {
    let namespace = Namespace::new("tables");
    for object in odd_ones(&namespace.name) {
        let kinds = built_in();
        let text = |name: &str| object[name].as_str().unwrap();
        let kind = kinds.of(text("apiVersion"), text("kind")).unwrap();
        let path = path_of(kind).replace(
            &format!("/{}", kind.plural),
            &format!("/namespaces/{}/{}", namespace.name, kind.plural),
        );
        api().create(&path, &object);
        let list = api().get(&path);
        let theirs = api().table(&path);
        let version = |object: &Value| object["metadata"]["resourceVersion"].clone();
        for row in theirs["rows"].as_array().unwrap() {
            let items = list["items"].as_array().unwrap();
            let Some(found) = items
                .iter()
                .find(|it| version(it) == version(&row["object"]))
            else {
                continue;
            };
            let ours = tables::table(
                kind,
                &[Arc::new(found.clone())],
                tables::Include::Nothing,
                json!({}),
            );
            let heads = |table: &Value| {
                let heads = table["columnDefinitions"].as_array().unwrap().iter();
                heads
                    .map(|it| {
                        (
                            it["name"].clone(),
                            it["type"].clone(),
                            it["priority"].clone(),
                        )
                    })
                    .collect::<Vec<_>>()
            };
            assert_eq!(heads(&ours), heads(&theirs), "{}", kind.kind);
            let cells = ours["rows"][0]["cells"].as_array().unwrap();
            for ((head, _, _), (ours, theirs)) in heads(&theirs)
                .iter()
                .zip(cells.iter().zip(row["cells"].as_array().unwrap()))
            {
                if !AGES.contains(&head.as_str().unwrap()) {
                    assert_eq!(ours, theirs, "{head} of {}", kind.kind);
                }
            }
        }
    }
}
