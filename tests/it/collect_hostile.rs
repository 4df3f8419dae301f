//! Peers that are made to do harm: nobody has to prove who he is before he is asked for coverage.

use std::io::Write as _;
use std::net::TcpStream;
use std::time::Duration;

use covergence::coverage::{SessionInfo, encode};
use serde_json::json;

use crate::support::collected::{Folder, class, classes, pod};
use crate::support::peer::{FakePeer, finished, unfinished};

/// Writes until the other side has enough.
fn pour(mut stream: TcpStream, mut next: impl FnMut(u64) -> Vec<u8>) {
    let mut written = stream.write_all(&encode::header());
    for number in 0.. {
        if written.is_err() {
            return;
        }
        written = stream.write_all(&next(number));
    }
}

fn honest() -> FakePeer {
    FakePeer::saying(finished("pet", &[class(1, "Cat", "10")]))
}

#[test]
fn peers_without_end_fail_alone() {
    let session = |number: u64| {
        let mut bytes = Vec::new();
        let id = format!("pet-{number}").as_str().try_into().unwrap();
        let times = SessionInfo {
            id,
            start: 1,
            dump: 2,
        };
        encode::session(&mut bytes, &times);
        bytes
    };
    let slow = |stream| {
        pour(stream, |_| {
            std::thread::sleep(Duration::from_millis(100));
            encode::header().to_vec()
        });
    };
    let headers = |stream| pour(stream, |_| encode::header().repeat(1000));
    let mut giant = unfinished("giant", &[]);
    // A class with two billion probes.
    giant.extend([0x11, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, b'C']);
    giant.extend([0xFF, 0xFF, 0xFF, 0xFF, 0x07]);
    let peers = [
        honest(),
        FakePeer::new(slow),
        FakePeer::new(headers),
        FakePeer::new(move |stream| pour(stream, session)),
        FakePeer::saying_and_silent(giant),
        FakePeer::saying(b"SSH-2.0-OpenSSH_9.2\r\n".to_vec()),
    ];
    let folder = Folder::new();
    let places = peers.each_ref().map(FakePeer::place);
    let report = folder
        .collect(&places, "union.exec")
        .args(&["--timeout", "3s"])
        .code(1);
    let told = |at: usize| {
        let pod = pod(&report, at);
        (
            pod["reason"].clone(),
            pod["message"].as_str().unwrap_or_default().to_owned(),
        )
    };
    assert_eq!(pod(&report, 0)["complete"], true);
    assert_eq!(
        told(1),
        (json!("Timeout"), "the dump did not end within 3 s".into())
    );
    // Whichever comes first: so many bytes, or so much time.
    let (reason, message) = told(2);
    assert!(
        reason == "Timeout" || message.contains("bytes are more than the limit"),
        "{message}"
    );
    assert!(
        told(3)
            .1
            .contains("sessions are more than the limit of 1000"),
        "{report:?}"
    );
    assert!(
        told(4)
            .1
            .contains("probes of one class are more than the limit"),
        "{report:?}"
    );
    assert!(
        told(5).1.contains("no execution data of JaCoCo"),
        "{report:?}"
    );
    assert!(classes(&folder.store("union.exec")).contains(&"Cat".to_owned()));
}

/// The worst that is within the limits, from more peers than are read at once.
#[test]
fn hostile_peers_take_no_more_memory_than_their_bound() {
    let small = |number: u64| {
        let mut bytes = Vec::new();
        for id in 0..1000 {
            let id = 1 << 41 | (number * 1000 + id);
            encode::execution(&mut bytes, class(id, "C", "1").as_ref());
        }
        bytes
    };
    let name = "x".repeat(65_000);
    let long = move |number: u64| {
        let mut bytes = Vec::new();
        encode::execution(&mut bytes, class(1 << 40 | number, &name, "1").as_ref());
        bytes
    };
    let probes = "1".repeat(1 << 20);
    let mut wide = Vec::new();
    encode::execution(&mut wide, class(0, "C", &probes).as_ref());
    let wide = move |number: u64| {
        let mut bytes = wide.clone();
        bytes[1..9].copy_from_slice(&(2 << 40 | number).to_be_bytes());
        bytes
    };
    let pouring = |next: Box<dyn Fn(u64) -> Vec<u8> + Send + Sync>| {
        FakePeer::new(move |stream| pour(stream, &next))
    };
    let peers = [
        honest(),
        pouring(Box::new(small)),
        pouring(Box::new(small)),
        pouring(Box::new(long)),
        pouring(Box::new(wide.clone())),
        pouring(Box::new(wide)),
    ];
    let folder = Folder::new();
    let places = peers.each_ref().map(FakePeer::place);
    let run =
        folder
            .collect(&places, "union.exec")
            .args(&["--timeout", "10m", "--read-timeout", "10m"]);
    let report = run.limited(1 << 20).code(1);
    let failed = (1..peers.len()).filter(|at| pod(&report, *at)["complete"] == false);
    assert_eq!(failed.count(), peers.len() - 1);
    assert_eq!(pod(&report, 0)["complete"], true);
}

#[test]
fn nothing_in_a_coverage_file_can_make_the_collector_write_outside_its_output() {
    let outside = [
        "../escaped",
        "/tmp/escaped.exec",
        "a/../../escaped",
        "escaped\0",
        "\u{1b}[2J",
    ];
    let hostile: Vec<_> = outside
        .iter()
        .zip(1..)
        .map(|(name, id)| class(id, name, "1"))
        .collect();
    let peers = outside.map(|name| FakePeer::saying(finished(name, &hostile)));
    let places = peers.each_ref().map(FakePeer::place);
    let folder = Folder::new();
    std::fs::create_dir(folder.path("inside")).unwrap();
    let pods = folder.text("inside/pods");
    let options = ["--per-pod", &pods, "--reset"];
    folder
        .collect(&places, "inside/union.exec")
        .args(&options)
        .ok();
    assert_eq!(folder.names(), ["inside"]);
    let listed = |name: &str| {
        let entries = folder.path(name).read_dir().unwrap();
        let mut names: Vec<_> = entries
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort_unstable();
        names
    };
    assert_eq!(listed("inside"), ["pods", "union.exec"]);
    let mut expected = peers
        .each_ref()
        .map(|peer| format!("127.0.0.1_{}.exec", peer.port));
    expected.sort_unstable();
    assert_eq!(listed("inside/pods"), expected);
    // What it says stays what it is: text in the file.
    assert_eq!(
        folder.store("inside/union.exec").classes().len(),
        outside.len()
    );

    // And a link in the place of the output is not followed.
    std::fs::write(folder.path("precious"), "kept").unwrap();
    std::os::unix::fs::symlink(folder.path("precious"), folder.path("link.exec")).unwrap();
    folder
        .collect(&places, "link.exec")
        .args(&["--force"])
        .code(2);
    assert_eq!(
        std::fs::read_to_string(folder.path("precious")).unwrap(),
        "kept"
    );
}
