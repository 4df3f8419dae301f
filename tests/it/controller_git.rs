//! `covergence run`: repositories on a server, asked for news at each interval.

use serde_json::json;

use crate::support::controller::{Controller, Setup};
use crate::support::lab::eventually;
use crate::support::namespace::Namespace;
use crate::support::remote::Remote;

/// The shortest interval that is kept.
const OFTEN: &str = "5s";

const LS_REMOTE: &str = "GET /pets.git/info/refs?service=git-upload-pack HTTP/1.1";

fn follow(ns: &Namespace, remote: &Remote) -> Controller {
    Setup {
        syncs: &[remote.sync(ns, OFTEN)],
        ..Setup::new(&[&ns.name])
    }
    .start()
}

fn applied(ns: &Namespace) -> String {
    let status = ns.get("syncs", "it")["status"].clone();
    status["lastAppliedRevision"].as_str().unwrap().to_owned()
}

#[test]
fn a_poll_without_news_is_one_ls_remote() {
    let ns = Namespace::new("poll");
    let remote = Remote::new();
    remote.push("1");
    let _controller = follow(&ns, &remote);
    ns.wait_until_ready("it");
    let before = remote.asked();
    let version = ns.get("syncs", "it")["metadata"]["resourceVersion"].clone();
    let polls = eventually("two polls", || {
        let polls = remote.asked().split_off(before.len());
        (polls.len() >= 2).then_some(polls)
    });
    assert!(polls.iter().all(|asked| asked == LS_REMOTE), "{polls:?}");
    let now = ns.get("syncs", "it")["metadata"]["resourceVersion"].clone();
    assert_eq!(now, version, "nothing was written for it");
    remote.push("2");
    ns.wait_for_value("a", "2");
}

#[test]
fn an_interval_that_is_too_short_for_a_server_is_told() {
    let ns = Namespace::new("hasty");
    let remote = Remote::new();
    remote.push("1");
    let controller = Setup {
        syncs: &[remote.sync(&ns, "1s")],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    let ready = ns.sync_condition("it", "Ready");
    let message = ready["message"].as_str().unwrap();
    let told = "; spec.interval: 1s is too short, the server is asked every 5s";
    assert!(message.ends_with(told), "{message}");
    // In the file it stands in as well.
    let place = "syncs.yaml:";
    let lines = controller.logged("`spec.interval` is too short");
    assert!(lines.iter().any(|line| line.contains(place)), "{lines:?}");
}

#[test]
fn c40_a_forced_push_and_an_amended_commit_are_followed() {
    let ns = Namespace::new("forced");
    let remote = Remote::new();
    let first = remote.push("1");
    let second = remote.push("2");
    let _controller = follow(&ns, &remote);
    ns.wait_for_value("a", "2");
    ns.wait_until_ready("it");
    assert!(applied(&ns).contains(&second));
    // The old head is reachable no more.
    remote.write("amended");
    remote.work.git(&["add", "-A"]);
    remote
        .work
        .git(&["commit", "-q", "--amend", "-m", "amended"]);
    remote.publish();
    ns.wait_for_value("a", "amended");
    remote.work.git(&["reset", "-q", "--hard", &first]);
    remote.publish();
    ns.wait_for_value("a", "1");
    eventually("it says so", || applied(&ns).contains(&first).then_some(()));
    ns.wait_until_ready("it");
}

#[test]
fn c31_a_path_that_vanishes_keeps_what_is_there() {
    let ns = Namespace::new("vanished");
    let remote = Remote::new();
    remote.push("1");
    let _controller = follow(&ns, &remote);
    ns.wait_until_ready("it");
    let good = applied(&ns);
    remote.work.git(&["mv", "pets", "animals"]);
    remote.work.commit("moved");
    remote.publish();
    let message = ns.wait_until_not_ready("it", "ArtifactFailed");
    assert!(message.contains("pets"), "{message}");
    assert_eq!(ns.members(), ["a"]);
    assert_eq!(applied(&ns), good);
    remote.work.git(&["mv", "animals", "pets"]);
    remote.push("2");
    ns.wait_for_value("a", "2");
    ns.wait_until_ready("it");
}

#[test]
fn c41_a_deleted_branch_keeps_what_is_there_and_recovers_alone() {
    let ns = Namespace::new("branch");
    let remote = Remote::new();
    remote.push("1");
    // A server does not let go of its current branch.
    remote.work.git(&["push", "-q", "origin", "main:release"]);
    let mut sync = remote.sync(&ns, OFTEN);
    sync["spec"]["source"]["git"]["ref"] = json!("release");
    let _controller = Setup {
        syncs: &[sync],
        ..Setup::new(&[&ns.name])
    }
    .start();
    ns.wait_until_ready("it");
    remote.work.git(&["push", "-q", "origin", ":release"]);
    let message = ns.wait_until_not_ready("it", "ArtifactFailed");
    assert!(message.contains("release"), "{message}");
    assert_eq!(ns.members(), ["a"]);
    remote.push("2");
    remote.work.git(&["push", "-q", "origin", "main:release"]);
    ns.wait_for_value("a", "2");
    ns.wait_until_ready("it");
}
