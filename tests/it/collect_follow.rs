//! `covergence collect --follow` and the real agent: what JVMs send at their end is not lost.

use std::process::ExitStatus;

use serde_json::Value;

use crate::support::collected::{Folder, classes};
use crate::support::covergence::Run;
use crate::support::jacoco::Programs;
use crate::support::jvm::{Jvm, free_port};
use crate::support::lab::eventually;
use crate::support::started::Started;

/// Hours until the next dump: whatever comes, comes unasked.
const NEVER: [&str; 2] = ["--every", "10h"];

/// Follows these places, and prints a line for each change.
fn follow(folder: &Folder, places: &[String], options: &[&str]) -> Started {
    let run = folder.collect(places, "union.exec").args(&["--follow"]);
    Started::new(run.args(options))
}

/// Waits until the file has a class.
fn has(folder: &Folder, class: &str) {
    eventually(&format!("{class} is in the union"), || {
        let there = folder.path("union.exec").exists();
        (there
            && classes(&folder.store("union.exec"))
                .iter()
                .any(|it| it == class))
        .then_some(())
    });
}

/// SIGTERM; its exit code, and what it said last.
fn end(started: Started) -> (ExitStatus, Value) {
    started.signal("TERM");
    let (status, lines) = started.wait();
    let last = lines.last().expect("a report at the end");
    (status, serde_json::from_str(last).unwrap())
}

#[test]
fn what_a_jvm_does_until_its_end_is_in_the_union() {
    let pets = Programs::compile("Pets", "17");
    let mut jvm = Jvm::start(&pets, "pet");
    jvm.does("cat");
    let folder = Folder::new();
    let following = follow(&folder, &[jvm.place()], &NEVER);
    has(&folder, "Pets$Cat");
    jvm.does("dog");
    jvm.terminate();
    has(&folder, "Pets$Dog");
    let (status, report) = end(following);
    assert_eq!(
        (status.code(), &report["complete"]),
        (Some(0), &true.into()),
        "{report}"
    );
}

#[test]
fn of_a_jvm_that_is_killed_only_what_was_not_collected_is_lost_and_that_is_told() {
    let pets = Programs::compile("Pets", "17");
    let mut jvm = Jvm::start(&pets, "pet");
    jvm.does("cat");
    let folder = Folder::new();
    let place = jvm.place();
    let following = follow(&folder, std::slice::from_ref(&place), &NEVER);
    has(&folder, "Pets$Cat");
    jvm.does("dog");
    jvm.kill();
    // The follower has noticed when it tries to connect again, to what is now at this port.
    let taken = std::net::TcpListener::bind(&place).unwrap();
    let again = taken.accept().unwrap();
    drop((again, taken));
    let (status, report) = end(following);
    assert_eq!(
        (status.code(), &report["complete"]),
        (Some(1), &false.into()),
        "{report}"
    );
    assert_eq!(report["pods"][0]["reason"], "Killed");
    assert_eq!(classes(&folder.store("union.exec")), ["Pets", "Pets$Cat"]);
}

#[test]
fn a_jvm_that_comes_later_is_taken_in_and_dumped_again_and_again() {
    let pets = Programs::compile("Pets", "17");
    let (mut first, port) = (Jvm::start(&pets, "first"), free_port());
    first.does("cat");
    let folder = Folder::new();
    let places = [first.place(), format!("127.0.0.1:{port}")];
    let following = follow(&folder, &places, &["--every", "200ms"]);
    has(&folder, "Pets$Cat");
    let mut second = Jvm::start_at(&pets, "second", port);
    second.does("dog");
    has(&folder, "Pets$Dog");
    first.does("1");
    has(&folder, "Pets$Fish");
    let (status, report) = end(following);
    assert_eq!(
        (status.code(), &report["complete"]),
        (Some(0), &true.into()),
        "{report}"
    );
    assert!(report["pods"][1]["alone"].as_u64() > Some(0));
    // However often a session was dumped, it is one.
    assert_eq!(report["sessions"].as_array().unwrap().len(), 2);
}

#[test]
fn at_the_end_there_is_a_last_dump_and_agents_begin_anew_if_wanted() {
    let pets = Programs::compile("Pets", "17");
    let mut jvms = [Jvm::start(&pets, "one"), Jvm::start(&pets, "two")];
    jvms[0].does("cat");
    let places = jvms.each_ref().map(Jvm::place);
    let folder = Folder::new();
    let following = follow(&folder, &places, &[NEVER[0], NEVER[1], "--reset"]);
    has(&folder, "Pets$Cat");
    jvms[1].does("dog");
    let (status, report) = end(following);
    assert_eq!(status.code(), Some(0), "{report}");
    assert_eq!(
        classes(&folder.store("union.exec")),
        ["Pets", "Pets$Cat", "Pets$Dog"]
    );
    let after = folder.collect(&places, "after.exec").ok();
    assert_eq!(after.json()["classes"], 0);
}

#[test]
fn it_ends_by_itself_if_wanted_and_people_see_what_happens() {
    let pets = Programs::compile("Pets", "17");
    let mut jvm = Jvm::start(&pets, "pet");
    jvm.does("cat");
    let folder = Folder::new();
    let output = folder.text("union.exec");
    let place = jvm.place();
    let run = Run::new(&["collect", &place, "-o", &output]);
    let said = run.args(&["--follow", "--for", "2s"]).ok();
    for words in ["connected", "2 more classes, ", "CLASSES", "probes hit"] {
        assert!(said.stdout.contains(words), "{}", said.stdout);
    }
}
