//! Several processes of `covergence run`: they share the work, take over from each other, and never write at once.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard};
use std::thread::sleep;
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::controller::{Controller, Setup, directory_sync};
use crate::support::history::{History, Write};
use crate::support::lab::{OwnLab, api, eventually};
use crate::support::manifest::{Change, config_map, deployment, own_agent_of};
use crate::support::namespace::{Namespace, unique};
use crate::support::source::Source;

/// Syncs, and as many Targets: so many that each of three replicas gets some of both.
const MANY: usize = 30;

const LEASES: &str = "leases.coordination.k8s.io/v1";

/// The duration of the Leases: by then, others have been told of a replica that joins.
const LEASE: SignedDuration = SignedDuration::from_secs(3);

/// A replica that talks to the API server as a user of its own.
struct Replica {
    user: String,
    controller: Controller,
}

impl Replica {
    fn start(ns: &Namespace) -> Self {
        let user = unique("replica");
        let controller = Setup {
            user: Some(&user),
            ..Setup::new(&[&ns.name])
        }
        .start();
        Self { user, controller }
    }

    fn end(&mut self) -> i32 {
        eventually("it has ended", || self.controller.ended())
    }

    /// When it learned that there are others than before, or that it may write at all.
    fn turns(&self) -> Vec<Timestamp> {
        let texts = ["the replicas are these now", "our Lease is held"];
        let lines = texts.iter().flat_map(|text| self.controller.logged(text));
        let time = |line: String| {
            let line: Value = serde_json::from_str(&line).unwrap();
            line["time"].as_str().unwrap().parse().unwrap()
        };
        lines.map(time).collect()
    }
}

/// Waits until these replicas share the work.
fn share(replicas: &[&Replica]) {
    eventually("they share the work", || {
        let members = |replica: &&Replica| {
            let members = replica.controller.metric("covergence_lease_members", &[]);
            members as usize == replicas.len()
        };
        replicas.iter().all(members).then_some(())
    });
}

/// Sources and Targets that change again and again.
struct Shop<'a> {
    ns: &'a Namespace,
    sources: Vec<Source>,
    /// The number of the last change.
    changed: Mutex<usize>,
}

impl<'a> Shop<'a> {
    fn new(ns: &'a Namespace) -> Self {
        let file = |i| Source::new().with("a.yaml", &[config_map(&format!("c{i}"), "0")]);
        ns.create("deployments", &deployment("pet").set("/spec/replicas", 0));
        Self {
            ns,
            sources: (0..MANY).map(file).collect(),
            changed: Mutex::new(0),
        }
    }

    fn open(&self) {
        for (i, source) in self.sources.iter().enumerate() {
            let sync = directory_sync(&self.ns.name, &format!("s{i}"), source, json!({}));
            self.ns.create("syncs", &sync);
            let target = own_agent_of(&format!("t{i}"), "pet");
            self.ns.create("closurejvmtargets", &target);
        }
    }

    fn change(&self, number: usize) {
        let i = number % MANY;
        let map = config_map(&format!("c{i}"), &number.to_string());
        self.sources[i].write("a.yaml", &[map]);
        let port = json!({ "port": 6300 + number });
        let spec = json!({ "spec": { "agents": { "coverage": port } } });
        self.ns.edit("closurejvmtargets", &format!("t{i}"), &spec);
    }

    /// Changes one thing after the other until it is to end.
    fn change_all_the_time(&self, end: &AtomicBool) {
        while !end.load(Ordering::SeqCst) {
            let mut number = self.changed.lock().unwrap();
            *number += 1;
            self.change(*number);
            drop(number);
            sleep(Duration::from_millis(50));
        }
    }

    /// Lets nothing change as long as this is held, once all is as the last changes want it.
    fn quiet(&self) -> MutexGuard<'_, usize> {
        let number = self.changed.lock().unwrap();
        self.converges(*number);
        number
    }

    /// Waits until all is as the changes up to this one want it.
    fn converges(&self, number: usize) {
        eventually("all is as it is to be", || {
            let last = |i: usize| (0..=number).rev().find(|n| n % MANY == i).unwrap_or(0);
            let maps = self.ns.list("configmaps");
            let services = self.ns.list("services");
            let find = |all: &[Value], name: String| {
                all.iter()
                    .find(|it| it["metadata"]["name"] == name.as_str())
                    .cloned()
            };
            for i in 0..MANY {
                let map = find(&maps, format!("c{i}"))?;
                let service = find(&services, format!("t{i}-coverage"))?;
                let good = map["data"]["key"] == json!(last(i).to_string())
                    && service["spec"]["ports"][0]["port"] == 6300 + last(i);
                if !good {
                    return None;
                }
            }
            Some(())
        });
    }

    /// Deletes all there is, and waits until it is there again.
    fn comes_back(&self) {
        for i in 0..MANY {
            self.ns.delete_at_once("configmaps", &format!("c{i}"));
            self.ns
                .delete_at_once("services", &format!("t{i}-coverage"));
        }
        eventually("all is there again", || {
            let there = |i| {
                self.ns.exists("configmaps", &format!("c{i}"))
                    && self.ns.exists("services", &format!("t{i}-coverage"))
            };
            (0..MANY).all(there).then_some(())
        });
    }
}

