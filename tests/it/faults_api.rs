//! The API server fails: everything is made good, nothing is lost, nobody is flooded.

use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::audit::{Audit, is_quiet};
use crate::support::controller::{Setup, directory_sync};
use crate::support::covergence::Run;
use crate::support::lab::{OwnLab, api, eventually, shared};
use crate::support::manifest::{config_map, deployment, own_agent};
use crate::support::namespace::{Namespace, unique};
use crate::support::outcome::{
    becomes, becomes_within, is_ready, is_ready_within, maps_in, maps_of,
};
use crate::support::proxy::{Fault, ON_REQUESTS, Proxy, at_random};
use crate::support::source::Source;

/// So many ConfigMaps with a value.
fn maps(count: usize, value: &str) -> Vec<Value> {
    (0..count)
        .map(|i| config_map(&format!("m{i}"), value))
        .collect()
}

#[test]
fn a_one_shot_sync_that_meets_faults_says_so_and_the_next_one_makes_it_good() {
    let (ns, proxy) = (Namespace::new("faulty-once"), Proxy::new(shared()));
    let source = Source::new().with("all.yaml", &maps(30, "1"));
    let sync = || {
        Run::new(&["sync", "--name", "it", "--namespace", &ns.name, "--prune"])
            .args(&["-o", "json"])
            .on(proxy.dir())
            .arg(source.path())
    };
    // Every write happens, and no answer comes.
    proxy.set(|asked| {
        (asked.method == "PATCH" && asked.is_about("configmaps")).then_some(Fault::ResetAfter)
    });
    let report = sync().code(2);
    assert_eq!(report.count("failed"), 30);
    assert_eq!(proxy.count(Fault::ResetAfter), 30);
    becomes(api(), &[&ns.name], &maps_of(&maps(30, "1"), &ns.name));

    // They are known for what they are.
    proxy.heal();
    sync().ok().nothing_to_do();
    source.write("all.yaml", &maps(10, "1"));
    proxy.set(|asked| (asked.method == "DELETE").then_some(Fault::ResetAfter));
    sync().code(2);
    assert_eq!(proxy.count(Fault::ResetAfter), 50);
    proxy.heal();
    sync().ok().nothing_to_do();
    becomes(api(), &[&ns.name], &maps_of(&maps(10, "1"), &ns.name));
}

#[test]
fn a_fifth_of_all_requests_fails_and_nothing_is_lost() {
    let (ns, proxy) = (Namespace::new("faulty"), Proxy::new(shared()));
    let seed = fastrand::u64(..);
    proxy.set(at_random(seed, 20));
    let source = Source::new().with("all.yaml", &maps(100, "1"));
    // Never to be touched.
    ns.create("configmaps", &config_map("stranger", "1"));
    let wanted = |maps: &[Value]| {
        let mut wanted = maps_of(maps, &ns.name);
        wanted.insert(format!("{}/stranger", ns.name), "1".into());
        wanted
    };
    let syncs = [directory_sync(&ns.name, "it", &source, json!({}))];
    let controller = Setup {
        lab: proxy.dir(),
        admin: true,
        syncs: &syncs,
        ..Setup::new(&[&ns.name])
    }
    .start();
    // Two of three runs meet a fault, and each failure doubles the pause before the next one.
    let long = Duration::from_secs(300);
    becomes_within(long, api(), &[&ns.name], &wanted(&maps(100, "1")));
    for (count, value) in [(100, "2"), (40, "3"), (80, "4")] {
        source.write("all.yaml", &maps(count, value));
        becomes_within(long, api(), &[&ns.name], &wanted(&maps(count, value)));
    }
    for fault in ON_REQUESTS {
        assert!(proxy.count(fault) > 0, "{fault:?} never happened");
    }
    let sync = is_ready_within(long, api(), &ns.name, "it");
    assert_eq!(
        sync["status"]["objects"],
        json!({ "total": 80, "failed": 0 })
    );
    drop(controller);
    proxy.heal();
    // Nothing of it is left to be done by anybody.
    ns.diff(&source).ok().nothing_to_do();
}

