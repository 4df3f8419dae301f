//! What is there before anybody asks: the objects that every cluster has.

use serde_json::{Value, json};

use super::auth;
use super::state::State;
use super::store::Key;

const NAMESPACES: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Adds the namespaces, the Service of the API itself, and the usual roles.
pub fn fill(state: &mut State) {
    let now = jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string();
    for name in NAMESPACES {
        let key = Key {
            resource: "namespaces".into(),
            namespace: String::new(),
            name: name.to_owned(),
        };
        state.store.put(key, namespace(name, &now));
    }
    let key = Key {
        resource: "services".into(),
        namespace: "default".to_owned(),
        name: "kubernetes".to_owned(),
    };
    state.store.put(key, service(&now));
    auth::seed(state, &now);
}

fn namespace(name: &str, now: &str) -> Value {
    let owned = json!({
        "f:metadata": { "f:labels": { ".": {}, "f:kubernetes.io/metadata.name": {} } },
    });
    json!({
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": name,
            "uid": auth::uuid(),
            "creationTimestamp": now,
            "labels": { "kubernetes.io/metadata.name": name },
            "managedFields": [managed(&owned, now)],
        },
        "spec": { "finalizers": ["kubernetes"] },
        "status": { "phase": "Active" },
    })
}

fn service(now: &str) -> Value {
    let owned = json!({
        "f:metadata": { "f:labels": { ".": {}, "f:component": {}, "f:provider": {} } },
        "f:spec": {
            "f:clusterIP": {},
            "f:internalTrafficPolicy": {},
            "f:ipFamilyPolicy": {},
            "f:ports": {
                ".": {},
                "k:{\"port\":443,\"protocol\":\"TCP\"}": {
                    ".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {},
                },
            },
            "f:sessionAffinity": {},
            "f:type": {},
        },
    });
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": "kubernetes",
            "namespace": "default",
            "uid": auth::uuid(),
            "creationTimestamp": now,
            "labels": { "component": "apiserver", "provider": "kubernetes" },
            "managedFields": [managed(&owned, now)],
        },
        "spec": {
            "clusterIP": "10.96.0.1",
            "clusterIPs": ["10.96.0.1"],
            "internalTrafficPolicy": "Cluster",
            "ipFamilies": ["IPv4"],
            "ipFamilyPolicy": "SingleStack",
            "ports": [{ "name": "https", "port": 443, "protocol": "TCP", "targetPort": 6443 }],
            "sessionAffinity": "None",
            "type": "ClusterIP",
        },
        "status": { "loadBalancer": {} },
    })
}

fn managed(owned: &Value, now: &str) -> Value {
    json!({
        "manager": "kube-apiserver",
        "operation": "Update",
        "apiVersion": "v1",
        "time": now,
        "fieldsType": "FieldsV1",
        "fieldsV1": owned,
    })
}
