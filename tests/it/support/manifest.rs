//! Manifests that many tests start from.

use serde_json::{Value, json};

/// A Deployment of two replicas of `app: <name>`.
pub fn deployment(name: &str) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": { "name": name, "labels": { "app": name } },
        "spec": {
            "replicas": 2,
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{ "name": "app", "image": "shop/pet:1" }] },
            },
        },
    })
}

/// A Target with everything switched on, for the Deployment of the same name.
pub fn target(name: &str) -> Value {
    target_of(name, name)
}

/// A Target with everything switched on.
pub fn target_of(name: &str, deployment: &str) -> Value {
    json!({
        "apiVersion": "closurejvm.io/v1alpha1",
        "kind": "ClosureJVMTarget",
        "metadata": { "name": name },
        "spec": {
            "deploymentRef": { "name": deployment },
            "coverageService": true,
            "agents": { "coverage": { "enabled": true, "port": 6300 } },
        },
    })
}

/// A Target for the Deployment of the same name, whose image brings the agent along: for tests of all that does not depend on
/// how it gets there.
pub fn own_agent(name: &str) -> Value {
    own_agent_of(name, name)
}

/// The same for a Deployment of another name.
pub fn own_agent_of(name: &str, deployment: &str) -> Value {
    target_of(name, deployment).set("/spec/agents/coverage/injection", "None")
}

pub fn config_map(name: &str, value: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": { "key": value } })
}

pub fn secret(name: &str, value: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "name": name }, "stringData": { "password": value } })
}

pub fn claim(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": name },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
    })
}

pub fn service(name: &str) -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": { "name": name },
        "spec": { "selector": { "app": name }, "ports": [{ "port": 80, "protocol": "TCP" }] },
    })
}

pub fn namespace(name: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": name } })
}

/// A definition of a namespaced kind in a group.
pub fn definition(group: &str, kind: &str) -> Value {
    let singular = kind.to_lowercase();
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": { "name": format!("{singular}s.{group}") },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": { "kind": kind, "plural": format!("{singular}s"), "singular": singular },
            "versions": [{
                "name": "v1", "served": true, "storage": true,
                "schema": { "openAPIV3Schema": { "type": "object", "properties": { "spec": {
                    "type": "object", "properties": { "size": { "type": "integer" } },
                } } } },
            }],
        },
    })
}

/// Small changes to a manifest.
pub trait Change: Sized {
    /// With another value at a place (a JSON pointer); maps on the way are made.
    fn set(self, pointer: &str, value: impl Into<Value>) -> Self;

    /// Without what is at a place.
    fn unset(self, pointer: &str) -> Self;

    /// With an annotation.
    fn annotated(self, key: &str, value: &str) -> Self {
        self.set(
            &format!("/metadata/annotations/{}", escape(key)),
            value.to_owned(),
        )
    }

    /// In a namespace.
    fn within(self, namespace: &str) -> Self {
        self.set("/metadata/namespace", namespace.to_owned())
    }
}

impl Change for Value {
    fn set(mut self, pointer: &str, value: impl Into<Value>) -> Self {
        let mut at = &mut self;
        for step in pointer.split('/').skip(1) {
            let key = step.replace("~1", "/").replace("~0", "~");
            at = match at {
                Value::Array(items) => &mut items[key.parse::<usize>().unwrap()],
                map => map
                    .as_object_mut()
                    .unwrap()
                    .entry(key)
                    .or_insert_with(|| json!({})),
            };
        }
        *at = value.into();
        self
    }

    fn unset(mut self, pointer: &str) -> Self {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        let key = key.replace("~1", "/").replace("~0", "~");
        let parent = self.pointer_mut(parent).and_then(Value::as_object_mut);
        assert!(
            parent.unwrap().remove(&key).is_some(),
            "nothing at {pointer}"
        );
        self
    }
}

fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
