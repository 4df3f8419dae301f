//! The Sync as the parent of an apply set: what it says, and what happens when it is touched.

use serde_json::json;

use crate::support::kubectl::kubectl;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, config_map, deployment, own_agent, secret};
use crate::support::namespace::{Namespace, condition_of, unique};
use crate::support::source::Source;

#[test]
fn the_parent_names_its_set_kinds_and_namespaces_as_kubectl_would() {
    let (ns, other) = (Namespace::new("parent"), Namespace::new("parent-other"));
    let source = Source::new().with(
        "a.yaml",
        &[
            config_map("a", ""),
            deployment("pet"),
            own_agent("pet"),
            secret("s", "x").within(&other.name),
        ],
    );
    let report = ns.sync(&source).ok();
    let metadata = ns.get("syncs", "it")["metadata"].clone();
    let set = report.json()["sync"]["applySet"].clone();
    assert_eq!(metadata["labels"]["applyset.kubernetes.io/id"], set);
    let annotations = &metadata["annotations"];
    assert_eq!(
        annotations["applyset.kubernetes.io/contains-group-kinds"],
        "ClosureJVMTarget.closurejvm.io,ConfigMap,Deployment.apps,Secret"
    );
    assert_eq!(
        annotations["applyset.kubernetes.io/additional-namespaces"],
        other.name.as_str()
    );
    let tooling = annotations["applyset.kubernetes.io/tooling"]
        .as_str()
        .unwrap();
    assert!(tooling.starts_with("covergence/v"), "{tooling}");

    // What people would type to see them. A rendered Service is its Target's, not the set's.
    let selector = format!("applyset.kubernetes.io/part-of={}", set.as_str().unwrap());
    let listed = kubectl(
        &[
            "-n",
            &ns.name,
            "get",
            "configmaps,deployments,closurejvmtargets,services",
            "-l",
            &selector,
            "-o",
            "name",
        ],
        &[],
    );
    let mut listed: Vec<&str> = listed.lines().collect();
    listed.sort_unstable();
    assert_eq!(
        listed,
        [
            "closurejvmtarget.closurejvm.io/pet",
            "configmap/a",
            "deployment.apps/pet"
        ]
    );
    let ready = condition_of(&ns.get("syncs", "it"), "Ready");
    assert_eq!(ready["status"], "True", "{ready}");
}

#[test]
fn a_set_that_another_tool_keeps_is_left_to_it() {
    let ns = Namespace::new("tooling");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    ns.sync(&source).ok();
    ns.edit("syncs", "it", &json!({ "metadata": { "annotations": { "applyset.kubernetes.io/tooling": "kubectl/v1.27" } } }));
    source.write("a.yaml", &[config_map("a", "2")]);
    for command in ["diff", "sync"] {
        let output = ns.run(command, &source).code(2);
        assert!(output.stderr.contains("kubectl/v1.27"), "{output:?}");
    }
    assert_eq!(ns.get("configmaps", "a")["data"]["key"], "1");
}

#[test]
fn a_set_that_a_controller_follows_from_elsewhere_is_left_to_it() {
    let ns = Namespace::new("followed");
    let source = Source::new().with("a.yaml", &[config_map("a", "")]);
    let spec = json!({ "source": { "git": { "url": "https://git.example/shop.git" } } });
    let sync = json!({ "apiVersion": "closurejvm.io/v1alpha1", "kind": "Sync", "metadata": { "name": "it" }, "spec": spec });
    ns.create("syncs", &sync);
    let refused = ns.text("sync", &source).code(2);
    assert!(
        refused.stderr.contains("a controller follows"),
        "{refused:?}"
    );
    assert!(ns.members().is_empty());
    // What it would change may be looked at.
    ns.diff(&source).code(1);
}