#[test]
fn work_is_shared_and_taken_over_and_nothing_is_written_by_two_at_once() {
    let ns = Namespace::new("replicas");
    let history = History::start();
    let shop = Shop::new(&ns);
    let (mut a, mut b) = (Replica::start(&ns), Replica::start(&ns));
    share(&[&a, &b]);
    shop.open();
    shop.converges(0);
    let end = AtomicBool::new(false);
    let replicas = std::thread::scope(|scope| {
        scope.spawn(|| shop.change_all_the_time(&end));
        let _end = EndAtLast(&end);

        let mut c = Replica::start(&ns);
        share(&[&a, &b, &c]);
        for kind in ["configmaps/c", "services/t"] {
            eventually("the third one has got some of the work", || {
                let writes = history.writes(&[&c.user], &ns.name);
                let is = |write: &Write| write.object.starts_with(kind);
                writes.iter().any(is).then_some(())
            });
        }

        a.controller.signal(libc::SIGKILL);
        a.end();
        shop.comes_back();
        let d = Replica::start(&ns);
        share(&[&b, &c, &d]);

        b.controller.signal(libc::SIGTERM);
        assert_eq!(b.end(), 0);
        let leases = ns.list(LEASES);
        let given_up = |lease: &&Value| lease["spec"].get("holderIdentity").is_none();
        assert_eq!(leases.iter().filter(given_up).count(), 1, "{leases:#?}");
        share(&[&c, &d]);
        shop.comes_back();

        // Not amid a write: what is on its way when a process is stopped is what no Lease can take back.
        let quiet = shop.quiet();
        c.controller.signal(libc::SIGSTOP);
        share(&[&d]);
        drop(quiet);
        shop.comes_back();
        c.controller.signal(libc::SIGCONT);
        share(&[&c, &d]);
        drop(shop.quiet());
        c.controller.signal(libc::SIGTERM);
        assert_eq!(c.end(), 0);
        [a, b, c, d]
    });

    let users: Vec<&str> = replicas.iter().map(|replica| &*replica.user).collect();
    let writes = history.writes(&users, &ns.name);
    let writers: BTreeSet<&str> = writes.iter().map(|write| &*write.by).collect();
    assert_eq!(writers.len(), replicas.len());
    let objects: BTreeSet<&str> = writes.iter().map(|write| &*write.object).collect();
    // ConfigMaps, Syncs, Services and Targets.
    assert_eq!(objects.len(), 4 * MANY, "{objects:#?}");
    for object in objects {
        let of_it: Vec<&Write> = writes.iter().filter(|it| it.object == object).collect();
        are_by_one_at_a_time(&of_it, &replicas);
    }
}

/// Ends what goes on beside a test also when the test fails.
struct EndAtLast<'a>(&'a AtomicBool);

impl Drop for EndAtLast<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Two replicas never have requests for an object in flight at once, and who writes what another one wrote before him
/// has just learned that the replicas are others now, or that he may write again.
fn are_by_one_at_a_time(writes: &[&Write], replicas: &[Replica]) {
    for (i, write) in writes.iter().enumerate() {
        let others = writes[..i].iter().filter(|other| other.by != write.by);
        for other in others {
            assert!(other.end <= write.begin, "at once: {other:?}, {write:?}");
        }
        let Some(before) = i.checked_sub(1).map(|i| writes[i]) else {
            continue;
        };
        if before.by == write.by {
            continue;
        }
        let by = replicas.iter().find(|it| it.user == write.by).unwrap();
        // Whoever joins knows of it before those who leave keys to him.
        let since = before.end - LEASE;
        let turn = by
            .turns()
            .into_iter()
            .find(|at| (since..=write.begin).contains(at));
        assert!(turn.is_some(), "without reason: {before:?}, {write:?}");
    }
}

