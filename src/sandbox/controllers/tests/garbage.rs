//! Owners and what becomes of what they own.

use serde_json::{Value, json};

use super::super::object::meta;
use super::{Pods, World, config, workload};

fn owner(object: &Value, block: bool) -> Value {
    json!({
        "apiVersion": object["apiVersion"], "kind": object["kind"],
        "name": meta(object, "name"), "uid": meta(object, "uid"), "blockOwnerDeletion": block,
    })
}

fn world() -> World {
    World::new(Pods::Pending)
}

#[test]
fn what_an_object_owns_goes_after_it() {
    let mut world = world();
    let parent = world.add("configmaps", config("parent", json!([])));
    let child = world.add("configmaps", config("child", json!([owner(&parent, true)])));
    world.add(
        "configmaps",
        config("grandchild", json!([owner(&child, false)])),
    );
    world.delete("configmaps", "parent", "Background");
    assert_eq!(world.names("configmaps"), ["kube-root-ca.crt"]);
}

#[test]
fn an_owner_is_known_by_its_uid() {
    let mut world = world();
    let parent = world.add("configmaps", config("parent", json!([])));
    let mut other = owner(&parent, false);
    other["uid"] = "2c5e8f8c-0000-4000-8000-000000000000".into();
    world.add("configmaps", config("child", json!([other])));
    assert_eq!(world.get("configmaps", "child"), None);
}

#[test]
fn an_owner_is_looked_for_in_the_namespace_of_what_it_owns() {
    let mut world = world();
    let parent = world.add("configmaps", config("parent", json!([])));
    let elsewhere =
        json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "other" } });
    let namespace = world.create("namespaces", "", elsewhere);
    world.create(
        "configmaps",
        "other",
        config("child", json!([owner(&parent, false)])),
    );
    world.create(
        "configmaps",
        "other",
        config("kept", json!([owner(&namespace, false)])),
    );
    world.settle();
    let there = |name| {
        world
            .state
            .store
            .get(&World::key("configmaps", "other", name))
            .is_some()
    };
    assert!(!there("child"));
    assert!(there("kept"), "an owner without a namespace is everybody's");
}

#[test]
fn owners_of_unknown_kinds_may_be_there() {
    let mut world = world();
    let unknown = json!({ "apiVersion": "x.io/v1", "kind": "Thing", "name": "a", "uid": "u" });
    world.add("configmaps", config("child", json!([unknown])));
    assert!(world.get("configmaps", "child").is_some());
}

#[test]
fn one_owner_of_two_is_enough() {
    let mut world = world();
    let first = world.add("configmaps", config("first", json!([])));
    let second = world.add("configmaps", config("second", json!([])));
    let owners = json!([owner(&first, false), owner(&second, false)]);
    world.add("configmaps", config("child", owners));
    world.delete("configmaps", "first", "Background");
    let child = world.find("configmaps", "child");
    let left = child["metadata"]["ownerReferences"].as_array().unwrap();
    assert_eq!(left.len(), 1);
    assert_eq!(left[0]["name"], "second");
    world.delete("configmaps", "second", "Background");
    assert_eq!(world.get("configmaps", "child"), None);
}

#[test]
fn in_the_foreground_an_owner_waits_for_what_blocks_it() {
    let mut world = world();
    let parent = world.add("configmaps", config("parent", json!([])));
    for (name, block) in [("held", true), ("loose", false)] {
        let mut child = config(name, json!([owner(&parent, block)]));
        child["metadata"]["finalizers"] = json!(["x.io/wait"]);
        world.add("configmaps", child);
    }
    world.delete("configmaps", "parent", "Foreground");
    let parent = world.find("configmaps", "parent");
    assert_eq!(
        parent["metadata"]["finalizers"],
        json!(["foregroundDeletion"])
    );
    assert!(!meta(&world.find("configmaps", "held"), "deletionTimestamp").is_empty());
    let release = |child: &mut Value| {
        child["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("finalizers");
    };
    world.change("configmaps", "held", release);
    assert_eq!(world.get("configmaps", "parent"), None);
    assert!(
        world.get("configmaps", "loose").is_some(),
        "it blocks nobody"
    );
}

#[test]
fn orphans_stay_and_may_be_adopted() {
    let mut world = world();
    world.add("deployments.apps", workload("Deployment", "web", "i:1"));
    let (sets, pods) = (world.names("replicasets.apps"), world.names("pods"));
    world.delete("deployments.apps", "web", "Orphan");
    assert_eq!(world.get("deployments.apps", "web"), None);
    let set = world.find("replicasets.apps", &sets[0]);
    assert_eq!(set["metadata"].get("ownerReferences"), None);
    let deployment = world.add("deployments.apps", workload("Deployment", "web", "i:1"));
    let set = world.find("replicasets.apps", &sets[0]);
    assert_eq!(
        set["metadata"]["ownerReferences"][0]["uid"],
        deployment["metadata"]["uid"]
    );
    assert_eq!(
        (world.names("replicasets.apps"), world.names("pods")),
        (sets, pods)
    );
}
