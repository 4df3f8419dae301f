//! What pruning never does, and what it then says.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, config_map, secret, service};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

/// Three members, of which `gone` has left the source since.
fn left(prefix: &str) -> (Namespace, Source) {
    let ns = Namespace::new(prefix);
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "1"), config_map("b", "1")])
        .with("gone.yaml", &[config_map("gone", "1")]);
    ns.sync(&source).ok();
    assert!(ns.exists("configmaps", "gone"));
    source.remove("gone.yaml");
    (ns, source)
}

#[test]
fn without_prune_nothing_is_deleted() {
    let (ns, source) = left("off");
    let report = ns.sync(&source).ok();
    assert_eq!(report.outcome("ConfigMap", "gone"), "kept");
    assert!(report.message("ConfigMap", "gone").contains("--prune"));
    assert!(ns.exists("configmaps", "gone"));
    // It is not forgotten either.
    assert_eq!(
        ns.sync(&source)
            .arg("--prune")
            .ok()
            .outcome("ConfigMap", "gone"),
        "deleted"
    );
    assert!(!ns.exists("configmaps", "gone"));
    assert!(ns.exists("configmaps", "a"));
}

#[test]
fn a_dry_run_of_a_prune_deletes_nothing_and_shows_what_would_go() {
    let (ns, source) = left("dry");
    for command in ["diff", "sync"] {
        let mut run = ns.run(command, &source).arg("--prune");
        if command == "sync" {
            run = run.arg("--dry-run");
        }
        let plan = run.code(1);
        let step = plan.step("ConfigMap", "gone");
        assert_eq!(step["action"], "delete");
        assert!(
            step["diff"].as_str().unwrap().contains("-  name: gone"),
            "{step}"
        );
    }
    assert!(ns.exists("configmaps", "gone"));
}

#[test]
fn c30_a_broken_file_prunes_nothing() {
    let (ns, source) = left("partial");
    source.write_text("broken.yaml", "apiVersion: v1\nkind: [");
    let report = ns.sync(&source).arg("--prune").code(2);
    assert_eq!(report.outcome("ConfigMap", "gone"), "refused");
    let why = report.json()["pruneRefused"].clone();
    assert!(why.as_str().unwrap().contains("completely"), "{why}");
    assert!(ns.exists("configmaps", "gone"));
    // The rest is applied all the same.
    source.write("a.yaml", &[config_map("a", "2"), config_map("b", "1")]);
    ns.sync(&source).arg("--prune").code(2);
    assert_eq!(ns.get("configmaps", "a")["data"]["key"], "2");

    source.remove("broken.yaml");
    ns.sync(&source).arg("--prune").ok();
    assert!(!ns.exists("configmaps", "gone"));
}

#[test]
fn an_object_of_an_unknown_kind_prunes_nothing() {
    let (ns, source) = left("unknown");
    let stranger = json!({ "apiVersion": "nowhere.example/v1", "kind": "Stranger", "metadata": { "name": "s" } });
    source.write("stranger.yaml", &[stranger]);
    let report = ns.sync(&source).arg("--prune").code(2);
    assert_eq!(report.outcome("ConfigMap", "gone"), "refused");
    assert!(ns.exists("configmaps", "gone"));
}

#[test]
fn c30_an_empty_source_prunes_only_when_that_is_meant() {
    let (ns, source) = left("empty");
    source.remove("a.yaml");
    source.write_text("README.md", "moved away");
    let report = ns.sync(&source).arg("--prune").code(2);
    let why = report.json()["pruneRefused"].clone();
    assert!(why.as_str().unwrap().contains("--allow-empty"), "{why}");
    assert_eq!(ns.members(), ["a", "b", "gone"]);

    let report = ns.sync(&source).args(&["--prune", "--allow-empty"]).ok();
    assert_eq!(report.count("deleted"), 3);
    assert_eq!(ns.members(), [""; 0]);
}

