//! Peers of our own, over pipes in memory, under a clock that stands still unless all wait.

use std::io;

use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream, duplex};

use super::*;
use crate::coverage::{ClassId, ExecutionData, encode};

/// What a peer does once a command has come.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Does {
    /// Answers, with the header when it is connected to.
    Banner,
    /// Answers, with the header then.
    Answer,
    /// Closes before the end.
    Cut,
    /// Says nothing.
    Silent,
    /// Says nothing but the header, as an agent that another collector has just left.
    Greet,
    /// Says a byte from time to time, for ever.
    Drip,
    /// Says what no agent says.
    Http,
    /// Is not there.
    Refuse,
    /// Does not even refuse.
    Unreachable,
}

struct Peers(Vec<Does>);

fn class(id: u64, probes: &str) -> ExecutionData {
    ExecutionData {
        id: ClassId(id),
        name: "Cat".try_into().unwrap(),
        probes: probes.chars().map(|hit| hit == '1').collect(),
    }
}

fn answer(number: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    let session = SessionInfo {
        id: format!("pet-{number}").as_str().try_into().unwrap(),
        start: 0x2020,
        dump: 0x2020_2020,
    };
    encode::session(&mut bytes, &session);
    encode::execution(&mut bytes, class(0x2020, "11").as_ref());
    encode::execution(&mut bytes, class(number as u64, "101").as_ref());
    bytes.push(0x20);
    bytes
}

async fn serve(mut stream: DuplexStream, number: usize, does: Does) -> io::Result<()> {
    if matches!(does, Does::Banner | Does::Greet) {
        stream.write_all(&encode::header()).await?;
    }
    stream.read_exact(&mut [0; 8]).await?;
    if matches!(does, Does::Answer | Does::Cut | Does::Drip) {
        stream.write_all(&encode::header()).await?;
    }
    let answer = answer(number);
    match does {
        Does::Banner | Does::Answer => stream.write_all(&answer).await?,
        Does::Cut => stream.write_all(&answer[..answer.len() - 1]).await?,
        Does::Http => {
            stream
                .write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                .await?
        }
        Does::Drip => loop {
            stream.write_all(&encode::header()).await?;
            tokio::time::sleep(Duration::from_secs(9)).await;
        },
        Does::Silent | Does::Greet | Does::Refuse | Does::Unreachable => {}
    }
    // It stays there, unless it is one that closes.
    if does != Does::Cut {
        stream.read_exact(&mut [0]).await?;
    }
    Ok(())
}

impl Dial for Peers {
    type Stream = DuplexStream;

    async fn dial(&self, peer: &Peer) -> io::Result<DuplexStream> {
        let number: usize = peer.name.parse().unwrap();
        let does = self.0[number];
        match does {
            Does::Refuse => return Err(io::ErrorKind::ConnectionRefused.into()),
            Does::Unreachable => std::future::pending().await,
            _ => {}
        }
        let (ours, theirs) = duplex(1 << 16);
        tokio::spawn(serve(theirs, number, does));
        Ok(ours)
    }
}

async fn asked(does: &[Does], request: &Request) -> Collected {
    let peer = |number: usize| Peer {
        name: format!("{number:03}"),
        address: PeerAddress::Sockets(Vec::new()),
    };
    let peers: Vec<Peer> = (0..does.len()).map(peer).collect();
    collect(&Peers(does.to_vec()), &peers, request).await
}

fn said(collected: &Collected) -> Vec<String> {
    let say = |pod: &PodResult| match &pod.outcome {
        Ok(dump) => format!("{} of {} alone", dump.alone, dump.hit),
        Err(failure) => format!("{}: {}", failure.reason, failure.message),
    };
    collected.pods.iter().map(say).collect()
}

#[tokio::test(start_paused = true)]
async fn both_ways_of_an_agent_to_begin_are_understood() {
    let collected = asked(&[Does::Banner, Does::Answer], &Request::default()).await;
    assert_eq!(said(&collected), ["2 of 4 alone", "2 of 4 alone"]);
    assert!(collected.is_complete());
    assert_eq!(collected.union.summary().hit, 6);
}

#[tokio::test(start_paused = true)]
async fn each_that_fails_is_told_and_stops_no_other() {
    let all = [
        Does::Silent,
        Does::Answer,
        Does::Cut,
        Does::Drip,
        Does::Http,
        Does::Refuse,
        Does::Unreachable,
        Does::Banner,
    ];
    let collected = asked(&all, &Request::default()).await;
    assert_eq!(
        said(&collected),
        [
            "Timeout: nothing came for 10 s: an agent serves one connection at a time, perhaps another collector has it",
            "2 of 4 alone",
            "Closed: closed before the end of the dump",
            "Timeout: the dump did not end within 60 s",
            "Protocol: at byte 0: this is no execution data of JaCoCo: it begins with 0x48 instead of a header",
            "Unreachable: cannot connect: connection refused",
            "Unreachable: no connection within 5 s",
            "2 of 4 alone",
        ]
    );
    assert!(!collected.is_complete());
    assert_eq!(collected.whole(), [1, 7]);
    // What came of the one that was cut off is in the union, and said to be there.
    let cut = collected.pods[2].outcome.as_ref().unwrap_err();
    assert_eq!((cut.kept.classes, cut.kept.hit), (2, 4));
    assert_eq!(collected.union.summary().classes, 4);
}

