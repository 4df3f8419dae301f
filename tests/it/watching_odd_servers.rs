//! Answers that a real API server gives too seldom for a test: versions that have expired, objects that nobody can read.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier};

use covergence::cluster::{Cluster, ClusterError, ConnectOptions};
use serde_json::{Value, json};
use tokio::runtime::Builder;

use crate::support::fake_api::{Answer, FakeApi, status};
use crate::support::lab::eventually;
use crate::support::watcher::Watcher;

fn sync(name: &str, version: u32) -> Value {
    json!({
        "apiVersion": "closurejvm.io/v1alpha1", "kind": "Sync",
        "metadata": {
            "name": name, "namespace": "shop", "uid": format!("uid-{name}"), "resourceVersion": version.to_string(),
        },
        "spec": {},
    })
}

fn list(version: u32, items: &[Value]) -> Answer {
    let metadata = json!({ "resourceVersion": version.to_string() });
    Answer::object(json!({ "kind": "SyncList", "metadata": metadata, "items": items }))
}

fn event(kind: &str, object: &Value) -> Value {
    json!({ "type": kind, "object": object })
}

/// A server that answers like this when it is asked for Syncs, and lets nobody see anything else.
fn syncs(answer: impl Fn(&str, usize) -> Answer + Send + Sync + 'static) -> FakeApi {
    FakeApi::start(move |target, before| match target.contains("/syncs?") {
        true => answer(target, before),
        false => Answer::refusal(403, "Forbidden"),
    })
}

/// Requests for Syncs, without watches or only those.
fn asked(server: &FakeApi, watches: bool) -> Vec<String> {
    let asked = server.asked().into_iter();
    let of_syncs = asked.filter(|target| target.contains("/syncs?"));
    of_syncs
        .filter(|target| target.contains("watch=true") == watches)
        .collect()
}

fn watcher(server: &FakeApi) -> Watcher {
    Watcher::connect(&options(server))
}

fn options(server: &FakeApi) -> ConnectOptions {
    ConnectOptions {
        kubeconfig: Some(server.kubeconfig()),
        ..ConnectOptions::default()
    }
}

fn names(watcher: &Watcher) -> Result<Vec<String>, ClusterError> {
    let syncs = watcher.run(watcher.cluster.syncs())?;
    let name = |sync: &Value| sync["metadata"]["name"].as_str().unwrap().to_owned();
    Ok(syncs.iter().map(|sync| name(sync)).collect())
}

#[test]
fn after_an_expired_version_the_differences_are_told() {
    let seen = Arc::new(Barrier::new(2));
    let gone = Arc::clone(&seen);
    let server = syncs(move |_, before| match before {
        0 => list(10, &[sync("gone", 1), sync("same", 2), sync("changed", 3)]),
        1 => {
            gone.wait();
            let lines = vec![
                event("MODIFIED", &sync("same", 12)),
                event("ERROR", &status(410, "Expired")),
            ];
            Answer::watch(lines, false)
        }
        2 => list(
            20,
            &[sync("same", 12), sync("changed", 14), sync("new", 15)],
        ),
        // Now as an answer to the watch.
        3 => Answer::refusal(410, "Expired"),
        4 => list(
            30,
            &[
                sync("same", 12),
                sync("changed", 14),
                sync("new", 15),
                sync("last", 29),
            ],
        ),
        _ => Answer::watch(Vec::new(), true),
    });
    let mut watcher = watcher(&server);
    assert_eq!(names(&watcher).unwrap().len(), 3);
    seen.wait();
    let mut told: Vec<String> = Vec::new();
    for change in watcher.change(Some("shop"), "last") {
        let version = |live: Option<&std::sync::Arc<covergence::plan::Live>>| {
            live.map_or("-".to_owned(), |live| live.resource_version.clone())
        };
        let versions = [change.before.as_ref(), change.after.as_ref()].map(version);
        told.push(format!("{} {}", change.id.name, versions.join("..")));
    }
    told.sort_unstable();
    assert_eq!(
        told,
        [
            "changed 3..14",
            "gone 1..-",
            "last -..29",
            "new -..15",
            "same 2..12"
        ]
    );
    assert_eq!(names(&watcher).unwrap(), ["changed", "last", "new", "same"]);
    let watches = asked(&server, true).into_iter();
    let from = |target: &str| target.split("resourceVersion=").nth(1).unwrap().to_owned();
    assert_eq!(
        watches.map(|target| from(&target)).collect::<Vec<_>>()[..2],
        ["10", "20"]
    );
}

#[test]
fn a_list_whose_continue_token_expires_starts_anew() {
    let server = syncs(|target, before| match before {
        0 => Answer::object(json!({
            "metadata": { "resourceVersion": "5", "continue": "token" }, "items": [sync("early", 1)],
        })),
        1 => {
            assert!(target.contains("continue=token"), "{target}");
            Answer::refusal(410, "Expired")
        }
        _ => list(20, &[sync("a", 1), sync("b", 12)]),
    });
    // Without watches as well.
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let syncs =
        runtime.block_on(async { Cluster::connect(&options(&server)).await?.syncs().await });
    assert_eq!(syncs.unwrap().len(), 2);
    assert_eq!(asked(&server, false).len(), 3);
}

