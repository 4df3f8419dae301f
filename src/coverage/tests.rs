//! Streams byte by byte.

use super::*;

const CLASS: &[u8] = b"\x11\x01\x23\x45\x67\x89\xab\xcd\xef\x00\x08shop/Pet\x0a\x05\x02";

fn file(blocks: &[&[u8]]) -> Vec<u8> {
    let mut bytes = b"\x01\xc0\xc0\x10\x07".to_vec();
    blocks
        .iter()
        .for_each(|block| bytes.extend_from_slice(block));
    bytes
}

fn error(bytes: &[u8]) -> String {
    read_exec(bytes, &Limits::default())
        .unwrap_err()
        .to_string()
}

#[test]
fn the_format_is_what_the_documentation_says() {
    let session = b"\x10\x00\x05pet-1\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\x01\0";
    let bytes = file(&[session, CLASS]);
    let store = read_exec(&bytes, &Limits::default()).unwrap();
    let sessions: Vec<&SessionInfo> = store.sessions().collect();
    assert_eq!(sessions.len(), 1);
    assert_eq!(sessions[0].id.to_string(), "pet-1");
    assert_eq!((sessions[0].start, sessions[0].dump), (1, 256));
    let classes: Vec<ExecutionRef<'_>> = store.classes().collect();
    assert_eq!(classes.len(), 1);
    assert_eq!(classes[0].id.to_string(), "0123456789abcdef");
    assert_eq!(classes[0].name.to_string(), "shop/Pet");
    let hit: Vec<usize> = (0..)
        .zip(classes[0].probes.iter())
        .filter(|(_, hit)| *hit)
        .map(|(n, _)| n)
        .collect();
    assert_eq!((classes[0].probes.len(), hit), (10, vec![0, 2, 9]));
    let mut again = Vec::new();
    write_exec(&store, &mut again).unwrap();
    assert_eq!(again, bytes);
    assert_eq!(encode::dump_command(true, false), b"\x40\x01\x00");
}