#[test]
fn a_lost_parent_is_made_anew_with_the_same_members() {
    let ns = Namespace::new("lost");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), config_map("gone", "1")]);
    ns.sync(&source).ok();
    ns.delete("syncs", "it");
    source.write("a.yaml", &[config_map("a", "1")]);
    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(report.outcome("ConfigMap", "a"), "unchanged");
    assert_eq!(report.outcome("ConfigMap", "gone"), "deleted");
    assert_eq!(ns.get("syncs", "it")["status"]["objects"]["total"], 1);
}

#[test]
fn an_inventory_that_was_edited_is_repaired() {
    let ns = Namespace::new("edited");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), secret("s", "x")]);
    ns.sync(&source).ok();
    let kinds = "applyset.kubernetes.io/contains-group-kinds";
    ns.edit("syncs", "it", &json!({ "metadata": { "annotations": { kinds: "Pod" }, "labels": { "applyset.kubernetes.io/id": "x" } } }));
    let report = ns.sync(&source).ok();
    let metadata = ns.get("syncs", "it")["metadata"].clone();
    assert_eq!(metadata["annotations"][kinds], "ConfigMap,Secret");
    assert_eq!(
        metadata["labels"]["applyset.kubernetes.io/id"],
        report.json()["sync"]["applySet"]
    );
}

#[test]
fn the_namespace_of_the_sync_comes_from_the_source_or_must_be_there() {
    let ns = Namespace::unborn("unborn");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let output = ns.sync(&source).code(2);
    assert!(
        output.stderr.contains(&ns.name)
            || output.stdout.contains(&format!("namespace {}", ns.name)),
        "{output:?}"
    );
    assert!(
        api()
            .find(&format!("/api/v1/namespaces/{}", ns.name))
            .is_none()
    );
}

/// operator-sdk#3967, #762.
#[test]
fn c38_a_namespace_that_is_being_deleted_is_not_written_to_and_ends() {
    let ns = Namespace::new("home");
    let doomed = Namespace::new("doomed");
    let source = Source::new().with(
        "a.yaml",
        &[
            config_map("a", "1"),
            deployment("pet").within(&doomed.name),
            own_agent("pet").within(&doomed.name),
        ],
    );
    ns.sync(&source).ok();
    // Something that takes its time.
    let held = config_map("held", "").set("/metadata/finalizers", json!(["it.example/hold"]));
    doomed.create("configmaps", &held);
    let path = format!("/api/v1/namespaces/{}", doomed.name);
    api().delete(&path);
    eventually("everything else is gone", || {
        let gone =
            !doomed.exists("deployments", "pet") && !doomed.exists("services", "pet-coverage");
        gone.then_some(())
    });
    source.write_text(
        "b.yaml",
        &crate::support::source::documents(&[config_map("b", "1")]),
    );
    let report = ns.sync(&source).code(2);
    // The others are served.
    assert_eq!(report.outcome("ConfigMap", "b"), "created");
    assert_ne!(report.outcome("Deployment", "pet"), "created");
    // Nothing of ours holds it.
    doomed.edit(
        "configmaps",
        "held",
        &json!({ "metadata": { "finalizers": null } }),
    );
    eventually("the namespace is gone", || {
        api().find(&path).is_none().then_some(())
    });
}

#[test]
fn cluster_scoped_members_are_found_and_pruned() {
    let ns = Namespace::new("cluster");
    let name = unique("it-role");
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": name },
        "rules": [{ "apiGroups": [""], "resources": ["pods"], "verbs": ["get"] }],
    });
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "1")])
        .with("role.yaml", &[role]);
    ns.sync(&source).ok();
    let path = format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{name}");
    api().edit(&path, &json!({ "rules": [] }));
    assert_eq!(
        ns.sync(&source).ok().outcome("ClusterRole", &name),
        "configured"
    );
    assert_eq!(api().get(&path)["rules"].as_array().map(Vec::len), Some(1));
    source.remove("role.yaml");
    assert_eq!(
        ns.sync(&source)
            .arg("--prune")
            .ok()
            .outcome("ClusterRole", &name),
        "deleted"
    );
    assert!(api().find(&path).is_none());
}
