//! Execution data side by side with JaCoCo itself: what is written here is read there, and the reverse; unions, and what is left out
//! of them, are the same.
//!
//! `COVERGENCE_EXEC_SEED=NUMBER` makes other cases; the seed is printed.

use std::collections::BTreeSet;

use covergence::coverage::{
    ClassId, ExecutionData, ExecutionRef, Fault, JavaString, Limits, SessionInfo, Store,
    StreamError, Taken, encode, write_exec,
};
use fastrand::Rng;

use crate::support::jacoco::Programs;

/// Stores that are compared.
const CASES: usize = 1000;

/// Damaged files that are compared.
const DAMAGED: usize = 4000;

fn seed() -> u64 {
    let seed = match std::env::var("COVERGENCE_EXEC_SEED") {
        Ok(seed) => seed.parse().expect("a number"),
        Err(_) => 20_200_913,
    };
    println!("COVERGENCE_EXEC_SEED={seed}");
    seed
}

/// A block of a stream.
#[derive(Clone)]
enum Part {
    Header,
    Session(SessionInfo),
    Class(ExecutionData),
}

fn text(rng: &mut Rng) -> JavaString {
    const NAMES: [&str; 8] = [
        "",
        "A",
        "shop/Pet",
        "shop/Pet$Größe",
        "店/猫",
        "a\0b",
        "🐈/😀",
        "x y;[\n",
    ];
    if rng.bool() {
        return NAMES[rng.usize(..NAMES.len())].try_into().unwrap();
    }
    let len = rng.usize(..30);
    let units = (0..len).map(|_| match rng.u8(..4) {
        0 => rng.u16(..),
        1 => rng.u16(0xD7FF..0xE001),
        _ => rng.u16(0x61..0x7B),
    });
    JavaString::from_units(units).unwrap()
}

fn class(rng: &mut Rng) -> ExecutionData {
    // Few ids, so that classes meet; mostly they match.
    let id = if rng.u8(..5) == 0 {
        rng.u64(..)
    } else {
        rng.u64(..12) << 61 | rng.u64(..3)
    };
    let mut own = Rng::with_seed(id);
    let name = if rng.u8(..20) == 0 {
        text(rng)
    } else {
        text(&mut own)
    };
    let lengths = [0, 1, 7, 8, 9, 63, 64, 65, 127, 128, 129, 1000, 20_000];
    let len = if rng.u8(..20) == 0 {
        rng.usize(..200)
    } else {
        lengths[own.usize(..lengths.len())]
    };
    let dense = rng.u8(..4);
    let probes = (0..len).map(|_| rng.u8(..4) < dense).collect();
    ExecutionData {
        id: ClassId(id),
        name,
        probes,
    }
}

fn stream(rng: &mut Rng) -> Vec<Part> {
    let count = rng.usize(..12);
    let mut parts: Vec<Part> = (0..count)
        .map(|_| match rng.u8(..12) {
            0 => Part::Header,
            1..4 => Part::Session(SessionInfo {
                id: text(rng),
                start: rng.i64(..),
                dump: if rng.bool() {
                    rng.i64(..3)
                } else {
                    rng.i64(..)
                },
            }),
            _ => Part::Class(class(rng)),
        })
        .collect();
    parts.insert(0, Part::Header);
    if rng.u8(..4) == 0 {
        // A file that was appended to itself.
        parts.extend(parts.clone());
    }
    parts
}

fn written(parts: &[Part]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for part in parts {
        match part {
            Part::Header => bytes.extend(encode::header()),
            Part::Session(session) => encode::session(&mut bytes, session),
            Part::Class(class) => encode::execution(&mut bytes, class.as_ref()),
        }
    }
    bytes
}

/// What JaCoCo writes when it is told the same: one header, and only classes that were hit.
fn as_jacoco_writes(parts: Vec<Part>) -> Vec<u8> {
    let kept = parts.into_iter().filter(|part| match part {
        Part::Header => false,
        Part::Session(_) => true,
        Part::Class(class) => class.probes.as_ref().any(),
    });
    let parts: Vec<Part> = std::iter::once(Part::Header).chain(kept).collect();
    written(&parts)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(hex: &str) -> Vec<u8> {
    let digits = hex.as_bytes().chunks(2);
    let byte = |two: &[u8]| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap();
    digits.map(byte).collect()
}

/// The UTF-16 units of a string: of its bytes, each by itself.
fn units(text: &JavaString) -> String {
    let bytes = text.as_java_str().bytes();
    let begins = bytes
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte & 0xC0 != 0x80);
    let unit = |at: usize| match bytes[at..] {
        [a @ 0..0x80, ..] => u32::from(a),
        [a @ 0xC0..0xE0, b, ..] => u32::from(a & 0x1F) << 6 | u32::from(b & 0x3F),
        [a, b, c, ..] => u32::from(a & 0xF) << 12 | u32::from(b & 0x3F) << 6 | u32::from(c & 0x3F),
        _ => panic!("{bytes:x?}"),
    };
    begins.map(|(at, _)| format!("{:04x}", unit(at))).collect()
}

