//! `covergence run`: its files drive everything, and changes to them are in force at once.

use std::fs;
use std::os::unix::fs::symlink;

use serde_json::{Value, json};

use crate::support::controller::{Controller, Setup, directory_sync, replace};
use crate::support::covergence::Run;
use crate::support::kubectl::kubectl;
use crate::support::lab::eventually;
use crate::support::manifest::{Change as _, config_map, deployment, own_agent};
use crate::support::namespace::Namespace;
use crate::support::source::{Source, documents};

const PART_OF: &str = "applyset.kubernetes.io/part-of";

fn wait_for_log(controller: &Controller, text: &str) {
    eventually(&format!("the log says {text:?}"), || {
        (!controller.logged(text).is_empty()).then_some(())
    });
}

fn wait_until_gone(ns: &Namespace, resource: &str, name: &str) {
    eventually(&format!("{resource} {name} is gone"), || {
        (!ns.exists(resource, name)).then_some(())
    });
}

#[test]
fn a_sync_of_the_files_comes_changes_and_goes() {
    let ns = Namespace::new("files");
    let first = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let second = Source::new().with("a.yaml", &[config_map("a", "2")]);
    let other = Source::new().with("b.yaml", &[config_map("b", "1")]);
    let controller = Setup::new(&[&ns.name]).start();

    let goes = json!({ "deletionPolicy": "Delete" });
    let it = directory_sync(&ns.name, "it", &first, goes.clone());
    controller.write_syncs(std::slice::from_ref(&it));
    ns.wait_until_ready("it");
    ns.wait_for_value("a", "1");

    let moved = directory_sync(&ns.name, "it", &second, goes);
    let stays = directory_sync(
        &ns.name,
        "stays",
        &other,
        json!({ "deletionPolicy": "Orphan" }),
    );
    controller.write_syncs(&[moved, stays]);
    ns.wait_for_value("a", "2");
    ns.wait_until_ready("stays");

    controller.write_syncs(&[]);
    wait_until_gone(&ns, "syncs", "it");
    wait_until_gone(&ns, "syncs", "stays");
    assert_eq!(ns.members(), ["b"]);
    eventually("what stays belongs to nobody", || {
        let labels = ns.get("configmaps", "b")["metadata"]["labels"].clone();
        labels.get(PART_OF).is_none().then_some(())
    });
}

