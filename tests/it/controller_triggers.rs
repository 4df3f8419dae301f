//! `covergence run`: what happens to a source or in the cluster is noticed when it happens.

use std::fs;
use std::io::Write as _;

use serde_json::json;
use tempfile::NamedTempFile;

use crate::support::controller::{Controller, Setup, directory_sync, sync};
use crate::support::git::Work;
use crate::support::lab::eventually;
use crate::support::manifest::{Change as _, config_map, deployment, own_agent};
use crate::support::namespace::Namespace;
use crate::support::remote::Remote;
use crate::support::server::free_port;
use crate::support::site::ask;
use crate::support::source::{Source, documents};

const PART_OF: &str = "applyset.kubernetes.io/part-of";

/// GitHub's own example of a signature.
const SECRET: &str = "It's a Secret to Everybody";
const BODY: &[u8] = b"Hello, World!";
const SIGNATURE: &str = "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17";

/// A controller with one Sync, `it`, that is ready.
fn follow(ns: &Namespace, source: &Source) -> Controller {
    let controller = Setup {
        syncs: &[directory_sync(&ns.name, "it", source, json!({}))],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    controller
}

#[test]
fn a_directory_that_is_replaced_is_followed() {
    let ns = Namespace::new("replaced");
    let above = Source::new();
    let file = |version: &str| format!("{version}/a.yaml");
    above.write(&file("one"), &[config_map("a", "1")]);
    above.write(&file("two"), &[config_map("a", "2")]);
    fs::rename(above.path().join("one"), above.path().join("it")).unwrap();
    let path = above.path().join("it");
    let spec = json!({ "source": { "directory": { "path": path } }, "prune": true });
    let _controller = Setup {
        syncs: &[sync(&ns.name, "it", spec)],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_for_value("a", "1");

    fs::rename(&path, above.path().join("old")).unwrap();
    fs::rename(above.path().join("two"), &path).unwrap();
    ns.wait_for_value("a", "2");
    above.write("it/a.yaml", &[config_map("a", "3")]);
    ns.wait_for_value("a", "3");

    fs::remove_dir_all(&path).unwrap();
    let message = ns.wait_until_not_ready("it", "ArtifactFailed");
    assert!(message.contains("it"), "{message}");
    assert_eq!(ns.members(), ["a"]);
    above.write("it/a.yaml", &[config_map("a", "4")]);
    ns.wait_for_value("a", "4");
    ns.wait_until_ready("it");
}

#[test]
fn c48_a_burst_of_changes_ends_in_what_is_there_at_the_end() {
    let ns = Namespace::new("checkout");
    let work = Work::new();
    let names: Vec<String> = (0..30).map(|i| format!("m{i:02}")).collect();
    for branch in ["main", "next"] {
        if branch != "main" {
            work.git(&["checkout", "-q", "-b", branch]);
        }
        for name in &names {
            work.write(
                &format!("{name}.yaml"),
                &documents(&[config_map(name, branch)]),
            );
        }
        work.commit(branch);
    }
    let spec = json!({ "source": { "directory": { "path": work.path() } }, "prune": true });
    let _controller = Setup {
        syncs: &[sync(&ns.name, "it", spec)],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    let uids = || {
        let maps = ns.list("configmaps");
        let uids = maps.iter().map(|map| map["metadata"]["uid"].to_string());
        uids.collect::<std::collections::BTreeSet<_>>()
    };
    let before = uids();
    for branch in ["main", "next", "main", "next", "main"] {
        work.git(&["checkout", "-q", branch]);
    }
    for name in &names {
        ns.wait_for_value(name, "main");
    }
    ns.wait_until_ready("it");
    assert_eq!(uids(), before, "no file that was rewritten was pruned");
}

#[test]
fn c48_a_half_written_file_prunes_nothing() {
    let ns = Namespace::new("half");
    let source = Source::new()
        .with("a.yaml", &[config_map("a", "1"), config_map("b", "1")])
        .with("c.yaml", &[config_map("c", "1")]);
    let _controller = follow(&ns, &source);
    source.write_text(
        "a.yaml",
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: \"a",
    );
    source.write("c.yaml", &[config_map("c", "2")]);
    // The other file counts all the same.
    ns.wait_for_value("c", "2");
    let message = ns.wait_until_not_ready("it", "ReconciliationFailed");
    assert!(message.contains("a.yaml:"), "{message}");
    assert_eq!(ns.members(), ["a", "b", "c"]);
    source.write("a.yaml", &[config_map("a", "2")]);
    ns.wait_for_members(&["a", "c"]);
    ns.wait_until_ready("it");
}

#[test]
fn c30_a_source_that_is_emptied_prunes_only_when_that_is_allowed() {
    let ns = Namespace::new("emptied");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let controller = follow(&ns, &source);
    source.write_text("README.md", "nothing here");
    source.remove("a.yaml");
    let message = ns.wait_until_not_ready("it", "ReconciliationFailed");
    assert!(message.contains("nothing was pruned"), "{message}");
    assert_eq!(ns.members(), ["a"]);
    let allowed = directory_sync(&ns.name, "it", &source, json!({ "allowEmpty": true }));
    controller.write_syncs(&[allowed]);
    ns.wait_for_members(&[]);
    ns.wait_until_ready("it");
}

#[test]
fn c43_a_local_repository_is_followed_without_waiting_for_the_interval() {
    let ns = Namespace::new("local");
    let work = Work::new();
    let commit = |value: &str| {
        work.write("pets/a.yaml", &documents(&[config_map("a", value)]));
        work.commit(value)
    };
    commit("1");
    let git = json!({ "url": work.path(), "ref": "main", "path": "pets" });
    let spec = json!({ "source": { "git": git }, "interval": "1h" });
    let _controller = Setup {
        syncs: &[sync(&ns.name, "it", spec)],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_for_value("a", "1");
    // Written, but not committed.
    work.write("pets/a.yaml", &documents(&[config_map("a", "dirty")]));
    let second = commit("2");
    ns.wait_for_value("a", "2");
    // It was ready before as well.
    eventually("the second commit is told to be applied", || {
        let applied = &ns.get("syncs", "it")["status"]["lastAppliedRevision"];
        applied.as_str()?.contains(&second).then_some(())
    });
}

#[test]
fn a_webhook_with_the_right_signature_makes_a_fetch() {
    let ns = Namespace::new("hook");
    let remote = Remote::new();
    remote.push("1");
    let mut secret = NamedTempFile::new().unwrap();
    write!(secret, "{SECRET}").unwrap();
    let port = free_port();
    let _controller = Setup {
        syncs: &[remote.sync(&ns, "1h")],
        config: json!({
            "listen": { "webhook": format!("127.0.0.1:{port}") },
            "webhook": { "secretFile": secret.path() },
        }),
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_for_value("a", "1");
    ns.wait_until_ready("it");
    let send = |path: &str, signature: Option<&str>| {
        let mut headers = vec![("X-GitHub-Event", "push")];
        headers.extend(signature.map(|signature| ("X-Hub-Signature-256", signature)));
        ask(([127, 0, 0, 1], port).into(), "POST", path, &headers, BODY).status
    };
    let one = format!("/hook/{}/it", ns.name);
    let asked = remote.asked();
    remote.push("2");
    let wrong = SIGNATURE.replace('7', "8");
    for signature in [None, Some(""), Some("sha256="), Some(wrong.as_str())] {
        for path in ["/hook", &one] {
            assert_eq!(send(path, signature), 401, "{signature:?}");
        }
    }
    assert_eq!(remote.asked(), asked, "nothing was fetched");
    assert_eq!(send(&one, Some(SIGNATURE)), 202);
    ns.wait_for_value("a", "2");
    remote.push("3");
    assert_eq!(send("/hook", Some(SIGNATURE)), 202);
    ns.wait_for_value("a", "3");
}

#[test]
fn a_webhook_reaches_the_replica_whose_business_it_is() {
    let ns = Namespace::new("hooks");
    let remote = Remote::new();
    remote.push("1");
    let start = || {
        let port = free_port();
        let controller = Setup {
            syncs: &[remote.sync(&ns, "1h")],
            config: json!({
                "listen": { "webhook": format!("127.0.0.1:{port}") },
                "webhook": { "insecure": true },
            }),
            ..Setup::new(&[&ns.name])
        }
        .start();
        (controller, port)
    };
    let replicas = [start(), start()];
    ns.wait_for_value("a", "1");
    ns.wait_until_ready("it");
    // One of the two looks after the Sync, and both may be told.
    let one = format!("/hook/{}/it", ns.name);
    for (i, (_, port)) in replicas.iter().enumerate() {
        for (j, path) in [one.as_str(), "/hook"].into_iter().enumerate() {
            let value = format!("{}", 2 + 2 * i + j);
            remote.push(&value);
            let address = ([127, 0, 0, 1], *port).into();
            assert_eq!(ask(address, "POST", path, &[], BODY).status, 202);
            ns.wait_for_value("a", &value);
        }
    }
}

#[test]
fn a_request_is_answered_also_while_a_run_waits() {
    let ns = Namespace::new("asked");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let controller = follow(&ns, &source);
    ns.ask_for_a_run("it", "now");

    // Nobody runs its pods, so that this run waits.
    source.write("pet.yaml", &[deployment("pet")]);
    let waits = json!({ "wait": true, "timeout": "1h" });
    controller.write_syncs(&[directory_sync(&ns.name, "it", &source, waits)]);
    eventually("the Deployment is there", || ns.find("deployments", "pet"));
    ns.request("it", "again");
    // The run that waits makes room for the one that is asked for, and for what is new.
    source.remove("pet.yaml");
    ns.wait_until_handled("it", "again");
    ns.wait_until_ready("it");
    ns.ask_for_a_run("it", "at last");
    ns.wait_until_ready("it");
}

#[test]
fn a_stalled_sync_answers_requests_and_goes_on_when_it_is_corrected() {
    let ns = Namespace::new("stalled");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let elsewhere = json!({ "source": { "directory": { "path": "/etc" } } });
    let _controller = Setup::new(&[&ns.name]).start();
    ns.create("syncs", &sync(&ns.name, "it", elsewhere));
    let message = ns.wait_until_not_ready("it", "InvalidPath");
    assert!(message.contains("/etc"), "{message}");
    assert_eq!(ns.sync_condition("it", "Stalled")["status"], "True");
    ns.ask_for_a_run("it", "now");
    assert_eq!(ns.sync_condition("it", "Stalled")["status"], "True");
    let good = json!({ "spec": { "source": { "directory": { "path": source.path() } } } });
    ns.edit("syncs", "it", &good);
    ns.wait_until_ready("it");
    assert!(ns.sync_condition("it", "Stalled").is_null());
    assert_eq!(ns.members(), ["a"]);
}

#[test]
fn members_that_are_edited_deleted_or_let_go_come_back() {
    let ns = Namespace::new("members");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), config_map("b", "1")]);
    let _controller = follow(&ns, &source);
    ns.edit("configmaps", "a", &json!({ "data": { "key": "mine" } }));
    ns.wait_for_value("a", "1");
    ns.edit("configmaps", "a", &json!({ "data": { "key": null } }));
    ns.wait_for_value("a", "1");
    ns.delete_at_once("configmaps", "b");
    ns.wait_for_value("b", "1");
    let labels = json!({ "metadata": { "labels": { PART_OF: null } } });
    ns.edit("configmaps", "b", &labels);
    eventually("it is a member again", || {
        let labels = &ns.get("configmaps", "b")["metadata"]["labels"];
        labels.get(PART_OF).map(|_| ())
    });
    ns.wait_until_ready("it");
}

#[test]
fn c39_a_targets_status_follows_its_deployment_and_its_pods() {
    let ns = Namespace::new("target");
    let source = Source::new().with("a.yaml", &[deployment("pet"), own_agent("pet")]);
    let _controller = follow(&ns, &source);
    let wait_for = |what: &str, pointer: &str, value: serde_json::Value| {
        eventually(what, || {
            (ns.status("pet").pointer(pointer) == Some(&value)).then_some(())
        });
    };
    ns.run_pods("pet", 2);
    wait_for("both pods are endpoints", "/endpoints/total", json!(2));
    wait_for("and ready", "/endpoints/ready", json!(2));
    wait_for("replicas", "/instrumentedReplicas", json!(2));

    let selector = json!({ "matchLabels": { "app": "dog" } });
    let other = deployment("dog").set("/spec/selector", selector);
    source.write(
        "a.yaml",
        &[
            other,
            own_agent("pet").set("/spec/deploymentRef/name", "dog"),
        ],
    );
    eventually("the Service selects the other one's pods", || {
        let service = ns.find("services", "pet-coverage")?;
        (service["spec"]["selector"] == json!({ "app": "dog" })).then_some(())
    });
    source.write(
        "a.yaml",
        &[own_agent("pet").set("/spec/deploymentRef/name", "dog")],
    );
    eventually("without a Deployment there is no Service", || {
        (!ns.exists("services", "pet-coverage")).then_some(())
    });
    eventually("and no endpoint", || {
        let status = ns.status("pet");
        status.get("coverageEndpoint").is_none().then_some(())
    });
}
