//! `covergence tree`: what Syncs have brought about, down to the pods.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::covergence::Run;
use crate::support::lab::eventually;
use crate::support::manifest::{config_map, deployment, own_agent, secret};
use crate::support::namespace::{Namespace, unique};
use crate::support::source::Source;

fn tree(ns: &Namespace, args: &[&str]) -> Run {
    Run::on_lab(&["tree", "-n", &ns.name]).args(args)
}

/// The text with the names of this run taken out.
fn snapshot(name: &str, text: &str, ns: &Namespace, source: &Source) {
    let path = source.path().canonicalize().unwrap();
    let stable = text
        .replace(path.to_str().unwrap(), "/manifests")
        .replace(&ns.name, "shop");
    insta::with_settings!({ filters => vec![
        (r"(pet|pet-coverage)(-[a-z0-9]{8,10})?-[a-z0-9]{5}  ", "$1$2-xxxxx  "),
        (r"(Pod pet|ReplicaSet pet)-[a-z0-9]{8,10}", "$1-hash"),
        (r"sha256:[0-9a-f]{8}", "sha256:dddddddd"),
        // Some servers make one for each family of addresses.
        (r"├─ EndpointSlice pet-coverage-xxxxx  current\n +", ""),
    ] }, { insta::assert_snapshot!(name, stable) });
}

/// The names of a Sync's members.
fn names(sync: &Value) -> BTreeSet<&str> {
    let members = sync["members"].as_array().unwrap().iter();
    members
        .map(|member| member["name"].as_str().unwrap())
        .collect()
}

/// The first node of a kind among some and below them.
fn find<'a>(nodes: &'a Value, kind: &str) -> Option<&'a Value> {
    nodes
        .as_array()?
        .iter()
        .find_map(|node| match &node["kind"] {
            own if own == kind => Some(node),
            _ => find(&node["children"], kind),
        })
}

/// As many children as there will be; slices come a moment after their Service.
fn settled(ns: &Namespace) {
    eventually("slices and pods", || {
        let slices = ns.list("endpointslices").len();
        (slices > 0 && ns.list("pods").len() == 2).then_some(())
    });
}

#[test]
fn from_the_source_to_the_pods() {
    let ns = Namespace::new("tree");
    let source = Source::new().with(
        "pet.yaml",
        &[deployment("pet"), own_agent("pet"), config_map("a", "1")],
    );
    ns.sync(&source).ok();
    settled(&ns);
    let lines = tree(&ns, &[]).code(1).stdout;
    let not_healthy = |kind: &str| {
        let mut lines = lines.lines().filter(|line| line.contains(kind));
        lines.any(|line| line.contains("  in progress, "))
    };
    for kind in ["Deployment ", "ReplicaSet ", "Pod ", "ClosureJVMTarget "] {
        assert!(not_healthy(kind), "{kind}");
    }
    assert!(
        lines.contains("1 Sync; 3 members, 2 not healthy"),
        "{lines}"
    );

    ns.run_pods("pet", 2);
    eventually("two endpoints", || {
        ns.sync(&source).ok();
        (ns.status("pet")["endpoints"]["ready"] == 2).then_some(())
    });
    ns.edit("configmaps", "a", &json!({ "data": { "mine": "1" } }));
    let output = eventually("it is healthy", || {
        let output = tree(&ns, &[]).run();
        (output.code == Some(0)).then_some(output)
    });
    snapshot("tree_healthy", &output.stdout, &ns, &source);

    let report = tree(&ns, &["it", "-o", "json"]).ok().json();
    assert_eq!(report["allHealthy"], true);
    let members = &report["syncs"][0]["members"];
    let deployment = find(members, "Deployment").unwrap();
    assert_eq!(deployment["status"], "Current");
    let set = find(&deployment["children"], "ReplicaSet").unwrap();
    assert_eq!(set["children"].as_array().unwrap().len(), 2, "{set}");
    assert_eq!(
        find(members, "ConfigMap").unwrap()["managers"],
        json!(["kubectl-edit"])
    );
    // Who only reports the status of a Deployment owns nothing of it.
    assert_eq!(deployment.get("managers"), None);
}

