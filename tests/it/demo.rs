//! `covergence demo`: the story is played whole, checks itself on the way, and leaves nothing behind.

use std::fs;
use std::path::Path;

use serde_json::json;

use crate::support::api::{Api, path};
use crate::support::covergence::Run;
use crate::support::lab::{api, eventually};
use crate::support::started::Started;

fn is_empty(folder: &Path) -> bool {
    fs::read_dir(folder).unwrap().next().is_none()
}

/// What every telling has to show, whatever it is played on.
fn tells_the_story(text: &str) {
    for wanted in [
        "8 to create",
        "8 created",
        "pet: pet-coverage.",
        "stock: stock-coverage.",
        "the Service is back, after",
        "the greeting is back, after",
        "nothing was pruned: 4 of 8 objects would go, and the prune limit allows 2",
        "its ConfigMap is pruned",
        "13 things were checked on the way",
    ] {
        assert!(text.contains(wanted), "{wanted:?} was not told");
    }
}

#[test]
fn on_the_sandbox_it_shows_covered_replicas_and_leaves_nothing_behind() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().to_str().unwrap();
    let output = Run::new(&["demo"]).env("TMPDIR", folder).ok();
    tells_the_story(&output.stdout);
    // Its pods run, and both Deployments have the agent in all of them.
    assert!(output.stdout.contains("2/2"), "pet");
    assert!(output.stdout.contains("3/3"), "stock");
    assert!(is_empty(temporary.path()));
}

#[test]
fn on_a_cluster_it_plays_in_a_namespace_that_goes_with_it() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().to_str().unwrap();
    let output = Run::on_lab(&["demo", "--cluster"])
        .env("TMPDIR", folder)
        .ok();
    tells_the_story(&output.stdout);
    let words = output.stdout.split_whitespace();
    let namespace = words
        .into_iter()
        .find(|word| word.starts_with("covergence-demo-"));
    let namespace = path("namespaces", None, namespace);
    eventually("its namespace is gone", || {
        api().find(&namespace).is_none().then_some(())
    });
    assert!(is_empty(temporary.path()));
}

#[test]
fn kept_it_goes_on_to_work_until_it_is_told_to_end() {
    let temporary = tempfile::tempdir().unwrap();
    let folder = temporary.path().to_str().unwrap();
    let mut demo = Started::new(Run::new(&["demo", "--keep"]).env("TMPDIR", folder));
    let line = demo.until("export KUBECONFIG=");
    let (_, kubeconfig) = line.split_once('=').unwrap();
    let api = Api::connect(kubeconfig.as_ref());
    let map = path("configmaps", Some("shop"), Some("pet"));
    api.edit(&map, &json!({ "data": { "greeting": "Open all night" } }));
    eventually("the greeting is back", || {
        let greeting = api.get(&map)["data"]["greeting"].clone();
        (greeting == "Welcome to the pet shop").then_some(())
    });
    demo.signal("TERM");
    let (status, lines) = demo.wait();
    assert!(status.success(), "{status}");
    tells_the_story(&lines.join("\n"));
    assert!(is_empty(temporary.path()));
}
