//! `covergence collect` and the real agent, in real JVMs.

use serde_json::json;

use crate::support::collected::{Folder, class, classes, pod};
use crate::support::covergence::Run;
use crate::support::jacoco::Programs;
use crate::support::jvm::{Jvm, free_port, occupy};
use crate::support::peer::{FakePeer, finished, unfinished};

#[test]
fn the_union_holds_what_each_jvm_alone_did_and_jacoco_reads_it() {
    let pets = Programs::compile("Pets", "17");
    let (mut cat, mut dog) = (Jvm::start(&pets, "cat"), Jvm::start(&pets, "dog"));
    cat.does("cat");
    cat.does("1");
    dog.does("dog");
    dog.does("2");
    let folder = Folder::new();
    let report = folder
        .collect(&[cat.place(), dog.place()], "union.exec")
        .ok();
    assert_eq!(report.json()["complete"], true);
    for (at, jvm) in [&cat, &dog].into_iter().enumerate() {
        let alone = folder.collect(&[jvm.place()], &format!("{at}.exec")).ok();
        assert_eq!(pod(&report, at)["hit"], alone.json()["hit"]);
    }
    let (union, one, other) = (
        folder.store("union.exec"),
        folder.store("0.exec"),
        folder.store("1.exec"),
    );
    assert_eq!(classes(&one), ["Pets", "Pets$Cat", "Pets$Fish"]);
    assert_eq!(classes(&other), ["Pets", "Pets$Dog", "Pets$Fish"]);
    assert_eq!(
        classes(&union),
        ["Pets", "Pets$Cat", "Pets$Dog", "Pets$Fish"]
    );
    let [all, first, second] = [&union, &one, &other].map(|it| it.summary().hit);
    assert_eq!(pod(&report, 0)["alone"], all - second);
    assert_eq!(pod(&report, 1)["alone"], all - first);
    assert!(all > first && all > second);

    // JaCoCo reads the file, finds nothing in it that does not match, and would write the same.
    let hex = |name: &str| {
        let bytes = std::fs::read(folder.path(name)).unwrap();
        bytes
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
    };
    let side = Programs::compile("JacocoSide", "17");
    let answer = side.answers(&format!("stream {}\nend\n", hex("union.exec")));
    assert!(
        !answer.contains("broken") && !answer.contains("refused"),
        "{answer}"
    );
    let lines = |begin: &str| {
        answer
            .lines()
            .filter(|line| line.starts_with(begin))
            .count()
    };
    assert_eq!((lines("session "), lines("class ")), (2, 4));
    assert!(
        answer.contains(&format!("again {}\n", hex("union.exec"))),
        "{answer}"
    );
}

#[test]
fn after_a_reset_agents_have_nothing_and_the_file_has_all() {
    let pets = Programs::compile("Pets", "17");
    let mut jvm = Jvm::start(&pets, "pet");
    jvm.does("cat");
    let folder = Folder::new();
    let report = folder
        .collect(&[jvm.place()], "first.exec")
        .args(&["--reset"])
        .ok();
    assert_eq!(pod(&report, 0)["reset"], true);
    assert!(classes(&folder.store("first.exec")).contains(&"Pets$Cat".to_owned()));

    let report = folder.collect(&[jvm.place()], "second.exec").ok();
    assert_eq!(
        (&report.json()["classes"], &report.json()["complete"]),
        (&json!(0), &json!(true))
    );
    jvm.does("dog");
    // What comes later is added to what was there.
    folder
        .collect(&[jvm.place()], "first.exec")
        .args(&["--append"])
        .ok();
    let both = classes(&folder.store("first.exec"));
    assert_eq!(both, ["Pets", "Pets$Cat", "Pets$Dog"]);
}

#[test]
fn two_builds_of_a_class_are_both_kept() {
    let builds = ["8", "17"].map(|release| Programs::compile("Pets", release));
    let mut jvms = builds.each_ref().map(|build| Jvm::start(build, "pet"));
    for jvm in &mut jvms {
        jvm.does("cat");
    }
    let folder = Folder::new();
    let places = jvms.each_ref().map(Jvm::place);
    let report = folder.collect(&places, "union.exec").ok();
    let union = folder.store("union.exec");
    assert_eq!(classes(&union), ["Pets", "Pets", "Pets$Cat", "Pets$Cat"]);
    assert_eq!(pod(&report, 0)["mismatched"], 0);
}