#[test]
fn the_prune_limit_is_a_count() {
    let (ns, source) = left("count");
    source.write("a.yaml", &[config_map("a", "1")]);
    let report = ns
        .sync(&source)
        .args(&["--prune", "--prune-limit", "1"])
        .code(2);
    let why = report.json()["pruneRefused"].clone();
    assert!(why.as_str().unwrap().contains("2 of 3"), "{why}");
    assert_eq!(ns.members(), ["a", "b", "gone"]);
    ns.sync(&source)
        .args(&["--prune", "--prune-limit", "2"])
        .ok();
    assert_eq!(ns.members(), ["a"]);
}

#[test]
fn the_prune_limit_is_a_percentage() {
    let (ns, source) = left("percent");
    // One of three is more than 33 % and less than 34 %.
    ns.sync(&source)
        .args(&["--prune", "--prune-limit", "33%"])
        .code(2);
    assert_eq!(ns.members(), ["a", "b", "gone"]);
    ns.sync(&source)
        .args(&["--prune", "--prune-limit", "34%"])
        .ok();
    assert_eq!(ns.members(), ["a", "b"]);
}

#[test]
fn what_another_controller_has_taken_over_is_not_deleted() {
    let (ns, source) = left("controlled");
    let owner = ns.create("configmaps", &config_map("owner", ""));
    let reference = json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"], "controller": true }]);
    ns.edit(
        "configmaps",
        "gone",
        &json!({ "metadata": { "ownerReferences": reference } }),
    );
    let report = ns.sync(&source).arg("--prune").code(2);
    assert_eq!(report.outcome("ConfigMap", "gone"), "refused");
    assert!(
        report
            .message("ConfigMap", "gone")
            .contains("ConfigMap owner")
    );
    assert!(ns.exists("configmaps", "gone"));
}

#[test]
fn what_people_have_marked_to_be_kept_is_kept() {
    let ns = Namespace::new("keep");
    let marks = [
        ("flux", "kustomize.toolkit.fluxcd.io/prune", "disabled"),
        (
            "argo",
            "argocd.argoproj.io/sync-options",
            "Validate=false,Prune=false",
        ),
        (
            "argo-delete",
            "argocd.argoproj.io/sync-options",
            "Delete=false",
        ),
        (
            "argo-confirm",
            "argocd.argoproj.io/sync-options",
            "Prune=confirm",
        ),
        (
            "argo-extra",
            "argocd.argoproj.io/compare-options",
            "IgnoreExtraneous",
        ),
        ("helm", "helm.sh/resource-policy", "keep"),
        ("cli-utils", "cli-utils.sigs.k8s.io/on-remove", "keep"),
        (
            "detach",
            "client.lifecycle.config.k8s.io/deletion",
            "detach",
        ),
    ];
    let objects: Vec<_> = marks
        .iter()
        .map(|(name, key, value)| config_map(name, "").annotated(key, value))
        .collect();
    let source = Source::new()
        .with("kept.yaml", &objects)
        .with("plain.yaml", &[config_map("plain", "")])
        .with("rest.yaml", &[config_map("rest", "")]);
    ns.sync(&source).ok();
    source.remove("kept.yaml");
    source.remove("plain.yaml");
    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(report.outcome("ConfigMap", "plain"), "deleted");
    for (name, key, _) in marks {
        assert_eq!(report.outcome("ConfigMap", name), "kept");
        assert!(report.message("ConfigMap", name).contains(key));
        assert!(ns.exists("configmaps", name), "{name}");
    }
}

#[test]
fn what_was_unlabelled_by_hand_is_not_deleted() {
    let (ns, source) = left("unlabelled");
    ns.edit(
        "configmaps",
        "gone",
        &json!({ "metadata": { "labels": { "applyset.kubernetes.io/part-of": null } } }),
    );
    let report = ns.sync(&source).arg("--prune").ok();
    assert!(report.find_step("ConfigMap", "gone").is_none());
    assert!(ns.exists("configmaps", "gone"));
}

#[test]
fn what_was_never_ours_is_not_deleted() {
    let (ns, source) = left("strangers");
    ns.create("configmaps", &config_map("stranger", ""));
    ns.sync(&source).arg("--prune").ok();
    assert!(ns.exists("configmaps", "stranger"));
    assert!(!ns.exists("configmaps", "gone"));
}

