//! `covergence collect TARGET`: who is asked, as the real API server tells it.

use serde_json::{Value, json};

use crate::support::collected::{Folder, class, classes, pod};
use crate::support::covergence::Run;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{deployment, own_agent};
use crate::support::namespace::Namespace;
use crate::support::peer::{FakePeer, finished};
use crate::support::source::Source;
use crate::support::started::Started;

/// A slice of the Target's Service; each has one port, and these pods behind it.
fn slice(ns: &Namespace, name: &str, port: u16, pods: &[&str]) -> Value {
    let endpoint = |pod: &&str| {
        json!({
            "addresses": ["127.0.0.1"],
            "conditions": { "ready": false },
            "targetRef": { "kind": "Pod", "namespace": ns.name, "name": pod, "uid": format!("uid-of-{pod}") },
        })
    };
    json!({
        "metadata": { "name": name, "labels": { "kubernetes.io/service-name": "pet-coverage" } },
        "addressType": "IPv4",
        "ports": [{ "name": "jacoco", "port": port, "protocol": "TCP" }],
        "endpoints": pods.iter().map(endpoint).collect::<Vec<_>>(),
    })
}

/// A Target `pet` that was synced, and so has a Service.
fn synced(prefix: &str) -> Namespace {
    let ns = Namespace::new(prefix);
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    ns
}

fn collect(ns: &Namespace, folder: &Folder, options: &[&str]) -> Run {
    let (from, output) = (format!("{}/pet", ns.name), folder.text("union.exec"));
    Run::on_lab(&["collect", &from, "-o", &output, "--format", "json"]).args(options)
}

fn peer(name: &str) -> FakePeer {
    FakePeer::saying(finished(name, &[class(name.len() as u64, name, "1")]))
}

#[test]
fn pods_are_found_by_the_slices_of_the_targets_service() {
    let ns = synced("collect");
    let (cat, fish) = (peer("Cat"), peer("Fish"));
    ns.create("endpointslices", &slice(&ns, "one", fish.port, &["pet-b"]));
    ns.create("endpointslices", &slice(&ns, "two", cat.port, &["pet-a"]));
    let mut other = slice(&ns, "other", 1, &["stranger"]);
    other["metadata"]["labels"]["kubernetes.io/service-name"] = json!("other");
    ns.create("endpointslices", &other);
    let folder = Folder::new();
    let pods = folder.text("pods");
    let report = collect(&ns, &folder, &["--direct", "--per-pod", &pods]).ok();
    let names: Vec<Value> = [0, 1]
        .iter()
        .map(|at| pod(&report, *at)["name"].clone())
        .collect();
    assert_eq!(names, ["pet-a", "pet-b"]);
    assert_eq!(report.json()["pods"].as_array().unwrap().len(), 2);
    assert_eq!(classes(&folder.store("union.exec")), ["Cat", "Fish"]);
    assert_eq!(classes(&folder.store("pods/pet-a.exec")), ["Cat"]);
    // The namespace may be given as everywhere else.
    let output = folder.text("again.exec");
    let run = Run::on_lab(&["collect", "pet", "-n", &ns.name, "-o", &output, "--direct"]);
    assert!(run.ok().stdout.contains("pet-b"));
}

#[test]
fn a_pods_name_that_is_a_path_is_no_name() {
    let ns = synced("paths");
    let cat = peer("Cat");
    let mut hostile = slice(&ns, "hostile", cat.port, &["x"]);
    hostile["endpoints"][0]["targetRef"]["name"] = json!("../../escaped");
    ns.create("endpointslices", &hostile);
    let folder = Folder::new();
    let pods = folder.text("in/pods");
    let report = collect(&ns, &folder, &["--direct", "--per-pod", &pods]).ok();
    assert_eq!(pod(&report, 0)["name"], "127.0.0.1");
    assert_eq!(folder.names(), ["in", "union.exec"]);
    assert!(folder.path("in/pods/127.0.0.1.exec").is_file());
}