fn class_text(class: ExecutionRef<'_>) -> String {
    let probes: String = class
        .probes
        .iter()
        .map(|hit| if hit { '1' } else { '0' })
        .collect();
    format!("{} {} {probes}", class.id, units(&class.name.to_owned()))
}

/// A store as `JacocoSide` tells it.
fn told(store: &Store) -> Vec<String> {
    let sessions = store
        .sessions()
        .map(|SessionInfo { id, start, dump }| format!("session {} {start} {dump}", units(id)));
    let classes = store
        .classes()
        .map(|class| format!("class {}", class_text(class)));
    sessions.chain(classes).collect()
}

/// What JaCoCo says of a case.
#[derive(Default)]
struct Answer<'a> {
    /// Of each stream.
    refused: Vec<Vec<&'a str>>,
    broken: Vec<bool>,
    again: Vec<&'a str>,
    /// Sessions and classes.
    content: Vec<String>,
    union: &'a str,
}

fn answers(text: &str) -> Vec<Answer<'_>> {
    let mut answers = Vec::new();
    let mut answer = Answer::default();
    let (mut refused, mut broken) = (Vec::new(), false);
    for line in text.lines() {
        match line.split_once(' ').unwrap_or((line, "")) {
            ("refused", class) => refused.push(class),
            ("broken", _) => broken = true,
            ("again", hex) => {
                answer.refused.push(std::mem::take(&mut refused));
                answer.broken.push(std::mem::take(&mut broken));
                answer.again.push(hex);
            }
            ("session" | "class", _) => answer.content.push(line.to_owned()),
            ("union", hex) => answer.union = hex,
            _ => answers.push(std::mem::take(&mut answer)),
        }
    }
    answers
}

/// JaCoCo keeps a session as often as it comes, and leaves those of one dump time as they came.
fn in_our_order(content: Vec<String>) -> Vec<String> {
    let (sessions, classes): (Vec<String>, Vec<String>) = content
        .into_iter()
        .partition(|line| line.starts_with("session "));
    let key = |line: &str| {
        let words: Vec<&str> = line.rsplitn(3, ' ').collect();
        let number = |word: &str| word.parse::<i64>().unwrap();
        (number(words[0]), number(words[1]), words[2].to_owned())
    };
    let keys: Vec<_> = sessions.iter().map(|line| key(line)).collect();
    assert!(
        keys.is_sorted_by_key(|(dump, ..)| *dump),
        "JaCoCo sorts by the time of the dump"
    );
    // `units` of equal length sort as the bytes do, and as a prefix if not.
    let unique: BTreeSet<_> = keys.into_iter().collect();
    let sessions = unique
        .into_iter()
        .map(|(dump, start, id)| format!("{id} {start} {dump}"));
    sessions.chain(classes).collect()
}

fn in_one_order(mut content: Vec<String>) -> Vec<String> {
    content.sort();
    content
}

fn read(bytes: &[u8]) -> (Store, Taken, Option<StreamError>) {
    let mut store = Store::new();
    let mut taken = Taken::default();
    let end = store.take_exec(bytes, &Limits::default(), &mut taken);
    (store, taken, end.err())
}

#[test]
fn a_thousand_random_stores_are_the_same_to_jacoco() {
    let mut rng = Rng::with_seed(seed());
    let cases: Vec<Vec<Vec<Part>>> = (0..CASES)
        .map(|_| (0..rng.usize(1..5)).map(|_| stream(&mut rng)).collect())
        .collect();
    let mut input = String::new();
    let mut unions = Vec::new();
    for case in &cases {
        let mut union = Store::new();
        let mut refused = Vec::new();
        for stream in case {
            let bytes = written(stream);
            input += &format!("stream {}\n", hex(&bytes));
            let mut taken = Taken::default();
            union
                .take_exec(bytes.as_slice(), &Limits::default(), &mut taken)
                .unwrap();
            refused.push(taken.mismatches);
        }
        input += "end\n";
        // Of what we wrote of the union, JaCoCo is told in a case of its own.
        let mut file = Vec::new();
        write_exec(&union, &mut file).unwrap();
        input += &format!("stream {}\nend\n", hex(&file));
        unions.push((union, refused));
    }
    let programs = Programs::compile("JacocoSide", "17");
    let text = programs.answers(&input);
    let answers = answers(&text);
    assert_eq!(answers.len(), 2 * CASES);
    let (mut mismatches, mut ties) = (0, 0);
    for ((case, (union, refused)), answer) in cases.into_iter().zip(unions).zip(answers.chunks(2)) {
        let [streams, file] = answer else { panic!() };
        assert!(!streams.broken.contains(&true) && !file.broken.contains(&true));
        for ((stream, refused), (theirs, again)) in case
            .into_iter()
            .zip(refused)
            .zip(streams.refused.iter().zip(&streams.again))
        {
            assert_eq!(*again, hex(&as_jacoco_writes(stream)));
            mismatches += refused.len();
            let ours: Vec<String> = refused
                .iter()
                .map(|located| {
                    let mismatch = &located.mismatch;
                    format!(
                        "{} {} {}",
                        mismatch.id,
                        units(&mismatch.name),
                        mismatch.probes
                    )
                })
                .collect();
            let theirs: Vec<String> = theirs
                .iter()
                .map(|class| {
                    let (begin, probes) = class.rsplit_once(' ').unwrap();
                    format!("{begin} {}", probes.len())
                })
                .collect();
            assert_eq!(ours, theirs);
        }
        let sessions = streams
            .content
            .iter()
            .filter(|line| line.starts_with("session "));
        ties += usize::from(sessions.count() > union.summary().sessions as usize);
        assert_eq!(
            in_one_order(told(&union)),
            in_one_order(in_our_order(streams.content.clone()))
        );
        // What JaCoCo wrote is what we know, and what we wrote is what JaCoCo knows: without classes of which nothing was hit.
        let (theirs, _, error) = read(&bytes(streams.union));
        assert!(error.is_none());
        let (ours, ..) = read(&{
            let mut file = Vec::new();
            write_exec(&union, &mut file).unwrap();
            file
        });
        assert_eq!(theirs, ours);
        assert_eq!(file.content, told(&ours));
    }
    // Else the cases would show nothing of these.
    assert!(
        mismatches > 100 && ties > 0,
        "{mismatches} mismatches, {ties} sessions twice"
    );
}