#[test]
fn a_list_that_never_holds_is_given_up() {
    let server = syncs(|target, _| {
        if target.contains("continue=") {
            return Answer::refusal(410, "Expired");
        }
        Answer::object(json!({ "metadata": { "continue": "token" }, "items": [] }))
    });
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let syncs =
        runtime.block_on(async { Cluster::connect(&options(&server)).await?.syncs().await });
    let error = syncs.unwrap_err();
    assert!(
        matches!(error, ClusterError::Expired(_)) && error.is_transient(),
        "{error}"
    );
    assert_eq!(asked(&server, false).len(), 6);
}

/// CVE-2022-39272: one object with a value of the wrong type stopped the informer of its whole kind.
#[test]
fn an_object_that_cannot_be_read_stops_no_other() {
    let mut poison = sync("poison", 3);
    poison["metadata"]["labels"] = json!(["not", "a", "map"]);
    let server = syncs(move |_, before| match before {
        0 => list(10, &[sync("a", 1), poison.clone(), sync("b", 2)]),
        1 => {
            let lines = vec![
                event("ADDED", &poison),
                json!({ "type": "NOVEL", "object": {} }),
                event("ADDED", &sync("c", 12)),
            ];
            Answer::watch(lines, true)
        }
        _ => Answer::watch(Vec::new(), true),
    });
    let mut watcher = watcher(&server);
    // The next one may be here already.
    assert_eq!(names(&watcher).unwrap()[..2], ["a", "b"]);
    watcher.change(Some("shop"), "c");
    assert_eq!(names(&watcher).unwrap(), ["a", "b", "c"]);
    assert_eq!(asked(&server, false).len(), 1);
}

#[test]
fn what_may_not_be_watched_is_told_to_who_reads_until_it_may() {
    let server = syncs(|_, before| match before {
        0 => Answer::refusal(403, "Forbidden"),
        1 => list(10, &[sync("a", 1)]),
        _ => Answer::watch(Vec::new(), true),
    });
    let mut watcher = watcher(&server);
    assert!(matches!(names(&watcher), Err(ClusterError::Forbidden(_))));
    // Not being allowed is an answer: nothing is waited for.
    eventually("the definitions may not be seen either", || {
        (watcher.cluster.synced() == Ok(())).then_some(())
    });
    let changes = watcher.change(Some("shop"), "a");
    assert!(changes[0].before.is_none());
    assert_eq!(names(&watcher).unwrap(), ["a"]);
}

#[test]
fn a_server_that_cannot_list_is_said_not_to_be_synced() {
    let server = syncs(|_, _| Answer::refusal(500, "InternalError"));
    let watcher = watcher(&server);
    assert!(names(&watcher).unwrap_err().is_transient());
    let unsynced = watcher.cluster.synced().unwrap_err();
    // That of definitions may still be on its way.
    let of_syncs = |line: &&String| line.starts_with("Sync.closurejvm.io: ");
    let why = unsynced.iter().find(of_syncs).unwrap();
    assert!(why.contains("InternalError 500"), "{why}");
}

#[test]
fn what_a_starting_server_does_not_know_yet_is_kept() {
    let seen = Arc::new(Barrier::new(2));
    let starts = Arc::clone(&seen);
    let server = syncs(move |target, before| match before {
        0 => list(10, &[sync("a", 1)]),
        1 => {
            starts.wait();
            Answer::watch(vec![event("ERROR", &status(410, "Expired"))], false)
        }
        2 => Answer::refusal(404, "NotFound"),
        _ if target.contains("watch=true") => Answer::watch(Vec::new(), true),
        _ => list(20, &[sync("a", 1), sync("b", 11)]),
    });
    let mut watcher = watcher(&server);
    assert_eq!(names(&watcher).unwrap(), ["a"]);
    seen.wait();
    let changes = watcher.change(Some("shop"), "b");
    let of_a = changes.iter().filter(|change| change.id.name == "a");
    assert_eq!(of_a.count(), 0, "{changes:?}");
    assert_eq!(names(&watcher).unwrap(), ["a", "b"]);
}

#[test]
fn no_more_requests_are_in_flight_than_allowed() {
    let (now, most) = (AtomicUsize::new(0), Arc::new(AtomicUsize::new(0)));
    let seen = Arc::clone(&most);
    let server = syncs(move |_, _| {
        seen.fetch_max(now.fetch_add(1, SeqCst) + 1, SeqCst);
        // Long enough for all that may come at once to be here.
        std::thread::sleep(std::time::Duration::from_millis(100));
        now.fetch_sub(1, SeqCst);
        list(10, &[])
    });
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let cluster = Cluster::connect(&options(&server))
            .await
            .unwrap()
            .limited(2);
        // All that is made from it shares the limit.
        let tenant = cluster.as_service_account("shop", "deployer").unwrap();
        let all = [&cluster, &tenant].into_iter().cycle().take(10);
        for answer in futures_util::future::join_all(all.map(Cluster::syncs)).await {
            answer.unwrap();
        }
    });
    assert_eq!(most.load(SeqCst), 2);
}
