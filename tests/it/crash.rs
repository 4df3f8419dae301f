//! SIGKILL at any point: the next run ends in the same state, with nothing lost or orphaned.

use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::Instant;

use serde_json::{Value, json};

use crate::support::lab::eventually;
use crate::support::manifest::{Change, config_map, deployment, namespace, own_agent, secret};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

const KILLS: u32 = 10;

/// Sixty objects of many kinds in two namespaces, in a given edition.
fn objects(other: &str, edition: &str) -> Vec<Value> {
    let mut objects = vec![namespace(other), deployment("pet"), own_agent("pet")];
    for i in 0..40 {
        objects.push(config_map(&format!("c{i}"), edition));
    }
    for i in 0..10 {
        objects.push(config_map(&format!("o{i}"), edition).within(other));
    }
    for i in 0..7 {
        objects.push(secret(&format!("s{i}"), edition));
    }
    objects
}

#[test]
fn a_killed_sync_is_made_good_by_the_next_one() {
    let (ns, other) = (Namespace::new("crash"), Namespace::unborn("crash-other"));
    let source = Source::new();
    source.write("all.yaml", &objects(&other.name, "0"));
    assert_eq!(objects(&other.name, "0").len(), 60);

    // How long it takes undisturbed, on a namespace of its own.
    let (trial, trial_other) = (Namespace::new("trial"), Namespace::unborn("trial-other"));
    let measured = Source::new();
    measured.write("all.yaml", &objects(&trial_other.name, "0"));
    let start = Instant::now();
    trial.sync(&measured).ok();
    let mut normal = start.elapsed();

    let (mut killed, mut runs) = (0, 0);
    while killed < KILLS && runs < 4 * KILLS {
        runs += 1;
        // Each time there is much to do: sixty creates first, then sixty changes.
        source.write("all.yaml", &objects(&other.name, &runs.to_string()));
        let running = ns.sync(&source).start();
        // Spread over the run, and a little off the beat, so that two never hit the same point.
        let part = f64::from(runs % KILLS + 1) / f64::from(KILLS + 1);
        sleep(normal.mul_f64(part + jitter() / 20.0));
        if running.kill() {
            killed += 1;
        } else {
            // What else the machine does now it did not do then, or the other way round.
            normal = normal.mul_f64(0.8);
        }
        every_member_is_in_the_inventory(&ns, &other);
    }
    assert!(killed >= KILLS / 2, "only {killed} were still at work");

    let last = runs.to_string();
    ns.sync(&source).ok();
    everything_is_there(&ns, &other, &last);
    every_member_is_in_the_inventory(&ns, &other);
    ns.sync(&source).ok().nothing_to_do();

    // Killed while it prunes.
    source.write_text("all.yaml", "# nothing left\n");
    let prune = || ns.sync_approved(&source).arg("--allow-empty");
    for i in 1..=3 {
        let running = prune().start();
        sleep(normal.mul_f64(f64::from(i) / 5.0));
        running.kill();
    }
    // The namespace goes last; while it ends, its members may answer twice.
    eventually("everything is pruned", || {
        let report = prune().run();
        (report.code == Some(0) && report.steps().is_empty()).then_some(())
    });
    nothing_is_left(&ns, &other);
}

/// A fraction that differs from run to run.
fn jitter() -> f64 {
    use std::hash::{BuildHasher, RandomState};
    let random = RandomState::new().hash_one(0) % 1000;
    f64::from(u32::try_from(random).unwrap()) / 1000.0
}

fn everything_is_there(ns: &Namespace, other: &Namespace, edition: &str) {
    let value = |map: &Value| map["data"]["key"].clone();
    let maps = |ns: &Namespace| -> Vec<Value> {
        let maps = ns.list("configmaps").into_iter();
        maps.filter(|m| m["metadata"]["name"] != "kube-root-ca.crt")
            .collect()
    };
    for (ns, count) in [(ns, 40), (other, 10)] {
        let maps = maps(ns);
        assert_eq!(maps.len(), count);
        assert!(maps.iter().all(|map| value(map) == edition), "{maps:#?}");
        assert!(maps.iter().all(|map| member_of(map).is_some()));
    }
    let secrets = ns.list("secrets");
    assert_eq!(secrets.iter().filter(|s| member_of(s).is_some()).count(), 7);
    assert!(ns.exists("deployments", "pet") && ns.exists("services", "pet-coverage"));
    assert!(ns.status("pet")["coverageEndpoint"].is_string());
}

fn member_of(object: &Value) -> Option<&str> {
    object["metadata"]["labels"]["applyset.kubernetes.io/part-of"].as_str()
}

/// Whatever is labelled can be found again through what the parent says: its id, kinds and namespaces.
fn every_member_is_in_the_inventory(ns: &Namespace, other: &Namespace) {
    let kinds = [
        ("configmaps", "ConfigMap"),
        ("secrets", "Secret"),
        ("deployments", "Deployment.apps"),
        ("closurejvmtargets", "ClosureJVMTarget.closurejvm.io"),
    ];
    let parent = ns.find("syncs", "it");
    let annotation = |key: &str| -> BTreeSet<String> {
        let text = parent
            .as_ref()
            .and_then(|p| p["metadata"]["annotations"][key].as_str());
        text.unwrap_or_default()
            .split(',')
            .map(str::to_owned)
            .collect()
    };
    let known_kinds = annotation("applyset.kubernetes.io/contains-group-kinds");
    let known_namespaces = annotation("applyset.kubernetes.io/additional-namespaces");
    for (resource, kind) in kinds {
        for place in [ns, other] {
            for object in place.list(resource) {
                let Some(set) = member_of(&object) else {
                    continue;
                };
                let parent = parent.as_ref().expect("members without a parent");
                assert_eq!(
                    parent["metadata"]["labels"]["applyset.kubernetes.io/id"],
                    set
                );
                assert!(
                    known_kinds.contains(kind),
                    "{kind} is not in {known_kinds:?}"
                );
                assert!(
                    place.name == ns.name || known_namespaces.contains(&place.name),
                    "{known_namespaces:?}"
                );
            }
        }
    }
}

fn nothing_is_left(ns: &Namespace, other: &Namespace) {
    assert_eq!(ns.members(), [""; 0]);
    assert!(ns.list("secrets").iter().all(|s| member_of(s).is_none()));
    assert!(ns.list("deployments").is_empty());
    assert!(ns.list("closurejvmtargets").is_empty());
    eventually("the Service and the namespace are gone", || {
        let gone = !ns.exists("services", "pet-coverage")
            && crate::support::lab::api()
                .find(&format!("/api/v1/namespaces/{}", other.name))
                .is_none();
        gone.then_some(())
    });
    assert_eq!(
        ns.get("syncs", "it")["status"]["objects"],
        json!({ "total": 0, "failed": 0 })
    );
}
