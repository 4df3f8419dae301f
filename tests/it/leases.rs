//! Replicas share the keys, take over from each other, and leave Leases that people can read.

use std::time::Duration;

use covergence::cluster::{Cluster, ClusterError, ConnectOptions};
use covergence::lease::{Keeper, LEADER, Options, Permit, Shards};
use covergence::web::Health;
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::support::kubectl::kubectl;
use crate::support::lab::{api, eventually, shared};
use crate::support::namespace::Namespace;

const LEASES: &str = "leases.coordination.k8s.io/v1";

/// Replicas in one process, each with a connection and a Lease of its own.
struct Replicas {
    ns: Namespace,
    runtime: Runtime,
    running: Vec<(String, Shards, Keeper)>,
}

impl Replicas {
    fn new(prefix: &str) -> Self {
        let mut runtime = Builder::new_multi_thread();
        runtime.worker_threads(1).enable_all();
        Self {
            ns: Namespace::new(prefix),
            runtime: runtime.build().unwrap(),
            running: Vec::new(),
        }
    }

    fn start(&mut self, identity: &str, seconds: u64) {
        let options = Options {
            namespace: self.ns.name.clone(),
            identity: identity.into(),
            duration: Duration::from_secs(seconds),
        };
        let cluster = self.runtime.block_on(connect());
        let _inside = self.runtime.enter();
        let held = Health::default().gate("lease");
        let (shards, keeper) = Keeper::start(cluster, options, held);
        self.running.push((identity.into(), shards, keeper));
    }

    fn stop(&mut self, identity: &str) -> (Shards, Keeper) {
        let found = self.running.iter().position(|(name, ..)| name == identity);
        let (_, shards, keeper) = self.running.remove(found.unwrap());
        (shards, keeper)
    }

    /// Whose each key is, when all have an owner. A permit that is held keeps others from getting the key meanwhile.
    fn owners(&self) -> Option<Vec<&str>> {
        let mut owners = Vec::new();
        for key in keys() {
            let permits: Vec<(&str, Permit)> = self
                .running
                .iter()
                .filter_map(|(name, shards, _)| Some((name.as_str(), shards.permit(&key)?)))
                .collect();
            assert!(permits.len() <= 1, "{key}: {permits:?}");
            owners.push(permits.first()?.0);
        }
        Some(owners)
    }

    /// Waits until every key has an owner, and these replicas have all of them among themselves.
    fn share(&self, identities: &[&str]) {
        eventually(&format!("{identities:?} have all keys"), || {
            let owners = self.owners()?;
            let all = identities.iter().all(|name| owners.contains(name));
            let only = owners.iter().all(|name| identities.contains(name));
            (all && only).then_some(())
        });
        for (_, shards, _) in &self.running {
            assert_eq!(shards.members(), identities);
        }
    }

    fn lease(&self, identity: &str) -> Value {
        self.ns.get(LEASES, &format!("covergence-{identity}"))
    }
}

async fn connect() -> Cluster {
    let options = ConnectOptions {
        kubeconfig: Some(shared().join("kubeconfig")),
        ..ConnectOptions::default()
    };
    Cluster::connect(&options).await.unwrap()
}

fn keys() -> Vec<String> {
    let keys = (0..50).map(|i| format!("target/shop/pet-{i}"));
    keys.chain([LEADER.to_owned()]).collect()
}

#[test]
fn replicas_share_the_keys_and_say_so_in_their_leases() {
    let mut replicas = Replicas::new("lease-share");
    replicas.start("a", 5);
    replicas.share(&["a"]);
    let mut changes = replicas.running[0].1.changes();
    changes.mark_unchanged();
    replicas.start("b", 5);
    replicas.start("c", 5);
    replicas.share(&["a", "b", "c"]);
    assert!(changes.has_changed().unwrap());

    let lease = replicas.lease("b");
    let (metadata, spec) = (&lease["metadata"], &lease["spec"]);
    assert_eq!(
        metadata["annotations"],
        json!({ "closurejvm.io/members": "a,b,c" })
    );
    assert_eq!(
        metadata["labels"],
        json!({ "app.kubernetes.io/managed-by": "covergence", "app.kubernetes.io/component": "replica" })
    );
    let managers = metadata["managedFields"].as_array().unwrap();
    assert_eq!(managers.len(), 1, "{managers:?}");
    assert_eq!(managers[0]["manager"], "covergence-lease");
    assert_eq!(managers[0]["operation"], "Apply");
    assert_eq!(spec["leaseDurationSeconds"], 5);
    eventually("the Lease is renewed", || {
        let renewed = &replicas.lease("b")["spec"];
        assert_eq!(renewed["acquireTime"], spec["acquireTime"]);
        (renewed["renewTime"] != spec["renewTime"]).then_some(())
    });

    let namespace = &replicas.ns.name;
    let listed = kubectl(&["get", "leases", "--no-headers", "-n", namespace], &[]);
    let columns: Vec<Vec<&str>> = listed
        .lines()
        .map(|line| line.split_whitespace().take(2).collect())
        .collect();
    let expected = [
        ["covergence-a", "a"],
        ["covergence-b", "b"],
        ["covergence-c", "c"],
    ];
    assert_eq!(columns, expected);
}