/// Watches that end as real ones do while something happens that they do not tell of.
#[test]
fn what_happens_while_watches_are_gone_is_seen_afterwards() {
    let (ns, proxy) = (Namespace::new("gone"), Proxy::new(shared()));
    let mut objects = maps(20, "1");
    objects.extend([deployment("pet"), own_agent("pet")]);
    let source = Source::new().with("all.yaml", &objects);
    let audit = Audit::new("gone");
    // Nothing but watches can tell in time.
    let syncs = [directory_sync(
        &ns.name,
        "it",
        &source,
        json!({ "interval": "1h" }),
    )];
    let _controller = Setup {
        lab: proxy.dir(),
        admin: true,
        user: Some(&audit.user),
        syncs: &syncs,
        ..Setup::new(&[&ns.name])
    }
    .start();
    is_ready(api(), &ns.name, "it");
    let service = |uid: &Value| {
        eventually("the Service is there", || {
            let service = ns.find("services", "pet-coverage")?;
            let now = service["metadata"]["uid"].clone();
            (now != *uid).then_some(now)
        })
    };
    let mut uid = service(&Value::Null);
    let all = maps_of(&maps(20, "1"), &ns.name);

    let gone = [
        Fault::GoneEvent,
        Fault::Code(410),
        Fault::ResetBefore,
        Fault::TooMany,
        Fault::Code(500),
    ];
    // Others each time: what is disturbed again and again is left in peace.
    let mut names = (0..20).map(|i| format!("m{i}"));
    let mut next = || names.next().unwrap();
    for (i, fault) in gone.into_iter().enumerate() {
        let before = proxy.count(fault);
        proxy.set(move |asked| asked.is_watch().then_some(fault));
        proxy.reset_watches();
        eventually("several watches were asked for again", || {
            (proxy.count(fault) >= before + 3).then_some(())
        });
        let by_hand = json!({ "data": { "key": "by hand" } });
        ns.edit("configmaps", &next(), &by_hand);
        ns.delete("configmaps", &next());
        if i < 2 {
            ns.delete("services", "pet-coverage");
        }
        proxy.heal();
        becomes(api(), &[&ns.name], &all);
        if i < 2 {
            uid = service(&uid);
        }
    }

    // Events that are cut in two.
    for _ in 0..3 {
        let before = proxy.count(Fault::Cut);
        proxy.set(|asked| (asked.is_watch() && asked.is_about("configmaps")).then_some(Fault::Cut));
        proxy.reset_watches();
        ns.delete("configmaps", &next());
        eventually("its end was cut", || {
            (proxy.count(Fault::Cut) > before).then_some(())
        });
        proxy.heal();
        becomes(api(), &[&ns.name], &all);
    }
    is_ready(api(), &ns.name, "it");
    is_quiet(&[&audit]);
}

#[test]
fn the_api_server_and_etcd_go_and_come_back() {
    let lab = OwnLab::new();
    let api = lab.api();
    lab.install_kinds();
    let namespace = unique("away");
    api.create(
        "/api/v1/namespaces",
        &json!({ "metadata": { "name": namespace } }),
    );
    let proxy = Proxy::new(lab.dir());
    let source = Source::new().with("all.yaml", &maps(100, "1"));
    let syncs = [directory_sync(&namespace, "it", &source, json!({}))];
    // Slow enough to be met in the middle.
    let slow = Fault::Stall(Duration::from_millis(200));
    proxy.set(move |asked| {
        (asked.method == "PATCH" && asked.is_about("configmaps")).then_some(slow)
    });
    let controller = Setup {
        lab: proxy.dir(),
        admin: true,
        syncs: &syncs,
        config: json!({ "concurrency": 4 }),
        ..Setup::new(&[&namespace])
    }
    .launch();
    let there = eventually("it is in the middle of its sync", || {
        let there = maps_in(&api, &[&namespace]).len();
        (there >= 20).then_some(there)
    });
    assert!(there <= 80, "{there} were there at once");
    lab.kill_apiserver();
    // Nobody answers; that is no reason to ask all the time.
    let asked = proxy.asked();
    sleep(Duration::from_secs(5));
    let asked = proxy.asked() - asked;
    assert!(
        asked < 1000,
        "{asked} requests in 5 s, and none was answered"
    );
    assert_eq!(alive(&controller), 200);
    lab.restart_apiserver();
    proxy.heal();
    becomes(&api, &[&namespace], &maps_of(&maps(100, "1"), &namespace));
    let before = is_ready(&api, &namespace, "it");
    controller.wait_until_ready();

    lab.stop_etcd();
    source.write("all.yaml", &maps(90, "2"));
    let asked = proxy.asked();
    sleep(Duration::from_secs(20));
    let asked = proxy.asked() - asked;
    assert!(
        asked < 4000,
        "{asked} requests in 20 s, and none was answered"
    );
    assert_eq!(alive(&controller), 200);
    lab.start_etcd();
    becomes(&api, &[&namespace], &maps_of(&maps(90, "2"), &namespace));
    let after = eventually("the new revision is applied", || {
        let sync = is_ready(&api, &namespace, "it");
        let revision = |sync: &Value| sync["status"]["lastAppliedRevision"].clone();
        (revision(&sync) != revision(&before)).then_some(sync)
    });
    assert_eq!(
        after["status"]["objects"],
        json!({ "total": 90, "failed": 0 })
    );
    assert_eq!(after["metadata"]["uid"], before["metadata"]["uid"]);
    // And it still sees what happens.
    api.delete(&path("configmaps", Some(&namespace), Some("m7")));
    becomes(&api, &[&namespace], &maps_of(&maps(90, "2"), &namespace));
}

fn alive(controller: &crate::support::controller::Controller) -> u16 {
    controller.http("/healthz").expect("an answer").0
}