#[test]
fn c68_two_collectors_at_once() {
    let pets = Programs::compile("Pets", "17");
    let (mut held, mut free) = (Jvm::start(&pets, "held"), Jvm::start(&pets, "free"));
    held.does("cat");
    free.does("dog");
    let folder = Folder::new();
    let places = [held.place(), free.place()];
    let other = occupy(held.port);
    let report = folder
        .collect(&places, "partial.exec")
        .args(&["--read-timeout", "1s"])
        .code(1);
    assert_eq!(report.json()["complete"], false);
    let failed = pod(&report, 0);
    assert_eq!(
        (&failed["name"], &failed["reason"]),
        (&json!(held.place()), &json!("Timeout"))
    );
    let message = failed["message"].as_str().unwrap();
    assert!(
        message.contains("perhaps another collector has it"),
        "{message}"
    );
    assert_eq!(pod(&report, 1)["complete"], true);
    assert_eq!(classes(&folder.store("partial.exec")), ["Pets", "Pets$Dog"]);

    // As soon as the other one lets go, and also when both ask at the same time.
    drop(other);
    std::thread::scope(|scope| {
        for name in ["one.exec", "two.exec"] {
            let (folder, places) = (&folder, &places);
            scope.spawn(move || folder.collect(places, name).ok());
        }
    });
    assert_eq!(
        folder.store("one.exec").summary().hit,
        folder.store("two.exec").summary().hit
    );
}

#[test]
fn c68_a_peer_that_closes_before_the_end_is_named() {
    let classes = [class(1, "Cat", "11"), class(2, "Dog", "1")];
    let cut = FakePeer::saying(unfinished("cut", &classes));
    let good = FakePeer::saying(finished("good", &[class(1, "Cat", "10")]));
    let folder = Folder::new();
    let report = folder
        .collect(&[cut.place(), good.place()], "union.exec")
        .code(1);
    assert_eq!(report.json()["complete"], false);
    let failed = pod(&report, 0);
    assert_eq!(failed["message"], "closed before the end of the dump");
    assert_eq!(
        (&failed["name"], &failed["classes"]),
        (&json!(cut.place()), &json!(2))
    );
    // What had come is not thrown away.
    assert_eq!(folder.store("union.exec").summary().hit, 3);

    let (places, output) = (
        format!("{},{}", cut.place(), good.place()),
        folder.text("text.exec"),
    );
    let text = Run::new(&["collect", &places, "-o", &output]).code(1);
    assert!(
        text.stdout
            .contains(&format!("partial: 1 of 2 not wholly done: {}", cut.place()))
    );
}

#[test]
fn c68_a_silent_peer_is_given_up() {
    let silent = FakePeer::saying_and_silent(Vec::new());
    let stuck = FakePeer::saying_and_silent(unfinished("stuck", &[class(1, "Cat", "1")]));
    let folder = Folder::new();
    let short = ["--read-timeout", "1s"];
    let report = folder
        .collect(&[silent.place(), stuck.place()], "union.exec")
        .args(&short)
        .code(1);
    for at in [0, 1] {
        assert_eq!(pod(&report, at)["reason"], "Timeout");
    }
    assert_eq!(folder.names(), ["union.exec"]);

    // When nothing at all has come, there is no file.
    let output = folder
        .collect(&[silent.place()], "none.exec")
        .args(&short)
        .code(2);
    assert!(
        output.stderr.contains("nothing could be collected"),
        "{}",
        output.stderr
    );
    assert!(output.stderr.contains(&silent.place()), "{}", output.stderr);
    assert_eq!(folder.names(), ["union.exec"]);
}

#[test]
fn what_does_not_match_is_told_and_its_agent_keeps_it() {
    let usual = || {
        FakePeer::saying(finished(
            "usual",
            &[class(1, "Cat", "10"), class(2, "Dog", "1")],
        ))
    };
    let other = [class(1, "Cat", "011"), class(3, "Fish", "1")];
    let peers = [
        usual(),
        FakePeer::saying(finished("other", &other)),
        usual(),
    ];
    let folder = Folder::new();
    let places = peers.each_ref().map(FakePeer::place);
    let report = folder
        .collect(&places, "union.exec")
        .args(&["--reset"])
        .code(1);
    let told = pod(&report, 1);
    assert_eq!(
        (&told["mismatched"], &told["reset"]),
        (&json!(1), &json!(false))
    );
    let expected = json!([{
        "id": "0000000000000001", "name": "Cat", "probes": 3, "knownName": "Cat", "knownProbes": 2,
    }]);
    assert_eq!(told["mismatches"], expected);
    assert_eq!(pod(&report, 0)["reset"], true);
    assert_eq!(classes(&folder.store("union.exec")), ["Cat", "Dog", "Fish"]);
}