#[test]
fn who_cannot_write_leases_writes_nothing_and_comes_back() {
    let ns = Namespace::new("no-lease");
    let history = History::start();
    let user = unique("replica");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    ns.create("syncs", &directory_sync(&ns.name, "it", &source, json!({})));
    let rights = Rights::new(&ns, &user);
    let mut controller = Setup {
        admin: true,
        args: &["--as", &user],
        ..Setup::new(&[&ns.name])
    }
    .start();
    let value = || {
        ns.find("configmaps", "a")
            .map(|map| map["data"]["key"].clone())
    };
    let is =
        |wanted: &str| eventually("a is as it is to be", || (value()? == wanted).then_some(()));
    is("1");

    rights.take();
    let not_ready = |why: &str| {
        eventually("it is not ready", || {
            let (code, text) = controller.http("/readyz")?;
            (code == 503 && text.contains(why)).then_some(())
        });
    };
    not_ready("cannot be listed: not allowed");
    assert_eq!(controller.http("/healthz").unwrap().0, 200);
    let from = Timestamp::now();
    source.write("a.yaml", &[config_map("a", "2")]);
    ns.delete_at_once("configmaps", "a");
    // Time enough for what must not happen.
    sleep(Duration::from_secs(2));
    let to = Timestamp::now();
    rights.give();
    is("2");
    controller.wait_until_ready();
    let writes = history.writes(&[&user], &ns.name);
    let meanwhile = |write: &&Write| (from..to).contains(&write.begin);
    assert_eq!(
        writes.iter().find(meanwhile).map(|write| &write.object),
        None
    );
    assert!(writes.iter().any(|write| write.begin >= to));
    assert_eq!(controller.ended(), None);
}

/// A user who may do all that a controller does; whether he may write Leases is decided again and again.
struct Rights<'a> {
    ns: &'a Namespace,
    user: &'a str,
}

const CLUSTER_ROLES: &str = "clusterroles";
const CLUSTER_ROLE_BINDINGS: &str = "clusterrolebindings";

impl<'a> Rights<'a> {
    fn new(ns: &'a Namespace, user: &'a str) -> Self {
        let groups = [
            "",
            "apps",
            "closurejvm.io",
            "apiextensions.k8s.io",
            "discovery.k8s.io",
        ];
        let role = json!({
            "metadata": { "name": user },
            "rules": [{ "apiGroups": groups, "resources": ["*"], "verbs": ["*"] }],
        });
        api().create(&path(CLUSTER_ROLES, None, None), &role);
        let binding = binding(user, "ClusterRole", user);
        api().create(&path(CLUSTER_ROLE_BINDINGS, None, None), &binding);
        let role = json!({
            "metadata": { "name": "leases" },
            "rules": [{ "apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"] }],
        });
        ns.create("roles", &role);
        let rights = Self { ns, user };
        rights.give();
        rights
    }

    fn give(&self) {
        let binding = binding(self.user, "Role", "leases");
        self.ns.create("rolebindings", &binding);
    }

    fn take(&self) {
        self.ns.delete_at_once("rolebindings", self.user);
    }
}

impl Drop for Rights<'_> {
    fn drop(&mut self) {
        for resource in [CLUSTER_ROLES, CLUSTER_ROLE_BINDINGS] {
            let path = path(resource, None, Some(self.user));
            let _ = api().send("DELETE", &path, "", &Value::Null);
        }
    }
}

fn binding(user: &str, kind: &str, role: &str) -> Value {
    json!({
        "metadata": { "name": user },
        "subjects": [{ "kind": "User", "name": user, "apiGroup": "rbac.authorization.k8s.io" }],
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": role },
    })
}

#[test]
fn it_waits_for_its_api_server_and_does_not_wait_for_it_to_end() {
    let lab = OwnLab::new();
    let server = Server::of(&lab);
    server.signal("KILL");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let sync = directory_sync("default", "it", &source, json!({}));
    let mut controller = Setup {
        lab: lab.dir(),
        admin: true,
        syncs: &[sync],
        ..Setup::new(&["default"])
    }
    .launch();
    let not_ready = |controller: &Controller| {
        eventually("it is not ready", || {
            let (code, text) = controller.http("/readyz")?;
            (code == 503 && text.contains("lease: ")).then_some(text)
        })
    };
    let text = eventually("it says what it waits for", || {
        let text = not_ready(&controller);
        text.contains("cannot be reached").then_some(text)
    });
    assert!(text.contains("watches: "), "{text}");
    assert_eq!(controller.http("/healthz").unwrap().0, 200);
    lab.restart_apiserver();
    controller.wait_until_ready();
    let api = lab.api();
    let map = path("configmaps", Some("default"), Some("a"));
    eventually("the source is applied", || api.find(&map).map(drop));

    let server = Server::of(&lab);
    server.signal("STOP");
    source.write("a.yaml", &[config_map("a", "2")]);
    not_ready(&controller);
    assert_eq!(controller.http("/healthz").unwrap().0, 200);
    controller.signal(libc::SIGTERM);
    let code = eventually("it has ended", || controller.ended());
    // Nothing has been answered meanwhile.
    server.signal("CONT");
    assert_eq!(code, 0);
}

/// The API server of a lab of one's own.
struct Server(String);

impl Server {
    fn of(lab: &OwnLab) -> Self {
        let pid = std::fs::read_to_string(lab.dir().join("run/kube-apiserver.pid"));
        Self(pid.unwrap().trim().to_owned())
    }

    fn signal(&self, signal: &str) {
        let mut kill = std::process::Command::new("kill");
        let status = kill.args(["-s", signal, &self.0]).status();
        assert!(status.unwrap().success());
    }
}