#[test]
fn strings_are_modified_utf8() {
    for (text, bytes) in [
        ("", &b""[..]),
        ("a\0b", b"a\xc0\x80b"),
        ("Größe", "Größe".as_bytes()),
        ("猫", "猫".as_bytes()),
        ("🐈", b"\xed\xa0\xbd\xed\xb0\x88"),
    ] {
        let string = JavaString::try_from(text).unwrap();
        assert_eq!(string.as_java_str().bytes(), bytes, "{text}");
        assert_eq!(JavaStr::new(bytes).unwrap().to_string(), text);
    }
    let alone = b"a\xed\xa0\xbdb";
    assert_eq!(JavaStr::new(alone).unwrap().bytes(), alone);
    assert_eq!(JavaStr::new(alone).unwrap().to_string(), "a\u{fffd}b");
    for (bytes, at) in [
        (&b"ab\0c"[..], 2),
        (b"\x80", 0),
        (b"ab\xc3", 2),
        (b"\xc3a", 0),
        (b"\xc1\x81", 0),
        (b"a\xe0\x81\x81", 1),
        (b"\xe1\x80", 0),
        (b"abc\xf0\x9f\x90\x88", 3),
        (b"\xff", 0),
        (b"shop/Pet/shop/P\0t", 15),
        (b"shop/\0et/shop/Pet", 5),
        (b"shop/Pet/shop/Pe\x80", 16),
    ] {
        assert_eq!(
            JavaStr::new(bytes).map_err(|malformed| malformed.at),
            Err(at),
            "{bytes:x?}"
        );
    }
    assert_eq!(
        JavaString::try_from("ß".repeat(32_767).as_str())
            .unwrap()
            .to_string()
            .len(),
        65_534
    );
    assert_eq!(
        JavaString::try_from("ß".repeat(32_768).as_str()),
        Err(TooLong)
    );
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let long = [b"\x11\0\0\0\0\0\0\0\0\xff\xff".as_slice(), &[b'a'; 70_000]].concat();
    let cases = [
        b"PK\x03\x04".to_vec(),
        b"\x01\xc0\xc1\x10\x07".to_vec(),
        b"\x01\xc0\xc0\x10\x06".to_vec(),
        file(&[CLASS, b"\x55"]),
        file(&[CLASS, b"\x20"]),
        file(&[b"\x40\x01\x00"]),
        file(&[CLASS, &CLASS[..20]]),
        file(&[b"\x11\0\0\0\0\0\0\0\0\0\x02\xc1\x81\x01\x01"]),
        file(&[b"\x11\0\0\0\0\0\0\0\0\0\x01a\xff\xff\xff\xff\x0f"]),
        file(&[b"\x11\0\0\0\0\0\0\0\0\0\x01a\x80\x80\x80\x80\x80\x80"]),
        file(&[b"\x11\0\0\0\0\0\0\0\0\0\x01a\xff\xff\xff\xff\x07"]),
        file(&[b"\x11\0\0\0\0\0\0\0\0\0\x01a\x03\x09"]),
        file(&[&long]),
    ];
    let told: Vec<String> = cases.iter().map(|bytes| error(bytes)).collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn headers_may_come_anywhere_and_nothing_is_nothing() {
    let one = file(&[CLASS]);
    let concatenated = [
        one.as_slice(),
        &one,
        &file(&[]),
        &file(&[&file(&[]), CLASS]),
    ]
    .concat();
    let read = |bytes: &[u8]| read_exec(bytes, &Limits::default()).unwrap();
    assert_eq!(read(&concatenated), read(&one));
    // What an agent has not written anything to yet.
    assert_eq!(read(b"").summary(), Summary::default());
}

#[test]
fn an_answer_ends_with_done() {
    let mut decoder = Decoder::new(Dialect::Agent, Limits::default());
    decoder.push(&file(&[CLASS, b"\x20"])).unwrap();
    let mut ends = Vec::new();
    while let Some((offset, block)) = decoder.next_block().unwrap() {
        if block == Block::Done {
            ends.push(offset);
        }
    }
    assert_eq!(ends, [(5 + CLASS.len()) as u64]);
    assert_eq!(decoder.offset(), (6 + CLASS.len()) as u64);
}

#[test]
fn classes_that_do_not_match_are_told_and_the_rest_is_kept() {
    let other_name = b"\x11\x01\x23\x45\x67\x89\xab\xcd\xef\x00\x08shop/Cat\x0a\xff\x03";
    let other_probes = b"\x11\x01\x23\x45\x67\x89\xab\xcd\xef\x00\x08shop/Pet\x02\x03";
    let another = b"\x11\x00\x00\x00\x00\x00\x00\x00\x07\x00\x08shop/Cat\x01\x01";
    let bytes = file(&[CLASS, other_name, other_probes, another]);
    let error = read_exec(&bytes, &Limits::default()).unwrap_err();
    let told: Vec<String> = error.mismatches.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    at byte 27: class shop/Cat has the id of shop/Pet (0123456789abcdef)
    at byte 49: class shop/Pet (0123456789abcdef) has 2 probes here, and 10 in what came before: the agents are of different releases
    ");
    insta::assert_snapshot!(error.to_string(), @"at byte 27: class shop/Cat has the id of shop/Pet (0123456789abcdef) (and 1 more)");
    assert!(error.fault.is_none());
    assert_eq!(
        *error.rest,
        read_exec(&file(&[CLASS, another]), &Limits::default()).unwrap()
    );
}

#[test]
fn what_came_before_an_error_is_kept() {
    let error = read_exec(&file(&[CLASS, b"\x55", CLASS]), &Limits::default()).unwrap_err();
    assert_eq!(
        *error.rest,
        read_exec(&file(&[CLASS]), &Limits::default()).unwrap()
    );
}

#[test]
fn limits_are_held() {
    let session = |n: u8| {
        [
            b"\x10\x00\x00\0\0\0\0\0\0\0\x01\0\0\0\0\0\0\x01".as_slice(),
            &[n],
        ]
        .concat()
    };
    let class = |n: u8| [b"\x11\0\0\0\0\0\0\0".as_slice(), &[n], b"\0\x01a\x01\x01"].concat();
    let bytes = file(&[
        &session(1),
        &session(2),
        &session(1),
        &class(1),
        &class(2),
        &class(1),
    ]);
    let exact = Limits {
        bytes: bytes.len() as u64,
        sessions: 2,
        classes: 2,
        probes_per_class: 1,
    };
    assert_eq!(read_exec(&bytes, &exact).unwrap().summary().classes, 2);
    let short = Limits {
        bytes: exact.bytes - 1,
        ..exact.clone()
    };
    let rest = read_exec(&bytes, &short).unwrap_err().rest;
    assert_eq!(rest.summary().classes, 2);
    let told: Vec<String> = [
        Limits {
            bytes: exact.bytes - 1,
            ..exact.clone()
        },
        Limits {
            sessions: 1,
            ..exact.clone()
        },
        Limits {
            classes: 1,
            ..exact.clone()
        },
        Limits {
            probes_per_class: 0,
            ..exact.clone()
        },
    ]
    .iter()
    .map(|limits| read_exec(&bytes, limits).unwrap_err().to_string())
    .collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    at byte 103: 104 bytes are more than the limit of 103
    at byte 24: 2 sessions are more than the limit of 1
    at byte 76: 2 classes are more than the limit of 1
    at byte 74: 1 probes of one class are more than the limit of 0
    ");
}

#[test]
fn what_is_announced_is_not_allocated() {
    let mut decoder = Decoder::new(
        Dialect::Agent,
        Limits {
            probes_per_class: 1 << 30,
            ..Limits::default()
        },
    );
    decoder
        .push(&file(&[b"\x11\0\0\0\0\0\0\0\0\0\x01a\xff\xff\xff\xff\x01"]))
        .unwrap();
    assert!(matches!(decoder.next_block(), Ok(Some((0, Block::Header)))));
    // More than 500 million probes are to come.
    assert_eq!(decoder.next_block(), Ok(None));
    assert!(decoder.kept() < 100);
}

#[test]
fn a_store_that_is_reset_is_empty() {
    let mut store = read_exec(&file(&[CLASS]), &Limits::default()).unwrap();
    assert_eq!(
        store
            .get(ClassId(0x0123_4567_89ab_cdef))
            .map(|class| class.probes.count()),
        Some(3)
    );
    store.reset();
    assert_eq!(store, Store::new());
    assert_eq!(store.summary(), Summary::default());
}
