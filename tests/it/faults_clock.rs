//! The wall clock of one replica jumps by hours, forth and back: nobody's work moves, and no status is touched by it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::audit::{Audit, Event, is_quiet};
use crate::support::controller::{Setup, directory_sync};
use crate::support::lab::{api, eventually, shared};
use crate::support::manifest::config_map;
use crate::support::namespace::{Namespace, condition_of};
use crate::support::outcome::{becomes, is_ready, maps_of};
use crate::support::proxy::Proxy;
use crate::support::source::Source;

/// So many that two replicas share them, and neither has none of them: one in 32,768 runs would see that.
const SYNCS: usize = 16;

#[test]
fn a_clock_that_jumps_moves_no_work_and_touches_no_status() {
    let ns = Namespace::new("clock");
    // Without TLS: what a clock makes of certificates is another story.
    let proxy = Proxy::new(shared());
    let clock = Clock::new();
    let sources: Vec<Source> = (0..SYNCS).map(|_| Source::new()).collect();
    let maps = |value: &str| -> Vec<Value> {
        let map = |i| config_map(&format!("m{i}"), value);
        (0..SYNCS).map(map).collect()
    };
    let change = |value: &str| {
        let maps = maps(value);
        for (source, map) in sources.iter().zip(&maps) {
            source.write("all.yaml", std::slice::from_ref(map));
        }
        maps_of(&maps, &ns.name)
    };
    let wanted = change("at first");
    let syncs: Vec<Value> = sources
        .iter()
        .enumerate()
        .map(|(i, source)| directory_sync(&ns.name, &format!("s{i}"), source, json!({})))
        .collect();
    let users = [Audit::new("steady"), Audit::new("jumpy")];
    let by = clock.by();
    let by: Vec<&str> = by.iter().map(String::as_str).collect();
    let start = |user: &str, by: &[&str]| {
        Setup {
            lab: proxy.dir(),
            admin: true,
            user: Some(user),
            syncs: &syncs,
            by,
            ..Setup::new(&[&ns.name])
        }
        .start()
    };
    let _steady = start(&users[0].user, &[]);
    let _jumpy = start(&users[1].user, &by);
    becomes(api(), &[&ns.name], &wanted);
    eventually("two replicas know of each other", || {
        let leases = leases(&ns);
        let know = |lease: &Value| {
            let members = &lease["annotations"]["closurejvm.io/members"];
            members
                .as_str()
                .is_some_and(|members| members.contains(','))
        };
        (leases.len() == 2 && leases.iter().all(know)).then_some(())
    });
    // What one gives up, the other one has by then.
    thread::sleep(Duration::from_secs(4));
    // Settled: what each does from now on is its own.
    let wanted = change("settled");
    becomes(api(), &[&ns.name], &wanted);
    let ready = |i: usize| is_ready(api(), &ns.name, &format!("s{i}"));
    let since = |i: usize| condition_of(&ready(i), "Ready")["lastTransitionTime"].clone();
    let before: Vec<Value> = (0..SYNCS).map(since).collect();
    let known = leases(&ns);
    let done = users.each_ref().map(|user| user.events().len());

    let ended = AtomicBool::new(false);
    let seen = thread::scope(|scope| {
        let watcher = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            while !ended.load(Ordering::Relaxed) {
                seen.extend(leases(&ns).iter().map(Value::to_string));
                thread::sleep(Duration::from_millis(100));
            }
            seen
        });
        let mut furthest = 0;
        for jump in ["+6h", "-3h", "+30h", "+0", "-48h", "+0"] {
            clock.set(jump);
            let wanted = change(jump);
            becomes(api(), &[&ns.name], &wanted);
            // Longer than a Lease lasts.
            thread::sleep(Duration::from_secs(4));
            furthest = furthest.max((0..SYNCS).map(|i| hours_ahead(&ready(i))).max().unwrap());
        }
        ended.store(true, Ordering::Relaxed);
        assert!(
            furthest >= 29,
            "its clock was {furthest} h ahead: it did not jump"
        );
        watcher.join().unwrap()
    });
    let known: BTreeSet<String> = known.iter().map(Value::to_string).collect();
    assert_eq!(seen, known, "Leases changed hands, or members were lost");

    // Whose a Sync was, it stayed, and nobody else wrote what is in it.
    let written = |user: &Audit<'_>, from: usize| -> BTreeMap<String, usize> {
        let mut counts = BTreeMap::new();
        for event in &user.events()[from..] {
            if event.is_write() && event.resource == "configmaps" {
                *counts.entry(event.name.clone()).or_default() += 1;
            }
        }
        counts
    };
    let [steady, jumpy] = [0, 1].map(|i| written(&users[i], done[i]));
    assert!(
        !steady.is_empty() && !jumpy.is_empty(),
        "{steady:?} {jumpy:?}"
    );
    let both: Vec<_> = steady
        .keys()
        .filter(|name| jumpy.contains_key(*name))
        .collect();
    assert!(both.is_empty(), "written by both: {both:?}");
    assert_eq!(steady.len() + jumpy.len(), SYNCS);
    for (name, count) in steady.iter().chain(&jumpy) {
        assert_eq!(*count, 6, "{name} changed six times");
    }

    // They were ready all the time, and none of the jumps was taken for a change of that.
    let after: Vec<Value> = (0..SYNCS).map(since).collect();
    assert_eq!(after, before);
    is_quiet(&users.each_ref());
    let writes = || -> Vec<Event> {
        let all = users.iter().flat_map(Audit::writes);
        all.filter(|event| event.resource != "leases").collect()
    };
    let quiet = writes().len();
    clock.set("+1h");
    thread::sleep(Duration::from_secs(4));
    let late = writes().split_off(quiet);
    assert!(
        late.is_empty(),
        "it has nothing to do, and writes: {late:?}"
    );
}

