//! What comes first, and what becomes of the rest when something fails.

use serde_json::{Value, json};

use crate::support::covergence::Output;
use crate::support::manifest::{Change, config_map, definition, deployment, namespace, own_agent};
use crate::support::namespace::{Namespace, unique};
use crate::support::source::Source;

const DEPENDS_ON: &str = "config.kubernetes.io/depends-on";
const WAVE: &str = "argocd.argoproj.io/sync-wave";

fn batch(output: &Output, kind: &str, name: &str) -> u64 {
    output.step(kind, name)["batch"].as_u64().unwrap()
}

/// flux2#562, #465, argo-cd#748, kustomize-controller#1194.
#[test]
fn c37_definition_namespace_and_custom_object_come_in_one_sync_in_any_order_of_files() {
    let (ns, shop) = (Namespace::new("c37"), Namespace::unborn("c37-shop"));
    let group = format!("{}.example", unique("c37"));
    let cup = json!({ "apiVersion": format!("{group}/v1"), "kind": "Cup", "metadata": { "name": "cup" }, "spec": { "size": 3 } });
    let source = Source::new()
        .with("a-cup.yaml", &[cup.within(&shop.name)])
        .with(
            "b-config.yaml",
            &[config_map("config", "").within(&shop.name)],
        )
        .with(
            "c-pet.yaml",
            &[
                own_agent("pet").within(&shop.name),
                deployment("pet").within(&shop.name),
            ],
        )
        .with("y-definition.yaml", &[definition(&group, "Cup")])
        .with("z-namespace.yaml", &[namespace(&shop.name)]);
    ns.diff(&source).code(1);
    let report = ns.sync(&source).ok();
    assert_eq!(report.count("created"), 7, "six and a Service");
    assert_eq!(
        shop.get(&format!("cups.{group}/v1"), "cup")["spec"]["size"],
        3
    );
    assert!(shop.exists("services", "pet-coverage"));
    ns.sync(&source).ok().nothing_to_do();
}

#[test]
fn c37_a_definition_that_fails_stops_its_own_objects_only() {
    let ns = Namespace::new("c37b");
    let group = format!("{}.example", unique("c37b"));
    let cup = json!({ "apiVersion": format!("{group}/v1"), "kind": "Cup", "metadata": { "name": "cup" } });
    let source = Source::new()
        .with("a.yaml", &[cup, config_map("config", "")])
        // A name that is not <plural>.<group> is refused.
        .with(
            "b.yaml",
            &[definition(&group, "Cup").set("/metadata/name", format!("mugs.{group}"))],
        );
    let report = ns.sync(&source).code(2);
    assert_eq!(
        report.outcome("CustomResourceDefinition", &format!("mugs.{group}")),
        "failed"
    );
    assert_ne!(report.outcome("Cup", "cup"), "created");
    assert_eq!(report.outcome("ConfigMap", "config"), "created");
}

#[test]
fn waves_go_one_after_the_other() {
    let ns = Namespace::new("waves");
    let in_wave = |name: &str, wave: &str| config_map(name, "").annotated(WAVE, wave);
    let early_deployment = deployment("early").annotated(WAVE, "-5");
    let source = Source::new().with(
        "a.yaml",
        &[
            in_wave("late", "10"),
            in_wave("middle", "2"),
            config_map("plain", ""),
            early_deployment,
        ],
    );
    let report = ns.sync(&source).ok();
    let order = [
        batch(&report, "Deployment", "early"),
        batch(&report, "ConfigMap", "plain"),
        batch(&report, "ConfigMap", "middle"),
        batch(&report, "ConfigMap", "late"),
    ];
    assert!(order.is_sorted_by(|a, b| a < b), "{order:?}");
    // And so they were made: creation is in seconds, versions are not.
    let version = |kind: &str, name: &str| created_version(&ns.get(kind, name));
    assert!(version("configmaps", "plain") < version("configmaps", "middle"));
    assert!(version("configmaps", "middle") < version("configmaps", "late"));
}