#[test]
fn two_changes_of_the_files_at_once_do_not_save_a_sync_that_left() {
    let ns = Namespace::new("left");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let delete = json!({ "deletionPolicy": "Delete" });
    let names = ["one", "two", "three", "four"];
    let syncs: Vec<Value> = names
        .iter()
        .map(|name| {
            let source = Source::new().with("a.yaml", &[config_map(name, "1")]);
            let sync = directory_sync(&ns.name, name, &source, delete.clone());
            // The folder goes; a source that cannot be read is no reason to stay.
            drop(source);
            sync
        })
        .chain([directory_sync(&ns.name, "stays", &source, delete.clone())])
        .collect();
    let controller = Setup {
        syncs: &syncs,
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("stays");
    for left in 1..=names.len() {
        controller.write_syncs(&syncs[left..]);
        // As soon as it is noticed, the next one follows.
        eventually("it is noticed", || {
            let gone = controller.logged("has left the configuration");
            let missing = !ns.exists("syncs", names[left - 1]);
            (missing || gone.len() >= left).then_some(())
        });
    }
    for name in names {
        wait_until_gone(&ns, "syncs", name);
    }
    assert!(ns.exists("syncs", "stays"));
}

#[test]
fn a_mounted_config_map_is_swapped_as_a_whole() {
    let ns = Namespace::new("mounted");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let sync = |name: &str| directory_sync(&ns.name, name, &source, json!({ "suspend": true }));
    let controller = Setup::new(&[&ns.name]).start();
    let folder = controller.folder();
    // As kubelet writes a volume: links to what `..data` links to, which is replaced by renaming.
    let write = |version: &str, syncs: &[Value]| {
        fs::create_dir(folder.join(version)).unwrap();
        fs::write(folder.join(version).join("mounted.yaml"), documents(syncs)).unwrap();
        symlink(version, folder.join("..data_tmp")).unwrap();
        fs::rename(folder.join("..data_tmp"), folder.join("..data")).unwrap();
    };
    write("..2026_01", &[sync("old")]);
    symlink("..data/mounted.yaml", folder.join("mounted.yaml")).unwrap();
    eventually("the mounted Sync is there", || ns.find("syncs", "old"));
    write("..2026_02", &[sync("new")]);
    fs::remove_dir_all(folder.join("..2026_01")).unwrap();
    eventually("the new one is there", || ns.find("syncs", "new"));
    wait_until_gone(&ns, "syncs", "old");
    assert_eq!(
        controller.logged("\"level\":\"error\""),
        Vec::<String>::new()
    );
}

#[test]
fn c48_an_editor_saves_the_files() {
    let ns = Namespace::new("editor");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let sync = |value: &str| {
        let sync = directory_sync(&ns.name, "it", &source, json!({ "suspend": true }));
        documents(&[sync.annotated("shop.example/say", value)])
    };
    let controller = Setup::new(&[&ns.name]).start();
    let file = |name: &str| controller.folder().join(name);
    let wait_for = |value: &str| {
        eventually(&format!("it says {value}"), || {
            let found = ns.find("syncs", "it")?;
            (found["metadata"]["annotations"]["shop.example/say"] == value).then_some(())
        });
    };
    // vim: a probe file, a swap file, the old file set aside, a new one in its place.
    fs::write(file("4913"), "").unwrap();
    fs::remove_file(file("4913")).unwrap();
    fs::write(file(".syncs.yaml.swp"), b"b0VIM\0\xff").unwrap();
    fs::rename(file("syncs.yaml"), file("syncs.yaml~")).unwrap();
    fs::write(file("syncs.yaml"), sync("vim")).unwrap();
    wait_for("vim");
    // sed -i, twice.
    for value in ["one", "two"] {
        fs::write(file("sedXuMpQ1"), sync(value)).unwrap();
        fs::rename(file("sedXuMpQ1"), file("syncs.yaml")).unwrap();
    }
    wait_for("two");
    fs::remove_file(file("syncs.yaml")).unwrap();
    fs::write(file("syncs.yaml"), sync("again")).unwrap();
    wait_for("again");
    assert_eq!(
        controller.logged("\"level\":\"error\""),
        Vec::<String>::new()
    );
}

#[test]
fn an_error_in_one_document_leaves_the_others_in_force() {
    let ns = Namespace::new("faulty");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let sync = |name: &str| directory_sync(&ns.name, name, &source, json!({ "suspend": true }));
    let controller = Setup {
        syncs: &[sync("good")],
        ..Setup::new(&[&ns.name])
    }
    .start();
    eventually("the Sync is there", || ns.find("syncs", "good"));

    let faulty = "apiVersion: closurejvm.io/v1alpha1\nkind: Sync\nmetadata:\n  name: faulty\nspec:\n  source:\n    directory:\n      path: /a\n  prune: maybe\n";
    replace(&controller.folder().join("faulty.yaml"), faulty);
    wait_for_log(&controller, "faulty.yaml:9:3: ");
    replace(
        &controller.folder().join("more.yaml"),
        &documents(&[sync("more")]),
    );
    eventually("a new one beside it counts", || ns.find("syncs", "more"));
    // As long as there is an error, one that is missing may be what it hides.
    controller.write_syncs(&[]);
    let more = documents(&[sync("more"), sync("later")]);
    replace(&controller.folder().join("more.yaml"), &more);
    eventually("that was read", || ns.find("syncs", "later"));
    assert!(ns.exists("syncs", "good"));
    assert!(!ns.exists("syncs", "faulty"));
    fs::remove_file(controller.folder().join("faulty.yaml")).unwrap();
    wait_until_gone(&ns, "syncs", "good");
    assert!(ns.exists("syncs", "more"));
}

#[test]
fn a_sync_made_with_kubectl_is_honoured_too() {
    let ns = Namespace::new("byhand");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let _controller = Setup::new(&[&ns.name]).start();
    let sync = directory_sync(
        &ns.name,
        "hand",
        &source,
        json!({ "deletionPolicy": "Delete" }),
    );
    kubectl(&["create", "-f", "-"], &[sync]);
    ns.wait_until_ready("hand");
    source.write("a.yaml", &[config_map("a", "2")]);
    ns.wait_for_value("a", "2");
    ns.delete("syncs", "hand");
    assert_eq!(ns.members(), Vec::<String>::new());
}

#[test]
fn a_sync_of_the_files_that_is_changed_or_deleted_by_hand_is_as_the_files_say() {
    let ns = Namespace::new("undone");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let _controller = Setup {
        syncs: &[directory_sync(&ns.name, "it", &source, json!({}))],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    ns.edit("syncs", "it", &json!({ "spec": { "prune": false } }));
    eventually("the edit is undone", || {
        (ns.get("syncs", "it")["spec"]["prune"] == true).then_some(())
    });
    let uid = ns.get("syncs", "it")["metadata"]["uid"].clone();
    ns.delete_at_once("syncs", "it");
    eventually("it is back", || {
        (ns.find("syncs", "it")?["metadata"]["uid"] != uid).then_some(())
    });
    ns.wait_until_ready("it");
    assert_eq!(ns.members(), ["a"]);
}

#[test]
fn c58_a_changed_config_is_in_force_at_once() {
    let (ns, other) = (Namespace::new("live"), Namespace::new("other"));
    let controller = Setup {
        config: json!({ "log": { "level": "error" } }),
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.create("deployments", &deployment("pet"));
    ns.create("closurejvmtargets", &own_agent("pet"));
    other.create("deployments", &deployment("pet"));
    other.create("closurejvmtargets", &own_agent("pet"));
    let wait_for_endpoint = |ns: &Namespace, domain: &str| {
        eventually(&format!("the endpoint is in {domain}"), || {
            let endpoint = ns.status("pet")["coverageEndpoint"].clone();
            (endpoint == format!("pet-coverage.{}.svc.{domain}:6300", ns.name)).then_some(())
        });
    };
    wait_for_endpoint(&ns, "cluster.local");
    assert!(!other.exists("services", "pet-coverage"));
    assert_eq!(
        controller.logged("\"level\":\"info\""),
        Vec::<String>::new()
    );

    controller.configure(&json!({ "clusterDomain": "corp.example", "log": { "level": "info" } }));
    wait_for_endpoint(&ns, "corp.example");
    wait_for_log(&controller, "\"level\":\"info\"");

    let both = [&*ns.name, &*other.name];
    controller.configure(&json!({ "namespaces": both }));
    wait_for_endpoint(&other, "corp.example");

    controller.configure(&json!({ "namespaces": [other.name] }));
    let services = |ns: &Namespace| ns.delete_at_once("services", "pet-coverage");
    eventually("the namespace is left alone", || {
        let looked = controller.logged("everything is looked at").len();
        (looked >= 3).then_some(())
    });
    services(&ns);
    services(&other);
    eventually("the other one is looked after", || {
        other.find("services", "pet-coverage")
    });
    assert!(!ns.exists("services", "pet-coverage"));
}

#[test]
fn a_refused_config_ends_the_start() {
    for (spec, place) in [
        ("  clusterDomain: \"not a domain!\"\n", "config.yaml:6:"),
        ("  listen:\n    web: nowhere\n", "config.yaml:7:"),
        ("  nameSpaces: [a]\n", "config.yaml:6:"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let text = format!(
            "apiVersion: closurejvm.io/v1alpha1\nkind: Config\nmetadata:\n  name: it\nspec:\n{spec}"
        );
        fs::write(folder.path().join("config.yaml"), text).unwrap();
        let run = Run::on_lab(&["run"]).arg("--config").arg(folder.path());
        let output = run.code(2);
        assert!(output.stderr.contains(place), "{spec}");
        assert!(output.stderr.contains("the Config is not in force"));
        assert_eq!(output.stdout, "");
    }
}
