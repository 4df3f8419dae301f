//! Fields that somebody else owns.

use serde_json::json;

use crate::support::kubectl::kubectl;
use crate::support::lab::api;
use crate::support::manifest::{Change, config_map, deployment};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

#[test]
fn a_field_of_another_manager_is_named_and_refused_until_it_is_taken_by_force() {
    let ns = Namespace::new("conflict");
    let theirs = config_map("a", "theirs");
    api().apply(&ns.path("configmaps", "a"), "other-tool", &theirs);
    let source = Source::new().with("a.yaml", &[config_map("a", "ours")]);

    let plan = ns.diff(&source).code(2);
    let step = plan.step("ConfigMap", "a");
    assert_eq!(step["action"], "refuse");
    assert_eq!(
        step["conflicts"],
        json!([{ "manager": "other-tool", "field": ".data.key" }])
    );
    // What it would look like is shown all the same.
    assert!(
        step["diff"].as_str().unwrap().contains("+  key: ours"),
        "{step}"
    );
    let shown = ns.text("diff", &source).code(2).stdout;
    assert!(shown.contains("other-tool owns .data.key"), "{shown}");

    let report = ns.sync(&source).code(2);
    assert_eq!(report.outcome("ConfigMap", "a"), "failed");
    let message = report.message("ConfigMap", "a");
    assert!(message.contains("other-tool owns .data.key") && message.contains("--force-conflicts"));
    assert_eq!(ns.get("configmaps", "a")["data"]["key"], "theirs");

    ns.diff(&source).arg("--force-conflicts").code(1);
    assert_eq!(ns.get("configmaps", "a")["data"]["key"], "theirs");
    let report = ns.sync(&source).arg("--force-conflicts").ok();
    assert_eq!(report.outcome("ConfigMap", "a"), "configured");
    assert_eq!(ns.get("configmaps", "a")["data"]["key"], "ours");
    ns.sync(&source).ok().nothing_to_do();
}

#[test]
fn what_another_tool_applies_over_ours_is_a_conflict_and_what_people_edit_is_drift() {
    let ns = Namespace::new("over");
    let source = Source::new().with(
        "a.yaml",
        &[config_map("applied", "ours"), config_map("edited", "ours")],
    );
    ns.sync(&source).ok();
    api().apply(
        &ns.path("configmaps", "applied"),
        "other-tool",
        &config_map("applied", "theirs"),
    );
    ns.edit(
        "configmaps",
        "edited",
        &json!({ "data": { "key": "theirs" } }),
    );

    let plan = ns.diff(&source).code(2);
    let applied = plan.step("ConfigMap", "applied");
    assert_eq!(applied["action"], "refuse");
    assert_eq!(
        applied["conflicts"],
        json!([{ "manager": "other-tool", "field": ".data.key" }])
    );
    assert_eq!(plan.action("ConfigMap", "edited"), "configure");
    assert!(plan.reason("ConfigMap", "edited").contains("kubectl-edit"));

    let report = ns.sync(&source).code(2);
    assert_eq!(report.outcome("ConfigMap", "applied"), "refused");
    assert_eq!(report.outcome("ConfigMap", "edited"), "configured");
    assert_eq!(ns.get("configmaps", "applied")["data"]["key"], "theirs");
    assert_eq!(ns.get("configmaps", "edited")["data"]["key"], "ours");
    ns.sync(&source).arg("--force-conflicts").ok();
    assert_eq!(ns.get("configmaps", "applied")["data"]["key"], "ours");
}

#[test]
fn another_owner_of_the_same_value_is_no_conflict() {
    let ns = Namespace::new("shared");
    api().apply(
        &ns.path("configmaps", "a"),
        "other-tool",
        &config_map("a", "same"),
    );
    let source = Source::new().with("a.yaml", &[config_map("a", "same")]);
    assert_eq!(
        ns.sync(&source).ok().outcome("ConfigMap", "a"),
        "configured"
    );
    ns.sync(&source).ok().nothing_to_do();
}

#[test]
fn what_kubectl_applied_before_is_adopted_when_it_says_the_same() {
    let ns = Namespace::new("adopt");
    let object = deployment("pet").within(&ns.name);
    kubectl(&["apply", "-f", "-"], std::slice::from_ref(&object));
    let before = ns.get("deployments", "pet");
    let source = Source::new().with("a.yaml", &[object]);
    let plan = ns.diff(&source).code(1);
    assert_eq!(plan.action("Deployment", "pet"), "configure");
    assert!(plan.reason("Deployment", "pet").contains("adopted"));
    assert_eq!(
        ns.sync(&source).ok().outcome("Deployment", "pet"),
        "configured"
    );
    let after = ns.get("deployments", "pet");
    assert_eq!(before["metadata"]["uid"], after["metadata"]["uid"]);
    // Nothing rolls out anew. (The generation does count: an annotation is enough for a Deployment's.)
    assert_eq!(before["spec"], after["spec"]);
    ns.sync(&source).ok().nothing_to_do();
}

#[test]
fn what_somebody_else_adds_stays_his() {
    let ns = Namespace::new("adds");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    ns.sync(&source).ok();
    ns.edit(
        "configmaps",
        "a",
        &json!({ "data": { "extra": "theirs" }, "metadata": { "labels": { "team": "web" } } }),
    );
    ns.diff(&source).ok();
    source.write("a.yaml", &[config_map("a", "2")]);
    ns.sync(&source).ok();
    let live = ns.get("configmaps", "a");
    assert_eq!(live["data"], json!({ "key": "2", "extra": "theirs" }));
    assert_eq!(live["metadata"]["labels"]["team"], "web");
    // What leaves the manifest leaves the object.
    source.write(
        "a.yaml",
        &[config_map("a", "2").set("/data", json!({ "other": "3" }))],
    );
    ns.sync(&source).ok();
    assert_eq!(
        ns.get("configmaps", "a")["data"],
        json!({ "other": "3", "extra": "theirs" })
    );
}
