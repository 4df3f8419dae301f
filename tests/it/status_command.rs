//! `covergence status`: how Syncs and Targets are, and why some are not ready.

use serde_json::{Value, json};

use crate::support::covergence::Run;
use crate::support::lab::{OwnLab, api, eventually};
use crate::support::manifest::{Change, config_map, deployment, own_agent};
use crate::support::namespace::{Namespace, unique};
use crate::support::source::Source;

fn status(ns: &Namespace, args: &[&str]) -> Run {
    Run::on_lab(&["status", "-n", &ns.name]).args(args)
}

/// A Sync for a controller, as somebody applies it.
fn sync(name: &str, url: &str) -> Value {
    json!({
        "apiVersion": "closurejvm.io/v1alpha1", "kind": "Sync", "metadata": { "name": name },
        "spec": { "source": { "git": { "url": url, "ref": "main" } } },
    })
}

/// A status as a controller writes it.
fn reported(status: &str, message: &str) -> Value {
    json!({ "status": {
        "observedGeneration": 1,
        "lastAppliedRevision": "main@sha1:0123456789abcdef0123456789abcdef01234567",
        "objects": { "total": 12, "failed": 1 },
        "conditions": [{
            "type": "Ready", "status": status, "reason": "Told", "message": message,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }],
    } })
}

/// The text with the names and times of this run taken out; widths stay.
fn snapshot(name: &str, text: &str, ns: &Namespace) {
    let stable = text.replace(&ns.name, &"n".repeat(ns.name.len()));
    insta::with_settings!({ filters => vec![
        (r"\d\ds |\ds  ", "NNs "),
        (r"sha256:[0-9a-f]{8} ", "sha256:dddddddd "),
    ] }, { insta::assert_snapshot!(name, stable) });
}

#[test]
fn a_set_that_is_ready_and_then_not() {
    let ns = Namespace::new("status");
    let source = Source::new().with("pet.yaml", &[deployment("pet"), own_agent("pet")]);
    ns.sync(&source).ok();
    let output = status(&ns, &[]).code(1);
    snapshot("status_not_ready", &output.stdout, &ns);

    ns.run_pods("pet", 2);
    eventually("two endpoints", || {
        ns.sync(&source).ok();
        (ns.status("pet")["endpoints"]["ready"] == 2).then_some(())
    });
    let output = status(&ns, &[]).ok();
    snapshot("status_ready", &output.stdout, &ns);
}

#[test]
fn a_set_that_failed_says_why() {
    let ns = Namespace::new("failed");
    let bad = config_map("bad", "1").set("/data/key", json!({ "a": 1 }));
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), bad]);
    ns.sync(&source).code(2);
    let report = status(&ns, &["-o", "json"]).code(1).json();
    assert_eq!(report["allReady"], false);
    let sync = &report["syncs"][0];
    assert_eq!(sync["ready"], "False", "{sync}");
    assert_eq!(sync["source"]["kind"], "one-shot");
    let text = status(&ns, &[]).code(1).stdout;
    let first_words: String = sync["message"].as_str().unwrap().chars().take(20).collect();
    assert!(text.contains(&first_words), "{text}");
    assert!(text.contains("1 Sync, 1 not ready; 0 Targets"), "{text}");
}

#[test]
fn syncs_of_a_controller() {
    let ns = Namespace::new("syncs");
    for name in ["broken", "fresh", "paused", "ready"] {
        let secret = "https://user:hunter2@git.example/shop.git";
        ns.create("syncs", &sync(name, secret));
    }
    ns.edit("syncs", "paused", &json!({ "spec": { "suspend": true } }));
    let why = "clone https://git.example/shop.git: the server's certificate is not valid: it was issued for another \
               name, and nobody has said that it is to be trusted all the same\u{1b}[2J";
    ns.edit("syncs:status", "broken", &reported("False", why));
    ns.edit("syncs:status", "ready", &reported("True", "applied"));
    let output = status(&ns, &[]).code(1);
    output.hides("hunter2");
    output.hides("\u{1b}");
    snapshot("status_syncs", &output.stdout, &ns);
    let report = status(&ns, &["-o", "json"]).code(1);
    report.hides("hunter2");
    assert_eq!(
        report.json()["syncs"][3]["source"],
        json!({ "kind": "git", "location": "https://user:***@git.example/shop.git", "ref": "main" })
    );
    // What is suspended is meant to be, and no problem.
    status(&ns, &["paused", "ready"]).ok();
}