/// Of an object that was written once.
fn created_version(object: &Value) -> u64 {
    object["metadata"]["resourceVersion"]
        .as_str()
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
fn what_depends_on_others_comes_after_them() {
    let ns = Namespace::new("depends");
    let on = |name: &str| format!("/namespaces/{}/ConfigMap/{name}", ns.name);
    let source = Source::new().with(
        "a.yaml",
        &[
            config_map("a", "").annotated(DEPENDS_ON, &on("b")),
            config_map("b", "").annotated(DEPENDS_ON, &on("c")),
            config_map("c", "").annotated(
                DEPENDS_ON,
                &format!("apps/namespaces/{}/Deployment/d", ns.name),
            ),
            deployment("d"),
        ],
    );
    let report = ns.sync(&source).ok();
    let of = |kind: &str, name: &str| batch(&report, kind, name);
    assert!(of("Deployment", "d") < of("ConfigMap", "c"));
    assert!(of("ConfigMap", "c") < of("ConfigMap", "b"));
    assert!(of("ConfigMap", "b") < of("ConfigMap", "a"));
    let version = |name: &str| created_version(&ns.get("configmaps", name));
    assert!(version("c") < version("b") && version("b") < version("a"));
}

#[test]
fn one_failure_stops_its_dependants_and_nobody_else() {
    let ns = Namespace::new("failing");
    let on = |name: &str| format!("/namespaces/{}/ConfigMap/{name}", ns.name);
    let bad = config_map("bad", "").set("/metadata/labels", json!({ "not a label": "x" }));
    let source = Source::new().with(
        "a.yaml",
        &[
            bad,
            config_map("child", "").annotated(DEPENDS_ON, &on("bad")),
            config_map("grandchild", "").annotated(DEPENDS_ON, &on("child")),
            config_map("other", ""),
            deployment("pet"),
        ],
    );
    let report = ns.sync(&source).code(2);
    assert_eq!(report.outcome("ConfigMap", "bad"), "failed");
    for name in ["child", "grandchild"] {
        assert_eq!(report.outcome("ConfigMap", name), "skipped", "{name}");
        assert!(!ns.exists("configmaps", name));
    }
    assert!(report.message("ConfigMap", "child").contains("bad"));
    assert_eq!(report.outcome("ConfigMap", "other"), "created");
    assert_eq!(report.outcome("Deployment", "pet"), "created");
}

#[test]
fn the_service_of_a_target_that_fails_is_skipped() {
    let ns = Namespace::new("bad-target");
    ns.create("deployments", &deployment("pet"));
    let bad = own_agent("pet").set("/metadata/labels", json!({ "not a label": "x" }));
    let report = ns.sync(&Source::new().with("a.yaml", &[bad])).code(2);
    assert_eq!(report.outcome("ClosureJVMTarget", "pet"), "failed");
    assert_eq!(report.outcome("Service", "pet-coverage"), "skipped");
    assert!(!ns.exists("services", "pet-coverage"));
}

#[test]
fn a_circle_of_dependencies_is_refused_and_the_rest_goes_on() {
    let ns = Namespace::new("circle");
    let on = |name: &str| format!("/namespaces/{}/ConfigMap/{name}", ns.name);
    let source = Source::new().with(
        "a.yaml",
        &[
            config_map("a", "").annotated(DEPENDS_ON, &on("b")),
            config_map("b", "").annotated(DEPENDS_ON, &on("a")),
            config_map("free", ""),
        ],
    );
    let report = ns.sync(&source).code(2);
    for name in ["a", "b"] {
        assert_eq!(report.outcome("ConfigMap", name), "refused");
        assert!(report.message("ConfigMap", name).contains("circle"));
    }
    assert_eq!(report.outcome("ConfigMap", "free"), "created");
}
