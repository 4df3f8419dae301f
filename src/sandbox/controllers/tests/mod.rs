//! What the controllers make of objects. That Kubernetes' own make the same of them is shown beside its API server.

mod claims;
mod endpoints;
mod garbage;
mod namespaces;
mod workloads;

use std::sync::Arc;

use serde_json::{Value, json};

use super::client;
use super::object::meta;
use super::{Pods, step};
use crate::state::State;
use crate::store::Key;
use crate::types;

/// A state with a namespace, and controllers that have seen it.
struct World {
    state: State,
    pods: Pods,
}

impl World {
    fn new(pods: Pods) -> Self {
        let state = State {
            kinds: types::built_in(),
            ..State::default()
        };
        let mut world = Self { state, pods };
        world.create(
            "namespaces",
            "",
            json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "shop" } }),
        );
        world.settle();
        world
    }

    /// Lets the controllers work until there is nothing left for them to look at.
    fn settle(&mut self) {
        for _ in 0..10_000 {
            if !step(&mut self.state, self.pods) {
                return;
            }
        }
        panic!("the controllers do not come to rest");
    }

    fn key(resource: &str, namespace: &str, name: &str) -> Key {
        Key {
            resource: resource.into(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        }
    }

    fn create(&mut self, resource: &str, namespace: &str, object: Value) -> Arc<Value> {
        let key = Self::key(resource, namespace, meta(&object, "name"));
        client::create(&mut self.state, &key, object).unwrap()
    }

    /// Makes an object, and lets the controllers see it.
    fn add(&mut self, resource: &str, object: Value) -> Arc<Value> {
        let made = self.create(resource, "shop", object);
        self.settle();
        made
    }

    fn get(&self, resource: &str, name: &str) -> Option<Arc<Value>> {
        let key = Self::key(resource, "shop", name);
        self.state.store.get(&key).cloned()
    }

    fn find(&self, resource: &str, name: &str) -> Arc<Value> {
        self.get(resource, name).unwrap()
    }

    fn list(&self, resource: &str) -> Vec<Arc<Value>> {
        let all = self.state.store.list(&resource.into(), Some("shop"));
        all.map(|(_, object)| object.clone()).collect()
    }

    fn names(&self, resource: &str) -> Vec<String> {
        let all = self.list(resource);
        all.iter()
            .map(|object| meta(object, "name").to_owned())
            .collect()
    }

    /// Changes an object, and lets the controllers see it.
    fn change(&mut self, resource: &str, name: &str, change: impl FnOnce(&mut Value)) {
        let mut object = (*self.find(resource, name)).clone();
        change(&mut object);
        let key = Self::key(resource, "shop", name);
        client::update(&mut self.state, &key, object).unwrap();
        self.settle();
    }

    /// Changes the status of an object, and lets the controllers see it.
    fn tell(&mut self, resource: &str, name: &str, status: Value) {
        let mut object = (*self.find(resource, name)).clone();
        object["status"] = status;
        let key = Self::key(resource, "shop", name);
        client::update_status(&mut self.state, &key, object).unwrap();
        self.settle();
    }

    /// Deletes an object, and lets the controllers see it.
    fn delete(&mut self, resource: &str, name: &str, policy: &str) {
        let object = self.find(resource, name);
        let key = Self::key(resource, "shop", name);
        let options = json!({ "propagationPolicy": policy });
        client::delete(&mut self.state, &key, &object, options);
        self.settle();
    }
}

/// A Deployment, or a like workload, of an image.
fn workload(kind: &str, name: &str, image: &str) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": kind, "metadata": { "name": name },
        "spec": {
            "selector": { "matchLabels": { "app": name } },
            "template": {
                "metadata": { "labels": { "app": name } },
                "spec": { "containers": [{
                    "name": "c", "image": image, "ports": [{ "name": "http", "containerPort": 8080 }],
                }] },
            },
        },
    })
}

fn config(name: &str, owners: Value) -> Value {
    json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name, "ownerReferences": owners },
    })
}

/// Type, status and reason of each condition, by type.
fn conditions(object: &Value) -> Vec<[&str; 3]> {
    let all = object["status"]["conditions"].as_array().unwrap();
    let mut found: Vec<[&str; 3]> = all
        .iter()
        .map(|condition| {
            ["type", "status", "reason"].map(|name| condition[name].as_str().unwrap_or_default())
        })
        .collect();
    found.sort_unstable();
    found
}