#[test]
fn a_file_that_is_there_is_replaced_or_added_to_only_when_told() {
    let peer = FakePeer::saying(finished("pet", &[class(1, "Cat", "10")]));
    let folder = Folder::new();
    folder.collect(&[peer.place()], "union.exec").ok();
    let refused = folder.collect(&[peer.place()], "union.exec").code(2);
    assert!(
        refused.stderr.contains("--append adds to what is there"),
        "{}",
        refused.stderr
    );

    let more = FakePeer::saying(finished("pet", &[class(1, "Cat", "01")]));
    folder
        .collect(&[more.place()], "union.exec")
        .args(&["--append"])
        .ok();
    assert_eq!(folder.store("union.exec").summary().hit, 2);
    folder
        .collect(&[more.place()], "union.exec")
        .args(&["--force"])
        .ok();
    assert_eq!(folder.store("union.exec").summary().hit, 1);

    // Nothing is added to what is damaged: it would be lost.
    let whole = std::fs::read(folder.path("union.exec")).unwrap();
    std::fs::write(folder.path("union.exec"), &whole[..whole.len() - 1]).unwrap();
    let damaged = folder
        .collect(&[peer.place()], "union.exec")
        .args(&["--append"])
        .code(2);
    assert!(
        damaged.stderr.contains("cannot add to"),
        "{}",
        damaged.stderr
    );
    assert_eq!(
        std::fs::read(folder.path("union.exec")).unwrap(),
        whole[..whole.len() - 1]
    );
}

#[test]
fn each_pod_has_a_file_of_its_own_if_wanted() {
    let cat = FakePeer::saying(finished("cat", &[class(1, "Cat", "1")]));
    let dog = FakePeer::saying(finished("dog", &[class(2, "Dog", "1")]));
    let folder = Folder::new();
    let run = || folder.collect(&[cat.place(), dog.place()], "union.exec");
    let pods = folder.text("pods");
    run().args(&["--per-pod", &pods, "--reset"]).ok();
    for (peer, name) in [(&cat, "Cat"), (&dog, "Dog")] {
        let file = format!("pods/127.0.0.1_{}.exec", peer.port);
        assert_eq!(classes(&folder.store(&file)), [name]);
    }
    std::fs::remove_file(folder.path("union.exec")).unwrap();
    let again = run().args(&["--per-pod", &pods]).code(2);
    assert!(
        again.stderr.contains("holds files already"),
        "{}",
        again.stderr
    );
}

#[test]
fn nothing_is_reset_when_the_union_cannot_be_written() {
    let pets = Programs::compile("Pets", "17");
    let mut jvm = Jvm::start(&pets, "pet");
    jvm.does("cat");
    let folder = Folder::new();
    std::fs::create_dir(folder.path("union.exec")).unwrap();
    let refused = folder
        .collect(&[jvm.place()], "union.exec")
        .args(&["--reset", "--force"])
        .code(2);
    assert!(
        refused.stderr.contains("cannot write"),
        "{}",
        refused.stderr
    );
    folder.collect(&[jvm.place()], "after.exec").ok();
    assert!(classes(&folder.store("after.exec")).contains(&"Pets$Cat".to_owned()));
}

#[test]
fn people_see_each_pod_and_what_is_wrong_with_it() {
    let usual = || {
        let classes = [class(1, "shop/Cat", "1100"), class(2, "shop/Dog", "1")];
        FakePeer::saying(finished("usual", &classes))
    };
    let other = [class(1, "shop/Cat", "110"), class(3, "shop/Fish", "11")];
    let cut = [class(4, "shop/Bird", "1")];
    let peers = [
        usual(),
        FakePeer::saying(finished("other", &other)),
        usual(),
        FakePeer::saying(unfinished("cut", &cut)),
        FakePeer::saying(b"220 mail.example ESMTP\r\n".to_vec()),
    ];
    let mut places = peers.each_ref().map(FakePeer::place).to_vec();
    places.push(format!("127.0.0.1:{}", free_port()));
    let folder = Folder::new();
    let output = folder.text("union.exec");
    let run = Run::new(&["collect", &places.join(","), "-o", &output, "--reset"]).code(1);
    let mut text = run.stdout.replace(&output, "union.exec");
    for (place, number) in places.iter().zip(1..) {
        text = text.replace(place, &format!("127.0.0.1:PEER{number}"));
    }
    insta::assert_snapshot!(text);
}

#[test]
fn what_is_typed_is_checked() {
    let nobody = format!("127.0.0.1:{}", free_port());
    let folder = Folder::new();
    let output = folder.text("union.exec");
    for (arguments, words) in [
        (vec!["collect", &nobody, "-o", "json"], "--format json"),
        (vec!["collect", &nobody], "--output <FILE>"),
        (vec!["collect", "-o", &output], "TARGET|HOST:PORT"),
        (vec!["collect", "pet:0", "-o", &output], "is no HOST:PORT"),
        (vec!["collect", "::1:6300", "-o", &output], "[::1]:6300"),
        (vec!["collect", "a,b", "-o", &output], "HOST:PORT"),
        (
            vec!["collect", &nobody, "-o", &output, "--every", "1s"],
            "--follow",
        ),
        (
            vec!["collect", &nobody, "-o", &output],
            "Connection refused",
        ),
    ] {
        let output = Run::new(&arguments).code(2);
        assert!(output.stderr.contains(words), "{arguments:?}");
    }
    assert!(folder.names().is_empty());
}
