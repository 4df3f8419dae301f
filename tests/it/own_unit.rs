//! What is wrong with one thing stops nothing else, and heals when it can.

use serde_json::{Value, json};

use crate::support::covergence::Run;
use crate::support::lab::api;
use crate::support::manifest::{config_map, deployment, own_agent};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

#[test]
fn names_that_would_lead_elsewhere_fail_their_own_document() {
    let ns = Namespace::new("names");
    for odd in [
        json!({ "name": "a", "namespace": "../../x" }),
        json!({ "name": "a", "namespace": "n1/secrets" }),
        json!({ "name": "a?dryRun=All", "namespace": ns.name }),
        json!({ "name": "x y" }),
    ] {
        let odd = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": odd });
        let source = Source::new().with("a.yaml", &[odd.clone(), config_map("good", "1")]);
        let report = ns.sync(&source).code(2);
        let word = report.outcome("ConfigMap", "good");
        assert!(matches!(word.as_str(), "created" | "unchanged"), "{odd}");
    }
    assert_eq!(ns.members(), ["good"]);
}

#[test]
fn a_sync_that_is_in_its_own_source_keeps_its_inventory() {
    let ns = Namespace::new("self");
    let own = json!({
        "apiVersion": "closurejvm.io/v1alpha1", "kind": "Sync",
        "metadata": { "name": "it", "namespace": ns.name },
        "spec": { "source": { "directory": { "path": "/srv/shop" } }, "interval": "1m" },
    });
    let source = Source::new().with("a.yaml", &[own, config_map("a", "1")]);
    ns.sync(&source).ok();
    let kinds = |live: &Value| {
        let annotations = &live["metadata"]["annotations"];
        annotations["applyset.kubernetes.io/contains-group-kinds"].clone()
    };
    let live = ns.get("syncs", "it");
    assert_eq!(kinds(&live), "ConfigMap,Sync.closurejvm.io");
    assert_eq!(live["spec"]["interval"], "1m");
    ns.sync(&source).ok().nothing_to_do();
    ns.diff(&source).ok();

    // Leaving the source, it stays: it is what knows the members.
    source.write("a.yaml", &[config_map("a", "1")]);
    let report = ns.diff(&source).arg("--prune").ok();
    assert_eq!(report.action("Sync", "it"), "keep");
}

#[test]
fn a_set_named_after_its_folder_is_not_taken_over_by_another_folder_of_that_name() {
    let ns = Namespace::new("same");
    let one = Source::new().with("deploy/a.yaml", &[config_map("one", "1")]);
    let other = Source::new().with("deploy/a.yaml", &[config_map("other", "1")]);
    let sync = |source: &Source| {
        let run = Run::on_lab(&["sync", "--prune", "-o", "json", "-n", &ns.name]);
        run.arg(source.path().join("deploy"))
    };
    sync(&one).ok();
    let report = sync(&other).code(2);
    assert!(report.reason("ConfigMap", "one").contains("--name"));
    assert_eq!(ns.members(), ["one", "other"]);
    // Asking twice does not make it so, and saying that it is meant does.
    sync(&other).code(2);
    sync(&other).args(&["--name", "deploy"]).ok();
    assert_eq!(ns.members(), ["other"]);
}

#[test]
fn what_is_left_is_found_though_the_inventory_was_deleted() {
    let ns = Namespace::new("lost");
    let secret = crate::support::manifest::secret("s", "x");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), secret]);
    ns.sync(&source).ok();
    ns.delete("syncs", "it");
    source.write("a.yaml", &[config_map("a", "1")]);
    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(report.outcome("Secret", "s"), "deleted");
}

#[test]
fn our_own_marks_heal_and_hand_edits_yield_to_a_new_commit() {
    let ns = Namespace::new("heal");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    ns.sync(&source).ok();
    let digest = json!({ "metadata": { "annotations": { "closurejvm.io/applied-digest": "x" } } });
    ns.edit("configmaps", "a", &digest);
    ns.sync(&source).ok();
    ns.diff(&source).ok();

    // A restore that lost the owners: nobody's fields are no conflict.
    let nobody = json!({ "metadata": { "managedFields": [{}] } });
    ns.edit("configmaps", "a", &nobody);
    ns.sync(&source).ok();
    source.write("a.yaml", &[config_map("a", "2")]);
    ns.sync(&source).ok();
    assert_eq!(ns.get("configmaps", "a")["data"]["key"], "2");
}

#[test]
fn a_target_that_is_left_alone_is_served_as_it_is() {
    let ns = Namespace::new("alone");
    let source = Source::new().with("a.yaml", &[deployment("pet"), own_agent("pet")]);
    ns.sync(&source).ok();
    let change = json!({
        "metadata": { "annotations": { "kustomize.toolkit.fluxcd.io/reconcile": "disabled" } },
        "spec": { "agents": { "coverage": { "port": 7000 } } },
    });
    ns.edit("closurejvmtargets", "pet", &change);
    let report = ns.sync(&source).ok();
    assert_eq!(report.outcome("ClosureJVMTarget", "pet"), "kept");
    let service = ns.get("services", "pet-coverage");
    assert_eq!(service["spec"]["ports"][0]["port"], 7000);
    let endpoint = ns.status("pet")["coverageEndpoint"].clone();
    assert!(endpoint.as_str().unwrap().ends_with(":7000"), "{endpoint}");
}

#[test]
fn a_deployment_that_is_being_deleted_counts_as_gone() {
    let ns = Namespace::new("going");
    let source = Source::new().with("a.yaml", &[own_agent("pet")]);
    let mut held = deployment("pet");
    held["metadata"]["finalizers"] = json!(["example.com/hold"]);
    ns.create("deployments", &held);
    ns.sync(&source).ok();
    assert!(ns.exists("services", "pet-coverage"));
    assert!(api().delete(&ns.path("deployments", "pet")));
    ns.sync(&source).ok();
    let free = json!({ "metadata": { "finalizers": null } });
    ns.edit("deployments", "pet", &free);
    assert!(!ns.exists("services", "pet-coverage"));
    assert_eq!(ns.condition("pet", "Ready")["reason"], "DeploymentNotFound");
}

#[test]
fn a_program_that_asked_for_json_gets_the_reason_as_json() {
    let error = Run::new(&["diff", "/nowhere", "-o", "json"]).code(2).json();
    assert_eq!(error["kind"], "Error");
    assert!(error["message"].as_str().unwrap().contains("/nowhere"));
}

#[test]
fn a_handwritten_service_makes_room_for_the_one_of_its_target() {
    let ns = Namespace::new("room");
    let service = crate::support::manifest::service("pet-coverage");
    let source = Source::new()
        .with("service.yaml", &[service])
        .with("pet.yaml", &[deployment("pet")]);
    ns.sync(&source).ok();
    source.remove("service.yaml");
    source.write("pet.yaml", &[deployment("pet"), own_agent("pet")]);
    // The name is taken for now; what takes it goes all the same, and no endpoint is claimed.
    ns.sync(&source).arg("--prune").code(2);
    assert!(!ns.exists("services", "pet-coverage"));
    assert_eq!(ns.status("pet").get("coverageEndpoint"), None);
    ns.sync(&source).arg("--prune").ok();
    assert_eq!(
        ns.get("services", "pet-coverage")["spec"]["clusterIP"],
        "None"
    );
}
