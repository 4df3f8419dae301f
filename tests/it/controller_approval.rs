//! `covergence run`: prunes that wait until somebody approves them.

use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::audit::Audit;
use crate::support::controller::{Setup, directory_sync, sync};
use crate::support::git::Work;
use crate::support::kubectl::paste;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, claim, config_map, definition, namespace};
use crate::support::namespace::{Namespace, unique};
use crate::support::source::{Source, documents};

fn marked(name: &str) -> Value {
    config_map(name, "").annotated("closurejvm.io/prune", "confirm")
}

fn attempted(ns: &Namespace) -> String {
    let sync = ns.get("syncs", "it");
    let revision = sync["status"]["lastAttemptedRevision"].as_str();
    revision.unwrap().to_owned()
}

fn nothing_waits(ns: &Namespace) {
    eventually("nothing waits any more", || {
        ns.sync_condition("it", "PruneWaits")
            .is_null()
            .then_some(())
    });
}

#[test]
fn what_waits_is_told_and_goes_by_the_command_that_is_told() {
    let ns = Namespace::new("waits");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]).with(
        "gone.yaml",
        &[claim("data"), marked("marked"), config_map("plain", "1")],
    );
    let _controller = Setup {
        syncs: &[directory_sync(&ns.name, "it", &source, json!({}))],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    source.remove("gone.yaml");
    let parts = ["ConfigMap ", "/marked", "PersistentVolumeClaim", "/data"];
    let first = ns.wait_until_prune_waits("it", &parts);
    // The rest went in the same run, and nobody is kept waiting.
    assert_eq!(ns.members(), ["a", "marked"]);
    let ready = ns.sync_condition("it", "Ready");
    assert_eq!(ready["status"], "True", "{ready}");
    let message = ready["message"].as_str().unwrap();
    assert!(
        message.ends_with("; 2 prunes wait for approval"),
        "{message}"
    );
    eventually("an Event tells of it", || {
        let mut events = ns.list("events").into_iter();
        events.find(|event| event["reason"] == "PruneWaits")
    });

    // A new revision makes void what was approved of the old one.
    let old = attempted(&ns);
    source.write("a.yaml", &[config_map("a", "2")]);
    ns.wait_for_value("a", "2");
    ns.wait_until_prune_waits("it", &[parts[1], parts[3]]);
    let second = eventually("the command names the new revision", || {
        Some(ns.wait_until_prune_waits("it", &[])).filter(|command| *command != first)
    });
    paste(&first);
    assert_eq!(ns.approved("it"), json!(old));
    ns.wait_until_prune_waits("it", &[&old, "is none of this revision"]);
    assert_eq!(ns.members(), ["a", "marked"]);

    paste(&second);
    ns.wait_for_members(&["a"]);
    eventually("the claim goes", || {
        (!ns.exists("persistentvolumeclaims", "data")).then_some(())
    });
    nothing_waits(&ns);
    eventually("the approval is spent", || {
        ns.approved("it").is_null().then_some(())
    });
    // The next one that leaves waits again.
    source.write("b.yaml", &[marked("next")]);
    ns.wait_for_members(&["a", "next"]);
    source.remove("b.yaml");
    ns.wait_until_prune_waits("it", &["/next"]);
    assert_eq!(ns.members(), ["a", "next"]);
}

#[test]
fn a_commit_is_approved_by_its_branch_and_hash() {
    let ns = Namespace::new("commit");
    let work = Work::new();
    work.write("a.yaml", &documents(&[config_map("a", "1")]));
    work.write("gone.yaml", &documents(&[marked("marked")]));
    work.commit("both");
    let git = json!({ "url": work.path(), "ref": "main" });
    let spec = json!({ "source": { "git": git }, "prune": true });
    let directories = [work.path()];
    let _controller = Setup {
        directories: &directories,
        syncs: &[sync(&ns.name, "it", spec)],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    work.git(&["rm", "-q", "gone.yaml"]);
    let hash = work.commit("one less");
    let command = ns.wait_until_prune_waits("it", &["/marked"]);
    assert_eq!(
        command,
        format!(
            "kubectl annotate sync -n {} it closurejvm.io/approve-prune=main@sha1:{hash} --overwrite",
            ns.name
        )
    );
    paste(&command);
    ns.wait_for_members(&["a"]);
    nothing_waits(&ns);
}

#[test]
fn a_limit_of_a_kind_stops_everything_until_the_revision_is_approved() {
    let ns = Namespace::new("limit");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "1")])
        .with("gone.yaml", &[config_map("b", "1"), config_map("c", "1")]);
    let limits = json!([{ "kind": "ConfigMap", "group": "", "limit": 1 }, { "kind": "Secret", "limit": "50%" }]);
    let _controller = Setup {
        syncs: &[directory_sync(
            &ns.name,
            "it",
            &source,
            json!({ "pruneLimit": "90%", "pruneLimits": limits }),
        )],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    source.remove("gone.yaml");
    let message = ns.wait_until_not_ready("it", "ReconciliationFailed");
    let told = "nothing was pruned: 2 of 3 objects of kind ConfigMap would go, and the prune limit allows 1; \
                raise the limit, or approve it (PruneWaits tells how)";
    assert_eq!(message, told);
    assert_eq!(ns.members(), ["a", "b", "c"]);
    paste(&ns.wait_until_prune_waits("it", &["/b", "/c"]));
    ns.wait_for_members(&["a"]);
    ns.wait_until_ready("it");
    nothing_waits(&ns);
}

