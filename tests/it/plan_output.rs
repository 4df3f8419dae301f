//! What `diff` says, and with which exit code.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::covergence::Run;
use crate::support::manifest::{Change, config_map, definition, deployment, namespace, own_agent};
use crate::support::namespace::{Namespace, unique};
use crate::support::source::Source;

#[test]
fn exit_codes_tell_nothing_to_do_differences_and_errors() {
    let ns = Namespace::new("codes");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    ns.diff(&source).code(1);
    ns.sync(&source).ok();
    ns.diff(&source).code(0);
    // What sync would fail on is no pending change.
    let bad = deployment("bad").set("/spec/replicas", -1);
    source.write("bad.yaml", &[bad]);
    ns.diff(&source).code(2);
    source.remove("bad.yaml");
    // A source that cannot be read completely is an error, whatever else there is.
    source.write_text("broken.yaml", "a: [");
    ns.diff(&source).code(2);
    ns.sync(&source).code(2);
    ns.text("diff", &source).code(2);
}

#[test]
fn what_cannot_even_be_tried_is_an_error_with_a_hint() {
    let ns = Namespace::new("usage");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let gone = Run::on_lab(&["diff", "--namespace", &ns.name, "/nonexistent/folder"]).code(2);
    assert!(gone.stderr.contains("/nonexistent/folder"));
    ns.diff(&source).arg("--no-such-flag").code(2);
    ns.diff(&source)
        .args(&["--git", "https://git.example/a"])
        .code(2);
    ns.sync(&source)
        .args(&["--prune", "--prune-limit", "many"])
        .code(2);
    let name = ns.sync_as("Not_A_Name", &source).code(2);
    assert!(name.stderr.contains("--name"));
}

#[test]
fn a_server_that_is_not_there_is_an_error_with_a_hint() {
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    // Nothing listens on the discard port.
    let kubeconfig = "apiVersion: v1\nkind: Config\ncurrent-context: c\n\
        clusters: [{ name: c, cluster: { server: \"https://127.0.0.1:9\" } }]\n\
        contexts: [{ name: c, context: { cluster: c, user: u } }]\nusers: [{ name: u, user: { token: t } }]\n";
    let folder = Source::new().file("kubeconfig", kubeconfig);
    for command in ["diff", "sync"] {
        let output = Run::new(&[command, "--name", "it"])
            .arg("--kubeconfig")
            .arg(folder.path().join("kubeconfig"))
            .arg(source.path())
            .code(2);
        assert!(output.stderr.contains("is the API server"), "{output:?}");
    }
    let none = Run::new(&["diff", "--kubeconfig", "/nonexistent"])
        .arg(source.path())
        .code(2);
    assert!(none.stderr.contains("--kubeconfig"));
}

#[test]
fn json_has_a_stable_shape() {
    let ns = Namespace::new("shape");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let plan = ns.diff(&source).code(1).json();
    assert_eq!(
        keys(&plan),
        [
            "apiVersion",
            "diagnostics",
            "kind",
            "revision",
            "steps",
            "summary",
            "sync"
        ]
    );
    assert_eq!(plan["apiVersion"], "closurejvm.io/v1alpha1");
    assert_eq!(plan["kind"], "Plan");
    assert_eq!(plan["sync"]["namespace"], ns.name.as_str());
    assert_eq!(plan["sync"]["name"], "it");
    assert!(plan["revision"].as_str().unwrap().starts_with("sha256:"));
    assert_eq!(plan["summary"], json!({ "create": 1 }));
    let step = &plan["steps"][0];
    assert_eq!(
        keys(step),
        [
            "action",
            "apiVersion",
            "batch",
            "diff",
            "group",
            "kind",
            "name",
            "namespace",
            "origin",
            "reason"
        ]
    );
    assert_eq!(step["action"], "create");
    assert_eq!(step["namespace"], ns.name.as_str());

    let report = ns.sync(&source).ok().json();
    assert_eq!(report["kind"], "SyncReport");
    for key in keys(&plan) {
        assert!(report.get(&key).is_some(), "{key}");
    }
    for key in ["installed", "targets", "unhealthy", "trouble"] {
        assert_eq!(report[key], json!([]), "{key}");
    }
    let step = &report["steps"][0];
    assert_eq!(
        (&step["outcome"], &step["action"]),
        (&json!("created"), &json!("create"))
    );
    assert_eq!(report["summary"], json!({ "created": 1 }));
    // The set's id is what kubectl would compute, and members carry it.
    let live = ns.get("configmaps", "a");
    let label = &live["metadata"]["labels"]["applyset.kubernetes.io/part-of"];
    assert_eq!(*label, report["sync"]["applySet"]);
}

fn keys(object: &Value) -> Vec<String> {
    let keys: BTreeSet<&String> = object.as_object().unwrap().keys().collect();
    keys.into_iter().cloned().collect()
}

