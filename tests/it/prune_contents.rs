//! What is never lost by a prune of something else: what a namespace holds, and an object's other name.

use serde_json::{Value, json};

use crate::support::lab::api;
use crate::support::manifest::{Change, config_map, namespace};
use crate::support::namespace::{Namespace, unique};
use crate::support::source::Source;

/// A namespace of the source with a ConfigMap `b` in it; the namespace's own manifest is then taken out.
fn left_behind(b: &Value) -> (Namespace, Namespace, Source) {
    let (ns, other) = (Namespace::new("home"), Namespace::unborn("left"));
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "")])
        .with("namespace.yaml", &[namespace(&other.name)])
        .with("b.yaml", &[b.clone().within(&other.name)]);
    ns.sync(&source).ok();
    source.remove("namespace.yaml");
    (ns, other, source)
}

fn refused_for(ns: &Namespace, other: &Namespace, source: &Source, held: &str) {
    let report = ns.sync(source).arg("--prune").code(2);
    assert_eq!(report.outcome("Namespace", &other.name), "refused");
    let message = report.message("Namespace", &other.name);
    assert!(message.contains(held), "{message}");
    let live = api().get(&format!("/api/v1/namespaces/{}", other.name));
    assert!(live["metadata"].get("deletionTimestamp").is_none());
}

#[test]
fn a_namespace_that_holds_what_the_source_still_asks_for_is_not_pruned() {
    let (ns, other, source) = left_behind(&config_map("b", ""));
    refused_for(&ns, &other, &source, "ConfigMap b");
    assert!(other.exists("configmaps", "b"));
}

#[test]
fn a_namespace_that_holds_what_is_marked_to_be_kept_is_not_pruned() {
    let kept = config_map("b", "").annotated("helm.sh/resource-policy", "keep");
    let (ns, other, source) = left_behind(&kept);
    source.remove("b.yaml");
    refused_for(&ns, &other, &source, "ConfigMap b");
    assert!(other.exists("configmaps", "b"));
}

/// A kind that the preferred version of its group does not have: CronJob in v1.20.
#[test]
fn a_namespace_that_holds_a_kind_of_another_version_is_not_pruned() {
    let (ns, other, source) = left_behind(&config_map("b", ""));
    source.remove("b.yaml");
    let versions = ["batch/v1", "batch/v1beta1"];
    let serves = |version: &&&str| {
        let kinds = api().get(&format!("/apis/{version}"))["resources"].clone();
        let mut kinds = kinds.as_array().into_iter().flatten();
        kinds.any(|kind| kind["name"] == "cronjobs")
    };
    let version = versions.iter().find(serves).unwrap();
    let path = format!("/apis/{version}/namespaces/{}/cronjobs", other.name);
    let pod = json!({ "restartPolicy": "Never", "containers": [{ "name": "a", "image": "a" }] });
    let cron = json!({
        "apiVersion": version, "kind": "CronJob", "metadata": { "name": "nightly" },
        "spec": { "schedule": "0 0 1 1 *", "jobTemplate": { "spec": { "template": { "spec": pod } } } },
    });
    api().create(&path, &cron);
    refused_for(&ns, &other, &source, "CronJob nightly");
}

/// As when `extensions/v1beta1` is replaced by `networking.k8s.io/v1` in a manifest.
#[test]
fn an_object_that_is_served_under_two_groups_survives_the_change_of_its_api_version() {
    let groups = ["extensions/v1beta1", "networking.k8s.io/v1beta1"];
    if groups
        .iter()
        .any(|group| api().find(&format!("/apis/{group}")).is_none())
    {
        return;
    }
    let ns = Namespace::new("twin");
    let service = unique("web");
    let ingress = |api_version: &str| {
        json!({
            "apiVersion": api_version, "kind": "Ingress", "metadata": { "name": "web" },
            "spec": { "backend": { "serviceName": service, "servicePort": 80 } },
        })
    };
    let [old, new] = groups;
    let source = Source::new().with("a.yaml", &[ingress(old)]);
    ns.sync(&source).ok();
    let uid = |group: &str| {
        let path = format!("/apis/{group}/namespaces/{}/ingresses/web", ns.name);
        api().get(&path)["metadata"]["uid"].clone()
    };
    let before = uid(new);
    source.write("a.yaml", &[ingress(new)]);
    for _ in 0..2 {
        let steps = ns.sync(&source).arg("--prune").ok().steps();
        assert!(
            steps.iter().all(|s| s["outcome"] != "deleted"),
            "{steps:#?}"
        );
        assert_eq!(uid(new), before);
    }
}