#[test]
fn nothing_is_pruned_when_an_apply_has_failed() {
    let (ns, source) = left("failed");
    // An immutable one cannot be changed.
    let fixed = |value: &str| config_map("fixed", value).set("/immutable", true);
    source.write("fixed.yaml", &[fixed("1")]);
    ns.sync(&source).ok();
    source.write("fixed.yaml", &[fixed("2")]);
    let report = ns.sync(&source).arg("--prune").code(2);
    assert_eq!(report.outcome("ConfigMap", "fixed"), "failed");
    assert_eq!(report.outcome("ConfigMap", "gone"), "skipped");
    assert!(ns.exists("configmaps", "gone"));
    assert_eq!(ns.get("configmaps", "fixed")["data"]["key"], "1");
}

/// `kubectl get -o yaml`, another name, `kubectl create`: the label comes along.
#[test]
fn what_somebody_has_copied_from_ours_is_not_deleted() {
    let (ns, source) = left("copied");
    for copied in ["labels", "annotations"] {
        let mut copy = ns.get("configmaps", "a");
        let metadata = copy["metadata"].as_object_mut().unwrap();
        metadata.retain(|key, _| key == "labels" || key == copied);
        metadata.insert("name".into(), json!(format!("copy-of-{copied}")));
        ns.create("configmaps", &copy);
    }
    let report = ns.sync(&source).arg("--prune").ok();
    assert_eq!(report.outcome("ConfigMap", "gone"), "deleted");
    assert_eq!(
        ns.members(),
        ["a", "b", "copy-of-annotations", "copy-of-labels"]
    );
}

/// The endpoints controller copies a Service's labels.
#[test]
fn what_a_controller_has_copied_our_label_to_is_not_deleted() {
    let ns = Namespace::new("endpoints");
    let outside = json!({
        "apiVersion": "v1", "kind": "Endpoints", "metadata": { "name": "outside" },
        "subsets": [{ "addresses": [{ "ip": "192.0.2.1" }], "ports": [{ "port": 443, "protocol": "TCP" }] }],
    });
    let source = Source::new().with("a.yaml", &[service("web"), outside]);
    let set = ns.sync(&source).ok().json()["sync"]["applySet"].clone();
    let made = eventually("Endpoints of the Service", || ns.find("endpoints", "web"));
    let label = &made["metadata"]["labels"]["applyset.kubernetes.io/part-of"];
    assert_eq!(*label, set, "the controller does not copy labels any more");
    ns.sync(&source).arg("--prune").ok().nothing_to_do();
    let after = ns.get("endpoints", "web");
    assert_eq!(made["metadata"]["uid"], after["metadata"]["uid"]);
}

/// Controllers write the status of workloads all the time.
#[test]
fn what_changes_while_it_is_deleted_goes_all_the_same() {
    let (ns, source) = left("busy");
    let stop = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            let path = ns.path("configmaps", "gone");
            for tick in 0.. {
                let patch = json!({ "metadata": { "annotations": { "tick": tick.to_string() } } });
                let answer = api().send("PATCH", &path, "application/merge-patch+json", &patch);
                if answer.is_err() || stop.load(Ordering::Relaxed) {
                    return;
                }
                thread::sleep(Duration::from_millis(50));
            }
        });
        let report = ns.sync(&source).arg("--prune").run();
        stop.store(true, Ordering::Relaxed);
        assert_eq!(report.outcome("ConfigMap", "gone"), "deleted");
    });
    assert!(!ns.exists("configmaps", "gone"));
}

#[test]
fn kinds_that_have_left_the_source_completely_are_still_found() {
    let ns = Namespace::new("kinds");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "")])
        .with("b.yaml", &[secret("b", "x")]);
    ns.sync(&source).ok();
    source.remove("b.yaml");
    assert_eq!(
        ns.sync(&source).arg("--prune").ok().outcome("Secret", "b"),
        "deleted"
    );
    assert!(!ns.exists("secrets", "b"));
    ns.sync(&source).arg("--prune").ok().nothing_to_do();
}