#[test]
fn many_healthy_members_are_one_line() {
    let ns = Namespace::new("many");
    let maps: Vec<Value> = (0..12)
        .map(|i| config_map(&format!("map{i}"), "1"))
        .collect();
    let source = Source::new()
        .with("a.yaml", &maps)
        .with("s.yaml", &[secret("s", "hunter2")]);
    ns.sync(&source).ok();
    let output = tree(&ns, &[]).ok();
    snapshot("tree_many", &output.stdout, &ns, &source);
    let all = tree(&ns, &["--all"]).ok();
    assert_eq!(all.stdout.matches("ConfigMap").count(), 12);
    all.hides("hunter2");
    let report = tree(&ns, &["-o", "json"]).ok();
    assert_eq!(
        report.json()["syncs"][0]["members"]
            .as_array()
            .unwrap()
            .len(),
        13
    );
    report.hides("hunter2");
}

#[test]
fn each_sync_has_its_own_members_also_in_other_namespaces() {
    let ns = Namespace::new("two");
    let other = Namespace::new("two-b");
    let mut far = config_map("far", "1");
    far["metadata"]["namespace"] = other.name.as_str().into();
    ns.sync_as(
        "one",
        &Source::new().with("a.yaml", &[config_map("a", "1")]),
    )
    .ok();
    ns.sync_as(
        "two",
        &Source::new().with("b.yaml", &[config_map("b", "1"), far]),
    )
    .ok();
    let report = tree(&ns, &["-o", "json"]).ok().json();
    let syncs = report["syncs"].as_array().unwrap();
    assert_eq!(
        syncs.iter().map(names).collect::<Vec<_>>(),
        [BTreeSet::from(["a"]), BTreeSet::from(["b", "far"])]
    );
    let report = tree(&ns, &["two", "-o", "json"]).ok().json();
    assert_eq!(report["syncs"].as_array().unwrap().len(), 1);
}

#[test]
fn what_may_not_be_listed_is_told_and_no_error() {
    let ns = Namespace::new("blind-tree");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), secret("s", "x")]);
    ns.sync(&source).ok();
    let user = unique("blind");
    ns.allow(
        &user,
        &["closurejvm.io/syncs", "/configmaps", "apps/replicasets"],
    );
    let seen = eventually("the role counts", || {
        let output = tree(&ns, &["--as", &user]).run();
        (output.code == Some(0)).then_some(output.stdout)
    });
    assert!(seen.contains("ConfigMap"), "{seen}");
    let told = seen.lines().last().unwrap();
    assert!(
        told.starts_with("not seen: ") && told.ends_with(" (not allowed)"),
        "{told}"
    );
    for kind in ["Pod", "Secret"] {
        assert!(told.contains(kind), "{told}");
    }
    assert!(!told.contains("ReplicaSet"), "{told}");
    let report = tree(&ns, &["--as", &user, "-o", "json"]).ok().json();
    let pods = report["unseen"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["kind"] == "Pod");
    assert!(
        pods.unwrap()["reason"]
            .as_str()
            .unwrap()
            .contains("cannot list"),
        "{report}"
    );
}

#[test]
fn nothing_there() {
    let ns = Namespace::new("nothing");
    let output = tree(&ns, &[]).ok();
    assert_eq!(output.stdout, format!("no Sync in namespace {}\n", ns.name));
    let output = tree(&ns, &["it"]).code(2);
    assert!(output.stderr.contains("there is no Sync"), "{output:?}");
}

#[test]
fn words_of_the_cluster_cannot_steer_the_terminal() {
    let ns = Namespace::new("steer");
    ns.sync(&Source::new().with("a.yaml", &[own_agent("pet")]))
        .ok();
    let evil = "first\n\u{1b}[2Jsecond \u{202e}third";
    ns.edit(
        "closurejvmtargets:status",
        "pet",
        &json!({ "status": { "conditions": [{
        "type": "Ready", "status": "False", "reason": "R", "message": evil,
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }] } }),
    );
    let output = tree(&ns, &[]).code(1);
    assert!(
        output
            .stdout
            .contains("in progress, first \u{fffd}[2Jsecond \u{fffd}third"),
        "{output:?}"
    );
    output.hides("\u{1b}");
}

#[test]
fn watching_tells_which_object_changes() {
    let ns = Namespace::new("watch-tree");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    ns.sync(&source).ok();
    let followed = tree(&ns, &["-w"]).follow();
    followed.until("1 Sync; 1 member");
    source.write("a.yaml", &[config_map("b", "1")]);
    ns.sync(&source).arg("--prune").ok();
    let line = followed.until("/b  ");
    assert!(
        line.ends_with(&format!("ConfigMap {}/b  current", ns.name)),
        "{line}"
    );
    followed.until("/a  gone");
}