#[tokio::test(start_paused = true)]
async fn many_silent_peers_do_not_keep_the_others_waiting() {
    let mut all = [Does::Silent, Does::Greet].repeat(100);
    all.extend([Does::Answer; 3]);
    let begin = tokio::time::Instant::now();
    let mut arrived = Vec::new();
    let mut collection = Collection::default();
    let peer = |number: usize| Peer {
        name: format!("{number:03}"),
        address: PeerAddress::Sockets(Vec::new()),
    };
    let numbers: Vec<usize> = (0..all.len()).map(|it| collection.add(peer(it))).collect();
    let request = Request::default();
    let told = |pod: &str, _: &Store| arrived.push((pod.to_owned(), begin.elapsed()));
    collection.dump(&Peers(all), &numbers, &request, told).await;
    let first: Vec<_> = arrived[..3]
        .iter()
        .map(|(pod, at)| (pod.as_str(), at.as_secs()))
        .collect();
    assert_eq!(first, [("200", 0), ("201", 0), ("202", 0)]);
}

#[tokio::test(start_paused = true)]
async fn an_answer_has_an_end() {
    let request = Request {
        limits: Limits {
            bytes: 20,
            ..Limits::default()
        },
        ..Request::default()
    };
    let collected = asked(&[Does::Answer, Does::Drip], &request).await;
    let told = said(&collected);
    assert!(
        told[0].contains("bytes are more than the limit of 20"),
        "{told:?}"
    );
    assert!(
        told[1].contains("bytes are more than the limit of 20"),
        "{told:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn commands_may_be_sent_before_the_answers_are_read() {
    let (ours, mut theirs) = duplex(1 << 16);
    let mut agent = Agent::new(ours, &Limits::default());
    let silence = Duration::from_secs(1);
    agent.ask(false, silence).await.unwrap();
    agent.ask(true, silence).await.unwrap();
    let mut sent = [0; 11];
    theirs.read_exact(&mut sent).await.unwrap();
    assert_eq!(sent, [0x01, 0xC0, 0xC0, 0x10, 0x07, 0x40, 1, 0, 0x40, 1, 1]);
    theirs.write_all(&encode::header()).await.unwrap();
    for number in [1, 2] {
        theirs.write_all(&answer(number)).await.unwrap();
    }
    drop(theirs);
    for number in [1, 2] {
        assert!(agent.wait().await.unwrap());
        let mut dump = Dump::default();
        agent.read(&mut dump, silence, silence).await.unwrap();
        assert!(dump.store.get(ClassId(number)).is_some());
        assert_eq!(dump.store.classes().len(), 2);
    }
    assert!(!agent.wait().await.unwrap());
}

#[test]
fn one_jvm_at_two_addresses_is_one() {
    let peer = |address: &str| Peer {
        name: address.to_owned(),
        address: PeerAddress::Sockets(vec![address.parse().unwrap()]),
    };
    let mut dump = Dump::default();
    dump.store.put(class(1, "101").as_ref()).unwrap();
    let id = "pet-1".try_into().unwrap();
    dump.store.add_session(SessionInfo {
        id,
        start: 1,
        dump: 2,
    });
    let mut collection = Collection::default();
    let addresses = ["10.0.0.1:6300", "10.0.0.2:6300", "[fd00::1]:6300"];
    let numbers = addresses.map(|it| collection.add(peer(it)));
    for number in [2, 0] {
        collection.take(numbers[number], &dump, true, false);
    }
    let collected = collection.collected();
    let told = |number: usize| {
        let dump = collected.pods[number].outcome.as_ref().unwrap();
        (dump.alone, dump.same_as.as_deref())
    };
    assert_eq!(told(0), (2, None));
    assert_eq!(told(2), (0, Some("10.0.0.1:6300")));
    assert_eq!(collected.whole(), [0]);
}

#[test]
fn what_was_lost_stays_lost_unless_the_same_jvm_comes_back() {
    let dump = |start| {
        let mut dump = Dump::default();
        let id = "pet-1".try_into().unwrap();
        dump.store.add_session(SessionInfo { id, start, dump: 9 });
        dump
    };
    for (start, back) in [(1, true), (2, false)] {
        let mut collection = Collection::default();
        let number = collection.add(Peer {
            name: "pet".into(),
            address: PeerAddress::Sockets(Vec::new()),
        });
        collection.take(number, &dump(1), true, false);
        let since = Duration::from_secs(3);
        assert!(collection.fail(number, &AgentError::Killed(since)));
        // Nobody is there at first.
        let refused = io::ErrorKind::ConnectionRefused.into();
        assert!(!collection.fail(number, &AgentError::Connect(refused)));
        collection.take(number, &dump(start), true, false);
        assert_eq!(collection.collected().is_complete(), back);
    }
}
