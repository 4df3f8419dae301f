//! How far pruning reaches: other namespaces, other sets, namespaces and definitions themselves.

use serde_json::json;

use crate::support::api::path;
use crate::support::covergence::Run;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, config_map, definition, deployment, namespace, own_agent};
use crate::support::namespace::{Namespace, unique};
use crate::support::source::Source;

#[test]
fn an_object_that_moved_to_another_namespace_is_made_there_and_deleted_here() {
    let (ns, other) = (Namespace::new("from"), Namespace::new("to"));
    let source = Source::new()
        .with("keep.yaml", &[config_map("keep", "")])
        .with("a.yaml", &[config_map("a", "").within(&other.name)]);
    ns.sync(&source).ok();
    assert!(other.exists("configmaps", "a"));
    source.write("a.yaml", &[config_map("a", "")]);
    let steps = ns.sync(&source).arg("--prune").ok().steps();
    let place = |outcome: &str| {
        steps
            .iter()
            .position(|s| s["name"] == "a" && s["outcome"] == outcome)
    };
    assert!(place("created") < place("deleted"), "{steps:#?}");
    assert!(ns.exists("configmaps", "a"));
    assert!(!other.exists("configmaps", "a"));
    // The other namespace is out of reach now.
    let parent = ns.get("syncs", "it");
    assert_eq!(
        parent["metadata"]["annotations"]["applyset.kubernetes.io/additional-namespaces"],
        ""
    );
}

#[test]
fn c35_a_renamed_object_is_made_before_the_old_one_goes() {
    let ns = Namespace::new("rename");
    let source = Source::new().with("a.yaml", &[config_map("old", "")]);
    ns.sync(&source).ok();
    source.write("a.yaml", &[config_map("new", "")]);
    let steps = ns.sync(&source).arg("--prune").ok().steps();
    let outcomes: Vec<_> = steps
        .iter()
        .map(|s| (s["name"].clone(), s["outcome"].clone()))
        .collect();
    assert_eq!(
        outcomes,
        [
            (json!("new"), json!("created")),
            (json!("old"), json!("deleted"))
        ]
    );
}

#[test]
fn a_member_of_another_set_is_refused() {
    let ns = Namespace::new("sets");
    let (one, two) = (Source::new(), Source::new());
    one.write("a.yaml", &[config_map("shared", "one")]);
    two.write(
        "a.yaml",
        &[config_map("shared", "two"), config_map("own", "two")],
    );
    ns.sync(&one).ok();
    let id = ns.get("configmaps", "shared")["metadata"]["labels"]["applyset.kubernetes.io/part-of"]
        .clone();

    let report = ns.sync_as("other", &two).code(2);
    assert_eq!(report.outcome("ConfigMap", "shared"), "refused");
    assert!(
        report
            .message("ConfigMap", "shared")
            .contains(id.as_str().unwrap())
    );
    assert_eq!(report.outcome("ConfigMap", "own"), "created");
    let shared = ns.get("configmaps", "shared");
    assert_eq!(shared["data"]["key"], "one");
    assert_eq!(
        shared["metadata"]["labels"]["applyset.kubernetes.io/part-of"],
        id
    );

    // Nor does force help: that is about fields.
    ns.sync_as("other", &two).arg("--force-conflicts").code(2);
    assert_eq!(ns.get("configmaps", "shared")["data"]["key"], "one");
    // And the other set's prune does not see it.
    two.write("a.yaml", &[config_map("own", "two")]);
    ns.sync_as("other", &two).arg("--prune").ok();
    assert!(ns.exists("configmaps", "shared"));
}

#[test]
fn what_another_tool_manages_is_refused() {
    let ns = Namespace::new("tools");
    let helm = config_map("a", "helm").annotated("meta.helm.sh/release-name", "shop");
    ns.create("configmaps", &helm);
    let source = Source::new().with("a.yaml", &[config_map("a", "ours")]);
    let report = ns.sync(&source).code(2);
    assert_eq!(report.outcome("ConfigMap", "a"), "refused");
    assert!(report.message("ConfigMap", "a").contains("Helm"));
    assert_eq!(ns.get("configmaps", "a")["data"]["key"], "helm");
}

#[test]
fn c35_the_namespace_of_the_sync_itself_is_never_pruned() {
    let ns = Namespace::unborn("own");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "")])
        .with("namespace.yaml", &[namespace(&ns.name)]);
    let report = ns.sync(&source).ok();
    assert!(ns.exists("configmaps", "a"), "{report:?}");
    source.remove("namespace.yaml");
    let report = ns.sync_approved(&source).ok();
    assert_eq!(report.outcome("Namespace", &ns.name), "kept");
    assert_eq!(report.json()["pruneApproval"], json!(null));
    let live = api().get(&format!("/api/v1/namespaces/{}", ns.name));
    assert!(live["metadata"].get("deletionTimestamp").is_none());
}

#[test]
fn c35_our_own_definitions_are_never_pruned() {
    let ns = Namespace::new("crds");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "")])
        .file("crds.yaml", &Run::new(&["crd"]).ok().stdout);
    let names = ["closurejvmtargets.closurejvm.io", "syncs.closurejvm.io"];
    let path = |name: &str| path("customresourcedefinitions", None, Some(name));
    ns.sync(&source).ok();
    source.remove("crds.yaml");
    let report = ns.sync_approved(&source).ok();
    for name in names {
        assert_eq!(report.outcome("CustomResourceDefinition", name), "kept");
        let live = api().get(&path(name));
        assert!(live["metadata"].get("deletionTimestamp").is_none());
        // They are everybody's: the next run of the tests on this lab may label them anew.
        let label = "applyset.kubernetes.io/part-of";
        api().edit(
            &path(name),
            &json!({ "metadata": { "labels": { label: null } } }),
        );
    }
}