/// The Leases of the replicas, without what every renewal changes.
fn leases(ns: &Namespace) -> Vec<Value> {
    let leases = ns.list("leases.coordination.k8s.io/v1");
    leases
        .iter()
        .map(|lease| {
            let (metadata, spec) = (&lease["metadata"], &lease["spec"]);
            json!({
                "name": metadata["name"], "uid": metadata["uid"], "holder": spec["holderIdentity"],
                "acquired": spec["acquireTime"], "annotations": metadata["annotations"],
            })
        })
        .collect()
}

/// How far the time of a Sync's last run lies ahead of ours.
fn hours_ahead(sync: &Value) -> i64 {
    let time = sync["status"]["runs"][0]["time"].as_str().unwrap();
    let time: jiff::Timestamp = time.parse().unwrap();
    (time.as_second() - jiff::Timestamp::now().as_second()) / 3600
}

/// A wall clock that can be set while a process runs. The monotonic one goes on as it is.
struct Clock(tempfile::TempDir);

impl Clock {
    fn new() -> Self {
        let clock = Self(tempfile::tempdir().unwrap());
        clock.set("+0");
        clock
    }

    fn file(&self) -> PathBuf {
        self.0.path().join("offset")
    }

    /// Sets it to so much before or after the real time.
    fn set(&self, offset: &str) {
        let next = self.0.path().join("next");
        fs::write(&next, offset).unwrap();
        fs::rename(next, self.file()).unwrap();
    }

    /// What starts a process that lives by it.
    fn by(&self) -> [String; 5] {
        [
            "env".into(),
            format!("LD_PRELOAD={}", library().display()),
            format!("FAKETIME_TIMESTAMP_FILE={}", self.file().display()),
            "FAKETIME_NO_CACHE=1".into(),
            "FAKETIME_DONT_FAKE_MONOTONIC=1".into(),
        ]
    }
}

/// Where Debian's package `faketime` has its library.
fn library() -> PathBuf {
    let folders = Path::new("/usr/lib").read_dir().unwrap().flatten();
    folders
        .map(|folder| folder.path().join("faketime/libfaketimeMT.so.1"))
        .find(|library| library.is_file())
        .expect("the package faketime is not installed: .ci/setup does that")
}