#[test]
fn the_keys_of_a_dead_replica_go_to_the_others_and_its_lease_is_deleted() {
    let mut replicas = Replicas::new("lease-dead");
    for identity in ["a", "b", "c"] {
        replicas.start(identity, 2);
    }
    replicas.share(&["a", "b", "c"]);
    let (dead, keeper) = replicas.stop("b");
    drop(keeper);
    replicas.share(&["a", "c"]);
    // Before anybody took over, it had stopped by itself.
    assert!(keys().iter().all(|key| !dead.owns(key)));
    assert_eq!(replicas.lease("b")["spec"]["holderIdentity"], "b");
    eventually("the leader has deleted its Lease", || {
        (!replicas.ns.exists(LEASES, "covergence-b")).then_some(())
    });
    replicas.share(&["a", "c"]);
}

#[test]
fn a_released_lease_need_not_run_out() {
    let mut replicas = Replicas::new("lease-release");
    // Longer than this test waits for anything.
    replicas.start("old", 600);
    replicas.share(&["old"]);
    let (old, keeper) = replicas.stop("old");
    let permit = old.permit("sync/shop/it").unwrap();
    let release = replicas.runtime.spawn(keeper.release());
    eventually("it gives no more permits", || {
        old.permit(LEADER).is_none().then_some(())
    });
    // A write is still in hand.
    assert_eq!(replicas.lease("old")["spec"]["holderIdentity"], "old");
    drop(permit);
    replicas.runtime.block_on(release).unwrap();
    assert!(
        replicas.lease("old")["spec"]
            .get("holderIdentity")
            .is_none()
    );
    replicas.start("new", 600);
    replicas.share(&["new"]);
    assert!(keys().iter().all(|key| !old.owns(key)));
}

#[test]
fn a_released_replica_leaves_its_keys_to_those_that_run() {
    let mut replicas = Replicas::new("lease-leave");
    replicas.start("a", 5);
    replicas.start("b", 5);
    replicas.share(&["a", "b"]);
    let (_, keeper) = replicas.stop("a");
    replicas.runtime.block_on(keeper.release());
    replicas.share(&["b"]);
}

#[test]
fn a_lease_that_somebody_deleted_comes_back() {
    let mut replicas = Replicas::new("lease-deleted");
    replicas.start("a", 3);
    replicas.start("b", 3);
    replicas.share(&["a", "b"]);
    let uid = |lease: &Value| lease["metadata"]["uid"].clone();
    let before = uid(&replicas.lease("a"));
    assert!(api().delete(&replicas.ns.path(LEASES, "covergence-a")));
    eventually("the Lease is there again", || {
        let lease = replicas.ns.find(LEASES, "covergence-a")?;
        (uid(&lease) != before).then_some(())
    });
    replicas.share(&["a", "b"]);
}

/// What the safety of it all rests on: no write that is late goes over one that came after it, or brings a Lease back.
#[test]
fn a_late_write_is_refused() {
    let replicas = Replicas::new("lease-late");
    let cluster = replicas.runtime.block_on(connect());
    let apply = |lease: &Value| replicas.runtime.block_on(cluster.apply_lease(lease));
    let lease = |holder: &str| {
        json!({
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": { "name": "it", "namespace": replicas.ns.name },
            "spec": { "holderIdentity": holder },
        })
    };
    let over = |holder: &str, live: &covergence::plan::Expected| {
        let mut lease = lease(holder);
        lease["metadata"]["uid"] = json!(live.uid);
        lease["metadata"]["resourceVersion"] = json!(live.resource_version);
        lease
    };
    let refused = |lease: &Value| matches!(apply(lease), Err(ClusterError::Changed(_)));

    let first = apply(&lease("first")).unwrap().expected();
    let second = apply(&over("second", &first)).unwrap().expected();
    assert!(refused(&over("late", &first)));
    assert_eq!(
        replicas.ns.get(LEASES, "it")["spec"]["holderIdentity"],
        "second"
    );
    replicas.ns.delete(LEASES, "it");
    assert!(refused(&over("late", &second)));
    assert!(!replicas.ns.exists(LEASES, "it"));
    // Nor over another of the same name.
    apply(&lease("other")).unwrap();
    assert!(refused(&over("late", &second)));
}

#[test]
fn who_may_not_write_leases_owns_nothing_and_says_why() {
    let replicas = Replicas::new("lease-forbidden");
    let options = ConnectOptions {
        kubeconfig: Some(shared().join("kubeconfig")),
        as_user: Some("nobody".into()),
        ..ConnectOptions::default()
    };
    let cluster = replicas.runtime.block_on(Cluster::connect(&options));
    let options = Options {
        namespace: replicas.ns.name.clone(),
        identity: "a".into(),
        duration: Duration::from_secs(5),
    };
    let _inside = replicas.runtime.enter();
    let health = Health::default();
    let (shards, _keeper) = Keeper::start(cluster.unwrap(), options, health.gate("lease"));
    let why = eventually("it says why", || {
        let not_ready = health.not_ready();
        not_ready
            .into_iter()
            .find(|why| why.contains("not allowed"))
    });
    assert!(why.starts_with("lease: Leases cannot be listed"), "{why}");
    assert!(!shards.owns(LEADER));
}