#[test]
fn who_comes_later_is_taken_in() {
    let ns = synced("later");
    let (cat, fish) = (peer("Cat"), peer("Fish"));
    let folder = Folder::new();
    let following = Started::new(collect(&ns, &folder, &["--direct", "--follow"]));
    for (name, peer) in [("Cat", &cat), ("Fish", &fish)] {
        let pod = format!("pet-{}", name.to_lowercase());
        ns.create("endpointslices", &slice(&ns, &pod, peer.port, &[&pod]));
        eventually(&format!("{name} is in the union"), || {
            let there = folder.path("union.exec").exists();
            (there && classes(&folder.store("union.exec")).contains(&name.to_owned())).then_some(())
        });
    }
    following.signal("INT");
    let (_, lines) = following.wait();
    let report: Value = serde_json::from_str(lines.last().unwrap()).unwrap();
    let pods = report["pods"].as_array().unwrap();
    let names: Vec<&Value> = pods.iter().map(|pod| &pod["name"]).collect();
    assert_eq!(names, ["pet-cat", "pet-fish"]);
}

#[test]
fn a_target_without_a_service_or_pods_says_what_to_do() {
    let ns = synced("nobody");
    let folder = Folder::new();
    let none = collect(&ns, &folder, &["--direct"]).code(2);
    assert!(
        none.stderr
            .contains("no pod stands behind the Service pet-coverage"),
        "{}",
        none.stderr
    );

    ns.edit(
        "closurejvmtargets",
        "pet",
        &json!({ "spec": { "coverageService": false } }),
    );
    let source = Source::new();
    let mut off = own_agent("pet");
    off["spec"]["coverageService"] = json!(false);
    let source = source.with("pet.yaml", &[off]);
    ns.sync(&source).ok();
    let off = collect(&ns, &folder, &[]).code(2);
    assert!(off.stderr.contains("has no Service"), "{}", off.stderr);
    assert!(
        off.stderr.contains("coverageService: true"),
        "{}",
        off.stderr
    );

    let output = folder.text("union.exec");
    let unknown = Run::on_lab(&["collect", "cat", "-n", &ns.name, "-o", &output]).code(2);
    assert!(
        unknown.stderr.contains("there is no ClosureJVMTarget"),
        "{}",
        unknown.stderr
    );
    assert!(folder.names().is_empty());
}

/// Without a node nobody forwards; but the API server is asked, and by whom it should be.
#[test]
fn without_direct_pods_are_reached_through_the_api_server() {
    let ns = synced("forward");
    let cat = peer("Cat");
    ns.create("endpointslices", &slice(&ns, "one", cat.port, &["pet-a"]));
    let folder = Folder::new();
    let none = collect(&ns, &folder, &[]).code(2);
    let words = "pet-a: cannot connect: pods \"pet-a\" not found";
    assert!(none.stderr.contains(words), "{}", none.stderr);
    // Whoever may not forward ports is told so.
    let rule = |resource: &str, group: &str| json!({ "apiGroups": [group], "resources": [resource], "verbs": ["get", "list"] });
    let rules = [
        rule("closurejvmtargets", "closurejvm.io"),
        rule("endpointslices", "discovery.k8s.io"),
    ];
    ns.create(
        "roles",
        &json!({ "metadata": { "name": "reader" }, "rules": rules }),
    );
    let user = format!("reader-{}", ns.name);
    ns.create(
        "rolebindings",
        &json!({
            "metadata": { "name": "reader" },
            "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader" },
            "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user }],
        }),
    );
    let refused = collect(&ns, &folder, &["--as", &user]).code(2);
    assert!(
        refused.stderr.contains("not allowed: "),
        "{}",
        refused.stderr
    );
    assert!(
        refused.stderr.contains("pods/portforward"),
        "{}",
        refused.stderr
    );
    let path = ns.path("endpointslices", "one");
    assert!(api().delete(&path));
}
