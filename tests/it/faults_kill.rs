//! SIGKILL of the controller at random points of its work. After each it is started again and converges: nothing is
//! lost, nothing is left over, nothing of others is touched.

use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::controller::{Controller, Setup, directory_sync};
use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, config_map};
use crate::support::namespace::Namespace;
use crate::support::outcome::{Maps, becomes, is_ready, maps_in, maps_of};
use crate::support::source::Source;

const KILLS: usize = 50;

/// Two hundred ConfigMaps in four namespaces. Each edition changes all and leaves out others.
fn edition(places: &[Namespace], edition: usize) -> Vec<Value> {
    (0..220)
        .filter(|i| i % 11 != edition % 11)
        .map(|i| {
            let place = &places[i % places.len()].name;
            config_map(&format!("m{i}"), &edition.to_string()).within(place)
        })
        .collect()
}

/// Waits until something is no longer as it was, or for so long.
fn until_it_writes(namespaces: &[&str], was: &Maps, most: Duration) {
    let begin = Instant::now();
    while maps_in(api(), namespaces) == *was && begin.elapsed() < most {}
}

#[test]
fn killed_at_fifty_random_points_it_converges_after_each() {
    let seed = fastrand::u64(..);
    println!("kills at random: seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let places: Vec<Namespace> = (0..4).map(|_| Namespace::new("kill")).collect();
    let all: Vec<&str> = places.iter().map(|place| place.name.as_str()).collect();
    let own = &places[0];
    let strangers: Vec<Value> = places.iter().flat_map(strangers).collect();
    let wanted = |objects: &[Value]| {
        let mut maps = maps_of(objects, &own.name);
        maps.extend(maps_of(&strangers, &own.name));
        maps
    };

    let source = Source::new();
    let syncs = [directory_sync(&own.name, "it", &source, json!({}))];
    let start = || -> Controller {
        Setup {
            admin: true,
            config: json!({ "leases": { "enabled": false } }),
            syncs: &syncs,
            ..Setup::new(&[&own.name])
        }
        .launch()
    };
    let write = |number: usize| {
        let objects = edition(&places, number);
        assert_eq!(objects.len(), 200);
        source.write("all.yaml", &objects);
        wanted(&objects)
    };

    // How long it takes undisturbed: from its start, and from a change.
    let mut now = write(0);
    let mut controller = start();
    let begin = Instant::now();
    becomes(api(), &all, &now);
    let from_start = begin.elapsed();
    let begin = Instant::now();
    now = write(1);
    becomes(api(), &all, &now);
    let from_change = begin.elapsed();
    // And how long it then writes: most of the time it waits for the directory to settle.
    let before = std::mem::replace(&mut now, write(2));
    until_it_writes(&all, &before, from_change * 2);
    let begin = Instant::now();
    becomes(api(), &all, &now);
    let writing = begin.elapsed();

    let (mut kills, mut in_the_middle, mut number) = (0, 0, 2);
    while kills < KILLS {
        number += 1;
        let before = std::mem::replace(&mut now, write(number));
        let mut killed = |controller: Controller, span: Duration| {
            // Every other time while it writes, else anywhere.
            if kills % 2 == 0 {
                sleep(span.mul_f64(random.f64() * 1.1));
            } else {
                until_it_writes(&all, &maps_in(api(), &all), span * 2);
                sleep(writing.mul_f64(random.f64()));
            }
            controller.kill();
            kills += 1;
            let there = maps_in(api(), &all);
            in_the_middle += usize::from(there != before && there != now);
            every_member_is_in_the_inventory(own, &all);
            there == now
        };
        killed(controller, from_change);
        controller = start();
        // Every other time again, while it takes up what it had left.
        if number % 2 == 0 {
            killed(controller, from_start);
            controller = start();
        }
        becomes(api(), &all, &now);
        every_member_is_in_the_inventory(own, &all);
    }
    assert!(
        in_the_middle >= KILLS / 5,
        "only {in_the_middle} of {kills} were in the middle: the delays are wrong"
    );
    println!("{in_the_middle} of {kills} kills were in the middle of the work");

    let sync = eventually("the status tells of the last edition", || {
        let sync = is_ready(api(), &own.name, "it");
        let total = sync["status"]["objects"] == json!({ "total": 200, "failed": 0 });
        total.then_some(sync)
    });
    assert_eq!(
        sync["status"]["lastAppliedRevision"],
        sync["status"]["lastAttemptedRevision"]
    );
    drop(controller);
    own.diff(&source).ok().nothing_to_do();
    assert_eq!(labelled(&all).len(), 200);
    for stranger in &strangers {
        let metadata = &stranger["metadata"];
        let [namespace, name] = ["namespace", "name"].map(|key| metadata[key].as_str());
        let there = api().get(&path("configmaps", namespace, name));
        assert_eq!(there["metadata"], *metadata, "it is not ours to touch");
    }
}

/// A ConfigMap of nobody, and one of another set.
fn strangers(place: &Namespace) -> [Value; 2] {
    let other = config_map("of-others", "1").set(
        "/metadata/labels/applyset.kubernetes.io~1part-of",
        "applyset-other",
    );
    [config_map("of-nobody", "1"), other].map(|map| place.create("configmaps", &map))
}

/// All members of the Sync's set, by `namespace/name`.
fn labelled(namespaces: &[&str]) -> Maps {
    let lists = namespaces.iter().flat_map(|namespace| {
        let part_of =
            "applyset.kubernetes.io/part-of,applyset.kubernetes.io/part-of!=applyset-other";
        let selector = part_of.replace('!', "%21").replace('=', "%3D");
        let list = path("configmaps", Some(namespace), None);
        api().list(&format!("{list}?labelSelector={selector}"))
    });
    let entry = |map: Value| {
        let metadata = &map["metadata"];
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let place = format!(
            "{}/{}",
            text(&metadata["namespace"]),
            text(&metadata["name"])
        );
        let label = text(&metadata["labels"]["applyset.kubernetes.io/part-of"]);
        (place, label)
    };
    lists.map(entry).collect()
}

/// Whatever is labelled can be found again through what the Sync says.
fn every_member_is_in_the_inventory(own: &Namespace, namespaces: &[&str]) {
    let members = labelled(namespaces);
    let sync = own.get("syncs", "it");
    let metadata = &sync["metadata"];
    let text = |key: &str| metadata["annotations"][key].as_str().unwrap_or_default();
    let id = &metadata["labels"]["applyset.kubernetes.io/id"];
    let kinds = text("applyset.kubernetes.io/contains-group-kinds");
    let places = text("applyset.kubernetes.io/additional-namespaces");
    for (member, label) in members {
        assert_eq!(*id, label.as_str(), "{member}");
        assert!(kinds.split(',').any(|kind| kind == "ConfigMap"), "{kinds}");
        let (place, _) = member.split_once('/').unwrap();
        let known = place == own.name || places.split(',').any(|it| it == place);
        assert!(known, "{member} is not in {places}");
    }
}