#[test]
fn every_step_names_its_place_in_the_source() {
    let ns = Namespace::new("origin");
    let text = "# two of them\napiVersion: v1\nkind: ConfigMap\nmetadata: { name: a }\n---\n\
        apiVersion: v1\nkind: ConfigMap\nmetadata: { name: b }\n";
    let source = Source::new().file("deep/er/two.yaml", text);
    let plan = ns.diff(&source).code(1);
    for (name, line) in [("a", 2), ("b", 6)] {
        let origin = plan.step("ConfigMap", name)["origin"].clone();
        assert_eq!(origin["file"], "deep/er/two.yaml", "{origin}");
        assert_eq!(origin["line"], line, "{origin}");
    }
    let shown = ns.text("diff", &source).code(1).stdout;
    assert!(shown.contains("deep/er/two.yaml:6:1"), "{shown}");
}

#[test]
fn text_shows_what_why_and_the_lines_that_change() {
    let ns = Namespace::new("text");
    let source = Source::new().with(
        "a.yaml",
        &[config_map("a", "before"), config_map("b", "same")],
    );
    ns.sync(&source).ok();
    source.write(
        "a.yaml",
        &[config_map("a", "after"), config_map("b", "same")],
    );
    let shown = ns.text("diff", &source).code(1).stdout;
    for line in [
        "configure",
        "the manifest has changed",
        "-  key: before",
        "+  key: after",
        "1 to configure, 1 unchanged",
    ] {
        assert!(shown.contains(line), "no {line:?}");
    }
    // What the server fills in, and our own bookkeeping, are no news.
    for noise in [
        "managedFields",
        "resourceVersion",
        "applied-digest",
        "creationTimestamp",
        "uid:",
    ] {
        assert!(!shown.contains(noise), "{noise}");
    }
    assert!(
        !shown.contains("ConfigMap b"),
        "unchanged is shown only with --all"
    );
    assert!(!shown.contains('\u{1b}'), "colour without a terminal");
    let all = ns.text("diff", &source).arg("--all").code(1).stdout;
    assert!(all.contains(&format!("{}/b", ns.name)), "{all}");
}

#[test]
fn the_service_of_a_target_is_planned_before_the_target_exists() {
    let ns = Namespace::new("children");
    let source = Source::new().with("pet.yaml", &[deployment("pet"), own_agent("pet")]);
    let plan = ns.diff(&source).code(1);
    assert_eq!(plan.action("ClosureJVMTarget", "pet"), "create");
    let service = plan.step("Service", "pet-coverage");
    assert_eq!(service["action"], "create");
    let diff = service["diff"].as_str().unwrap();
    for line in ["+  clusterIP: None", "+    port: 6300", "+    app: pet"] {
        assert!(diff.contains(line), "no {line:?} in {diff}");
    }
    // It is planned from the Target's own place.
    assert_eq!(service["origin"]["file"], "pet.yaml");
    assert!(service["batch"].as_u64() > plan.step("ClosureJVMTarget", "pet")["batch"].as_u64());
}

#[test]
fn objects_of_kinds_that_the_plan_itself_brings_are_planned_without_an_error() {
    let ns = Namespace::new("crd-plan");
    let group = format!("{}.example", unique("plan"));
    let cup = json!({ "apiVersion": format!("{group}/v1"), "kind": "Cup", "metadata": { "name": "cup" }, "spec": { "size": 3 } });
    let source = Source::new().with("a.yaml", &[cup, definition(&group, "Cup")]);
    let plan = ns.diff(&source).code(1);
    assert_eq!(plan.json()["diagnostics"], json!([]));
    let step = plan.step("Cup", "cup");
    assert_eq!(step["action"], "create");
    assert_eq!(step["namespace"], ns.name.as_str());
    assert!(step["reason"].as_str().unwrap().contains("CRD"), "{step}");
    assert!(
        step["diff"].as_str().unwrap().contains("+  size: 3"),
        "{step}"
    );
}

#[test]
fn a_namespace_that_nobody_makes_is_said_before_anything_is_tried() {
    let ns = Namespace::new("nowhere");
    let missing = Namespace::unborn("missing");
    let source = Source::new().with("a.yaml", &[config_map("a", "").within(&missing.name)]);
    let plan = ns.diff(&source).code(2);
    assert_eq!(plan.action("ConfigMap", "a"), "refuse");
    let reason = format!("namespace {} does not exist", missing.name);
    assert!(plan.reason("ConfigMap", "a").contains(&reason));

    source.write("namespace.yaml", &[namespace(&missing.name)]);
    let plan = ns.diff(&source).code(1);
    assert_eq!(plan.action("ConfigMap", "a"), "create");
    assert!(
        plan.reason("ConfigMap", "a")
            .contains(&format!("namespace {}", missing.name))
    );
    ns.sync(&source).ok();
    assert!(missing.exists("configmaps", "a"));
}

#[test]
fn what_the_server_would_refuse_is_refused_in_the_plan() {
    let ns = Namespace::new("invalid");
    let source = Source::new()
        .with("bad.yaml", &[deployment("bad").set("/spec/replicas", -1)])
        .with("good.yaml", &[config_map("good", "")]);
    let plan = ns.diff(&source).code(2);
    assert_eq!(plan.action("Deployment", "bad"), "refuse");
    assert!(plan.reason("Deployment", "bad").contains("spec.replicas"));
    let report = ns.sync(&source).code(2);
    assert_eq!(report.outcome("Deployment", "bad"), "failed");
    assert!(
        report
            .message("Deployment", "bad")
            .contains("spec.replicas")
    );
    assert_eq!(report.outcome("ConfigMap", "good"), "created");
}