#[test]
fn a_limit_that_makes_no_sense_is_refused_by_the_api_server() {
    let ns = Namespace::new("schema");
    let source = Source::new();
    for limits in [
        json!([{ "kind": "ConfigMap" }]),
        json!([{ "kind": "configmaps", "limit": 1 }]),
        json!([{ "kind": "ConfigMap", "limit": "many" }]),
        json!([{ "kind": "ConfigMap", "limit": -1 }]),
        json!([{ "limit": 1 }]),
    ] {
        let sync = directory_sync(&ns.name, "it", &source, json!({ "pruneLimits": limits }));
        let syncs = path("syncs", Some(&ns.name), None);
        let refused = api().send("POST", &syncs, "application/json", &sync);
        assert_eq!(refused.unwrap_err().code, 422, "{limits}");
    }
}

#[test]
fn c35_an_approval_lets_go_of_namespaces_and_definitions_but_never_of_our_own() {
    let ns = Namespace::new("admin");
    let (home, other) = (Namespace::new("home"), Namespace::unborn("other"));
    let group = format!("{}.example", unique("approved"));
    let own = api().get(&path(
        "customresourcedefinitions",
        None,
        Some("syncs.closurejvm.io"),
    ));
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]).with(
        "gone.yaml",
        &[
            namespace(&home.name),
            namespace(&ns.name),
            namespace(&other.name),
            definition(&group, "Cup"),
        ],
    );
    let _controller = Setup {
        admin: true,
        env: &[("POD_NAMESPACE", &home.name)],
        syncs: &[directory_sync(&ns.name, "it", &source, json!({}))],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    source.remove("gone.yaml");
    let definition = format!("cups.{group}");
    paste(&ns.wait_until_prune_waits("it", &[&other.name, &definition]));
    let is_there = |resource: &str, name: &str| {
        let found = api().find(&path(resource, None, Some(name)));
        found.is_some_and(|it| it["metadata"]["deletionTimestamp"].is_null())
    };
    eventually("what was approved goes", || {
        let left = is_there("namespaces", &other.name)
            || is_there("customresourcedefinitions", &definition);
        (!left).then_some(())
    });
    nothing_waits(&ns);
    assert!(is_there("namespaces", &home.name));
    assert!(is_there("namespaces", &ns.name));
    let still = api().get(&path(
        "customresourcedefinitions",
        None,
        Some("syncs.closurejvm.io"),
    ));
    assert_eq!(own["metadata"]["uid"], still["metadata"]["uid"]);
}

#[test]
fn c35_what_is_renamed_is_made_before_the_old_one_goes() {
    let ns = Namespace::new("rename");
    let audit = Audit::new("rename");
    let source = Source::new().with("a.yaml", &[config_map("old", "1"), config_map("a", "1")]);
    let _controller = Setup {
        user: Some(&audit.user),
        syncs: &[directory_sync(&ns.name, "it", &source, json!({}))],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    source.write("a.yaml", &[config_map("new", "1"), config_map("a", "1")]);
    ns.wait_for_members(&["a", "new"]);
    let writes: Vec<(String, String)> = audit
        .writes()
        .into_iter()
        .filter(|event| event.resource == "configmaps")
        .map(|event| (event.verb, event.name))
        .collect();
    let place = |verb: &str, name: &str| {
        let is_it = |(v, n): &(String, String)| v == verb && n == name;
        writes
            .iter()
            .position(is_it)
            .unwrap_or_else(|| panic!("{verb} {name}: {writes:?}"))
    };
    assert!(place("patch", "new") < place("delete", "old"), "{writes:?}");
}
