//! Namespaces: their contents and their ends.

use serde_json::json;

use super::super::client;
use super::{Pods, World, conditions, config, workload};

#[test]
fn each_namespace_has_an_account_and_a_root_certificate() {
    let mut world = World::new(Pods::Pending);
    assert_eq!(world.names("serviceaccounts"), ["default"]);
    assert_eq!(world.names("configmaps"), ["kube-root-ca.crt"]);
    world.delete("configmaps", "kube-root-ca.crt", "Background");
    assert_eq!(world.names("configmaps"), ["kube-root-ca.crt"]);
}

#[test]
fn a_namespace_goes_when_it_is_empty() {
    let mut world = World::new(Pods::Ready);
    world.add("deployments.apps", workload("Deployment", "web", "i:1"));
    let mut held = config("held", json!([]));
    held["metadata"]["finalizers"] = json!(["x.io/wait"]);
    world.add("configmaps", held);
    let key = World::key("namespaces", "", "shop");
    let namespace = world.state.store.get(&key).unwrap().clone();
    client::delete(&mut world.state, &key, &namespace, json!({}));
    world.settle();
    assert_eq!(world.names("configmaps"), ["held"]);
    for resource in [
        "deployments.apps",
        "replicasets.apps",
        "pods",
        "serviceaccounts",
    ] {
        assert!(world.list(resource).is_empty(), "{resource}");
    }
    let namespace = world.state.store.get(&key).unwrap();
    assert_eq!(namespace["status"]["phase"], "Terminating");
    assert_eq!(
        conditions(namespace),
        [
            ["NamespaceContentRemaining", "True", "SomeResourcesRemain"],
            ["NamespaceDeletionContentFailure", "False", "ContentDeleted"],
            [
                "NamespaceDeletionDiscoveryFailure",
                "False",
                "ResourcesDiscovered"
            ],
            [
                "NamespaceDeletionGroupVersionParsingFailure",
                "False",
                "ParsedGroupVersions"
            ],
            [
                "NamespaceFinalizersRemaining",
                "True",
                "SomeFinalizersRemain"
            ],
        ]
    );
    assert_eq!(
        namespace["status"]["conditions"][3]["message"],
        "Some resources are remaining: configmaps. has 1 resource instances"
    );
    assert_eq!(
        namespace["status"]["conditions"][4]["message"],
        "Some content in the namespace has finalizers remaining: x.io/wait in 1 resource instances"
    );
    world.change("configmaps", "held", |held| {
        held["metadata"]
            .as_object_mut()
            .unwrap()
            .remove("finalizers");
    });
    assert_eq!(world.state.store.get(&key), None);
}