#[test]
fn a_namespace_that_holds_what_is_not_ours_is_not_pruned() {
    let (ns, other) = (Namespace::new("home"), Namespace::unborn("strange"));
    let source = Source::new().with("a.yaml", &[config_map("a", "")]).with(
        "other.yaml",
        &[
            namespace(&other.name),
            config_map("b", "").within(&other.name),
        ],
    );
    ns.sync(&source).ok();
    other.create("configmaps", &config_map("stranger", ""));
    source.remove("other.yaml");
    let report = ns.sync(&source).arg("--prune").code(2);
    assert_eq!(report.outcome("Namespace", &other.name), "refused");
    assert!(
        report
            .message("Namespace", &other.name)
            .contains("ConfigMap stranger")
    );
    assert!(other.exists("configmaps", "stranger"));

    other.delete("configmaps", "stranger");
    assert_eq!(
        ns.sync_approved(&source)
            .ok()
            .outcome("Namespace", &other.name),
        "deleted"
    );
    eventually("the namespace is gone", || {
        api()
            .find(&format!("/api/v1/namespaces/{}", other.name))
            .is_none()
            .then_some(())
    });
}

#[test]
fn c36_a_custom_object_whose_definition_is_gone_counts_as_deleted() {
    let ns = Namespace::new("no-kind");
    let group = format!("{}.example", unique("c36"));
    let cup = json!({ "apiVersion": format!("{group}/v1"), "kind": "Cup", "metadata": { "name": "cup" } });
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "")])
        .with("crd.yaml", &[definition(&group, "Cup"), cup]);
    ns.sync(&source).ok();
    let crd = format!("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/cups.{group}");
    api().delete(&crd);
    eventually("the kind is not served", || {
        (api().find(&format!("/apis/{group}/v1")).is_none() && api().find(&crd).is_none())
            .then_some(())
    });
    source.remove("crd.yaml");
    ns.sync(&source).arg("--prune").ok();
    // The inventory is rid of the kind, and the next one has nothing to do.
    ns.sync(&source).arg("--prune").ok().nothing_to_do();
    let kinds = &ns.get("syncs", "it")["metadata"]["annotations"]["applyset.kubernetes.io/contains-group-kinds"];
    assert_eq!(*kinds, "ConfigMap");
}

#[test]
fn a_definition_and_its_objects_are_pruned_objects_first() {
    let ns = Namespace::new("crd-prune");
    let group = format!("{}.example", unique("prune"));
    let cup = json!({ "apiVersion": format!("{group}/v1"), "kind": "Cup", "metadata": { "name": "cup" } });
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "")])
        .with("crd.yaml", &[definition(&group, "Cup"), cup]);
    ns.sync(&source).ok();
    source.remove("crd.yaml");
    let report = ns.sync_approved(&source).ok();
    let batch = |kind: &str, name: &str| report.step(kind, name)["batch"].as_u64().unwrap();
    let crd = format!("cups.{group}");
    assert!(batch("Cup", "cup") < batch("CustomResourceDefinition", &crd));
    assert_eq!(report.outcome("CustomResourceDefinition", &crd), "deleted");
}

#[test]
fn a_definition_with_objects_of_others_is_not_pruned() {
    let ns = Namespace::new("crd-keep");
    let group = format!("{}.example", unique("keep"));
    let cup = |name: &str| json!({ "apiVersion": format!("{group}/v1"), "kind": "Cup", "metadata": { "name": name } });
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "")])
        .with("crd.yaml", &[definition(&group, "Cup"), cup("ours")]);
    ns.sync(&source).ok();
    ns.create(&format!("cups.{group}/v1"), &cup("theirs"));
    source.remove("crd.yaml");
    let report = ns.sync(&source).arg("--prune").code(2);
    let crd = format!("cups.{group}");
    assert_eq!(report.outcome("CustomResourceDefinition", &crd), "refused");
    assert!(ns.exists(&format!("cups.{group}/v1"), "theirs"));
    api().delete(&format!(
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{crd}"
    ));
}

#[test]
fn deletes_go_in_the_reverse_of_the_order_of_applies() {
    let ns = Namespace::new("reverse");
    let late = config_map("late", "").annotated("argocd.argoproj.io/sync-wave", "3");
    let objects = [config_map("config", ""), deployment("app"), late];
    let source = Source::new().with("a.yaml", &objects);
    let made = ns.sync(&source).ok();
    let order = |report: &crate::support::covergence::Output| -> Vec<String> {
        let mut steps = report.steps();
        steps.sort_by_key(|s| s["batch"].as_u64());
        steps
            .iter()
            .map(|s| s["name"].as_str().unwrap().to_owned())
            .collect()
    };
    assert_eq!(order(&made), ["config", "app", "late"]);
    source.write_text("a.yaml", "# nothing left\n");
    let pruned = ns.sync(&source).args(&["--prune", "--allow-empty"]).ok();
    assert_eq!(order(&pruned), ["late", "app", "config"]);
    assert_eq!(pruned.count("deleted"), 3);
}

#[test]
fn a_target_and_its_deployment_go_without_a_trace() {
    let ns = Namespace::new("trace");
    let source = Source::new()
        .with("pet.yaml", &[deployment("pet"), own_agent("pet")])
        .with("rest.yaml", &[config_map("rest", "")]);
    ns.sync(&source).ok();
    source.remove("pet.yaml");
    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(report.outcome("ClosureJVMTarget", "pet"), "deleted");
    assert_eq!(report.json()["targets"], json!([]));
    assert!(!ns.exists("deployments", "pet"));
    eventually("the Service is collected", || {
        (!ns.exists("services", "pet-coverage")).then_some(())
    });
    ns.sync(&source).arg("--prune").ok().nothing_to_do();
}