#[test]
fn a_sync_that_is_named_comes_with_its_targets_wherever_they_are() {
    let ns = Namespace::new("named");
    let other = Namespace::new("elsewhere");
    let source = Source::new().with("a.yaml", &[own_agent("pet").within(&other.name)]);
    ns.sync_as("mine", &source).ok();
    other.create("closurejvmtargets", &own_agent("stranger"));
    let report = status(&ns, &["mine", "-o", "json"]).code(1).json();
    let targets = report["targets"].as_array().unwrap();
    assert_eq!(targets.len(), 1, "{report}");
    assert_eq!(targets[0]["name"], "pet");
    assert_eq!(targets[0]["reason"], "DeploymentNotFound");
    let output = status(&ns, &["mine", "yours"]).code(2);
    assert!(output.stderr.contains("there is no Sync"), "{output:?}");
}

#[test]
fn who_may_see_one_kind_is_told_what_is_missing() {
    let ns = Namespace::new("half");
    let user = unique("half");
    ns.allow(&user, &["closurejvm.io/closurejvmtargets"]);
    let seen = eventually("the role counts", || {
        let output = status(&ns, &["--as", &user]).run();
        (output.code == Some(0)).then_some(output.stdout)
    });
    assert!(
        seen.contains("not seen: ClosureJVMCampaign, Sync (not allowed)"),
        "{seen}"
    );
    let report = status(&ns, &["--as", &user, "-o", "json"]).ok().json();
    assert_eq!(report["unseen"][0]["kind"], "ClosureJVMCampaign");
    assert_eq!(report["unseen"][1]["kind"], "Sync");
    // All namespaces are not his to list.
    let output = Run::on_lab(&["status", "-A", "--as", &user]).code(2);
    assert!(output.stderr.contains("not allowed"), "{output:?}");
}

#[test]
fn an_empty_namespace_has_no_problem() {
    let ns = Namespace::new("empty");
    let output = status(&ns, &[]).ok();
    assert!(
        output
            .stdout
            .starts_with("no Sync, no Target and no Campaign"),
        "{output:?}"
    );
    let report = status(&ns, &["-o", "json"]).ok().json();
    assert_eq!(
        (&report["syncs"], &report["targets"]),
        (&json!([]), &json!([]))
    );
}

#[test]
fn all_namespaces_are_seen_at_once() {
    let spaces = [Namespace::new("all"), Namespace::new("all")];
    for ns in &spaces {
        ns.create("syncs", &sync("it", "https://git.example/shop.git"));
    }
    let report = Run::on_lab(&["status", "-A", "-o", "json"]).run().json();
    let syncs = report["syncs"].as_array().unwrap();
    for ns in &spaces {
        assert!(
            syncs
                .iter()
                .any(|sync| sync["namespace"] == ns.name.as_str())
        );
    }
}

#[test]
fn watching_tells_only_what_changes() {
    let ns = Namespace::new("watch");
    ns.create("syncs", &sync("it", "https://git.example/shop.git"));
    ns.create("syncs", &sync("other", "https://git.example/shop.git"));
    let text = status(&ns, &["-w"]).follow();
    let json = status(&ns, &["-w", "-o", "json"]).follow();
    text.until("2 Syncs, 2 not ready");
    json.until("Unknown");
    ns.edit("syncs:status", "it", &reported("False", "it is broken"));
    let line = text.until("Sync ");
    let told = format!(
        "Sync {}/it  False  main@sha1:01234567  12, 1 failed  it is broken",
        ns.name
    );
    assert!(line.ends_with(&told), "{line}");
    let report: Value = serde_json::from_str(&json.until("it is broken")).unwrap();
    assert_eq!(report["syncs"][1]["name"], "other");
    api().delete(&ns.path("syncs", "it"));
    assert!(text.until("Sync ").ends_with("/it  gone"));
}

#[test]
fn without_our_kinds_it_says_how_to_install_them() {
    let lab = OwnLab::new();
    for command in ["status", "tree"] {
        let output = Run::new(&[command]).on(lab.dir()).code(2);
        assert!(
            output
                .stderr
                .contains("covergence crd | kubectl apply --server-side -f -"),
            "{output:?}"
        );
    }
}