/// Breaks a file as disks, networks and hostile people do.
fn damage(bytes: &mut Vec<u8>, rng: &mut Rng) {
    let at = rng.usize(..bytes.len());
    let to = rng.usize(at..bytes.len());
    match rng.u8(..8) {
        0 => bytes.truncate(at),
        1 => drop(bytes.drain(at..to)),
        2 => bytes.insert(at, rng.u8(..)),
        3 => bytes[at..to].fill(0),
        4 => {
            let copy = bytes[at..to].to_vec();
            bytes.splice(at..at, copy);
        }
        5 => bytes[at] ^= 1 << rng.u8(..8),
        6 => bytes[at] = [0, 1, 0x10, 0x11, 0x20, 0x7F, 0x80, 0xFF][rng.usize(..8)],
        _ => bytes[at] = rng.u8(..),
    }
}

#[test]
fn damaged_files_of_real_agents_are_read_as_jacoco_reads_them() {
    let mut rng = Rng::with_seed(seed());
    let shop = Programs::compile("Shop", "16");
    let recorded = shop.recorded(&[&["cat", "size"], &["dog"], &["empty", "other", "size"]]);
    let (store, taken, error) = read(&recorded);
    assert!(error.is_none() && taken.mismatches.is_empty());
    let summary = store.summary();
    assert_eq!(
        (summary.sessions, summary.classes),
        (3, 6),
        "{:?}",
        told(&store)
    );
    let files: Vec<Vec<u8>> = (0..DAMAGED)
        .map(|_| {
            let mut file = recorded.clone();
            (0..rng.u8(1..4)).for_each(|_| {
                if !file.is_empty() {
                    damage(&mut file, &mut rng)
                }
            });
            file
        })
        .collect();
    let input: String = files
        .iter()
        .map(|file| format!("stream {}\nend\n", hex(file)))
        .collect();
    let text = Programs::compile("JacocoSide", "17").answers(&input);
    let answers = answers(&text);
    assert_eq!(answers.len(), DAMAGED);
    let (mut whole, mut refused, mut stricter) = (0, 0, 0);
    for (file, answer) in files.iter().zip(answers) {
        let (store, taken, error) = read(file);
        match &error {
            Some(StreamError::Protocol(error)) => {
                assert!(error.offset <= file.len() as u64);
                // What nobody writes, and JaCoCo reads nevertheless.
                let ours = matches!(
                    error.fault,
                    Fault::Text | Fault::Unused | Fault::Count | Fault::TooMany { .. }
                );
                assert!(answer.broken[0] || ours, "{error}: {}", hex(file));
                if !ours {
                    let theirs = in_our_order(answer.content);
                    assert_eq!(
                        in_one_order(told(&store)),
                        in_one_order(theirs),
                        "before {error}"
                    );
                }
                refused += 1;
                stricter += usize::from(!answer.broken[0]);
            }
            Some(StreamError::Io(error)) => panic!("{error}"),
            None => {
                assert!(!answer.broken[0], "{}", hex(file));
                assert_eq!(answer.refused[0].len(), taken.mismatches.len());
                assert_eq!(
                    in_one_order(told(&store)),
                    in_one_order(in_our_order(answer.content))
                );
                whole += 1;
            }
        }
    }
    println!("{whole} read, {refused} refused, of which JaCoCo reads {stricter}");
    assert!(whole > 100 && refused > 1000);
}
