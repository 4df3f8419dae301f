//! What holds for all streams and all stores.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;

/// An owned block of a stream.
#[derive(Clone, Debug, PartialEq)]
enum Part {
    Header,
    Session(SessionInfo),
    Class(ExecutionData),
    Done,
}

impl Part {
    fn of(block: Block<'_>) -> Self {
        match block {
            Block::Header => Self::Header,
            Block::Session(session) => Self::Session(session),
            Block::Execution(class) => Self::Class(class.to_owned()),
            Block::Done => Self::Done,
        }
    }

    fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Header => out.extend(encode::header()),
            Self::Session(session) => encode::session(out, session),
            Self::Class(class) => encode::execution(out, class.as_ref()),
            Self::Done => out.push(block::DONE),
        }
    }
}

fn text() -> impl Strategy<Value = JavaString> {
    let odd = select(vec![
        0, 0x7F, 0x80, 0x7FF, 0x800, 0xD83D, 0xDE00, 0xDFFF, 0xFFFF,
    ]);
    let unit = prop_oneof![4 => 0x20..0x7F_u16, 1 => odd, 1 => any::<u16>()];
    vec(unit, 0..12).prop_map(|units| JavaString::from_units(units).unwrap())
}

fn session() -> impl Strategy<Value = SessionInfo> {
    let times = prop_oneof![0..4_i64, any::<i64>()];
    (text(), times.clone(), times).prop_map(|(id, start, dump)| SessionInfo { id, start, dump })
}

/// One of few ids, so that classes meet.
fn class() -> impl Strategy<Value = ExecutionData> {
    let id = prop_oneof![0..6_u64, any::<u64>()].prop_map(ClassId);
    let probes = vec(any::<bool>(), 0..140).prop_map(Probes::from_iter);
    (id, text(), probes).prop_map(|(id, name, probes)| ExecutionData { id, name, probes })
}

/// One whose name and number of probes follow from its id, as they should.
fn true_class() -> impl Strategy<Value = ExecutionData> {
    (0..9_u64, vec(any::<bool>(), 80)).prop_map(|(id, bits)| ExecutionData {
        id: ClassId(id.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
        name: format!("shop/Pet{id}").as_str().try_into().unwrap(),
        probes: bits.into_iter().take(id as usize * 10).collect(),
    })
}

fn stream() -> impl Strategy<Value = Vec<Part>> {
    let part = prop_oneof![
        1 => Just(Part::Header),
        2 => session().prop_map(Part::Session),
        6 => class().prop_map(Part::Class),
        1 => Just(Part::Done),
    ];
    vec(part, 0..20).prop_map(|mut parts| {
        parts.insert(0, Part::Header);
        parts
    })
}

fn store(class: impl Strategy<Value = ExecutionData>) -> impl Strategy<Value = Store> {
    (vec(session(), 0..5), vec(class, 0..20)).prop_map(|(sessions, classes)| {
        let mut store = Store::new();
        sessions
            .into_iter()
            .for_each(|session| store.add_session(session));
        for class in classes {
            // Those that do not match are left out.
            let _ = store.put(class.as_ref());
        }
        store
    })
}

fn written(parts: &[Part]) -> Vec<u8> {
    let mut bytes = Vec::new();
    parts.iter().for_each(|part| part.write(&mut bytes));
    bytes
}

/// All blocks of a stream that comes in pieces, and how it ends. What is kept meanwhile is never much more than what has come.
fn decoded(pieces: &[&[u8]]) -> (Vec<(u64, Part)>, Result<(), ProtocolError>) {
    let mut decoder = Decoder::new(Dialect::Agent, Limits::default());
    let mut parts = Vec::new();
    let mut pushed = 0;
    for piece in pieces {
        pushed += piece.len();
        let mut result = decoder.push(piece);
        assert!(decoder.kept() <= 2 * pushed + 64);
        while result.is_ok() {
            match decoder.next_block() {
                Ok(Some((offset, block))) => parts.push((offset, Part::of(block))),
                Ok(None) => break,
                Err(error) => result = Err(error),
            }
        }
        if result.is_err() {
            return (parts, result);
        }
    }
    let end = decoder.finish();
    (parts, end)
}

fn cut<'a>(bytes: &'a [u8], places: &[Index]) -> Vec<&'a [u8]> {
    let mut places: Vec<usize> = places.iter().map(|at| at.index(bytes.len() + 1)).collect();
    places.sort_unstable();
    let mut begin = 0;
    let mut pieces: Vec<&[u8]> = places
        .into_iter()
        .map(|end| &bytes[std::mem::replace(&mut begin, end)..end])
        .collect();
    pieces.push(&bytes[begin..]);
    pieces
}

/// Without the classes that no file has.
fn as_in_a_file(store: &Store) -> Store {
    let mut copy = Store::new();
    store
        .sessions()
        .cloned()
        .for_each(|session| copy.add_session(session));
    for class in store.classes().filter(|class| class.probes.any()) {
        copy.put(class).unwrap();
    }
    copy
}

fn united(stores: &[&Store]) -> Store {
    let mut union = Store::new();
    for store in stores {
        assert_eq!(union.merge(store).1, []);
    }
    union
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn strings_survive(units in vec(any::<u16>(), 0..40)) {
        let string = JavaString::from_units(units.iter().copied()).unwrap();
        let read = JavaStr::new(string.as_java_str().bytes()).unwrap();
        prop_assert_eq!(read.units().collect::<Vec<_>>(), units.clone());
        prop_assert_eq!(string.to_string(), String::from_utf16_lossy(&units));
    }

    #[test]
    fn each_string_has_one_form(bytes in vec(any::<u8>(), 0..12)) {
        if let Ok(read) = JavaStr::new(&bytes) {
            prop_assert_eq!(JavaString::from_units(read.units()).unwrap(), read.to_owned());
        }
    }

    #[test]
    fn probes_survive(bits in vec(any::<bool>(), 0..300)) {
        let probes: Probes = bits.iter().copied().collect();
        let probes = probes.as_ref();
        prop_assert_eq!(probes.iter().collect::<Vec<_>>(), bits.clone());
        prop_assert_eq!(probes.count(), bits.iter().filter(|bit| **bit).count() as u64);
        prop_assert_eq!(probes.any(), bits.contains(&true));
    }

    #[test]
    fn a_file_holds_the_store(store in store(class())) {
        let mut file = Vec::new();
        write_exec(&store, &mut file).unwrap();
        let read = read_exec(&file, &Limits::default()).unwrap();
        prop_assert_eq!(&read, &as_in_a_file(&store));
        let mut again = Vec::new();
        write_exec(&read, &mut again).unwrap();
        prop_assert_eq!(again, file);
    }

    #[test]
    fn a_stream_is_the_same_however_it_is_cut(parts in stream(), places in vec(any::<Index>(), 0..8)) {
        let bytes = written(&parts);
        let (whole, end) = decoded(&[&bytes]);
        prop_assert_eq!(end, Ok(()));
        let found: Vec<Part> = whole.iter().map(|(_, part)| part.clone()).collect();
        prop_assert_eq!(found, parts);
        prop_assert_eq!(decoded(&cut(&bytes, &places)), (whole.clone(), Ok(())));
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        prop_assert_eq!(decoded(&single), (whole, Ok(())));
    }

    #[test]
    fn what_is_cut_off_is_told(parts in stream(), place in any::<Index>()) {
        let bytes = written(&parts);
        let (whole, _) = decoded(&[&bytes]);
        let begin = &bytes[..place.index(bytes.len())];
        let (found, end) = decoded(&[begin]);
        prop_assert_eq!(&found, &whole[..found.len()]);
        let next = whole[found.len()].0;
        let truncated = ProtocolError { offset: next, fault: Fault::Truncated };
        let boundary = next == begin.len() as u64;
        prop_assert_eq!(end, if boundary { Ok(()) } else { Err(truncated) });
    }

    #[test]
    fn any_bytes_are_read_or_refused_at_a_place(bytes in vec(any::<u8>(), 0..300), headed in any::<bool>(), places in vec(any::<Index>(), 0..4)) {
        let mut stream = if headed { encode::header().to_vec() } else { Vec::new() };
        stream.extend(bytes);
        let (parts, end) = decoded(&[&stream]);
        prop_assert_eq!(decoded(&cut(&stream, &places)), (parts.clone(), end.clone()));
        match end {
            Ok(()) => {
                let parts: Vec<Part> = parts.into_iter().map(|(_, part)| part).collect();
                // Counts have longer forms, which nobody writes.
                prop_assert!(written(&parts).len() <= stream.len());
            }
            Err(error) => prop_assert!(error.offset < stream.len() as u64),
        }
    }

    #[test]
    fn damaged_streams_are_read_or_refused_at_a_place(parts in stream(), damage in vec((any::<Index>(), any::<u8>()), 1..4)) {
        let mut bytes = written(&parts);
        for (place, byte) in damage {
            *place.get_mut(&mut bytes) = byte;
        }
        if let (_, Err(error)) = decoded(&[&bytes]) {
            prop_assert!(error.offset < bytes.len() as u64);
        }
    }

    #[test]
    fn the_order_of_a_union_does_not_matter(a in store(true_class()), b in store(true_class()), c in store(true_class())) {
        let union = united(&[&a, &b, &c]);
        prop_assert_eq!(&union, &united(&[&c, &a, &b]));
        prop_assert_eq!(&union, &united(&[&united(&[&b, &a]), &c]));
        prop_assert_eq!(&union, &united(&[&a, &united(&[&b, &c])]));
        prop_assert_eq!(union.summary(), united(&[&c, &b, &a]).summary());
        let mut files = [Vec::new(), Vec::new()];
        write_exec(&union, &mut files[0]).unwrap();
        write_exec(&united(&[&c, &b, &a]), &mut files[1]).unwrap();
        prop_assert_eq!(&files[0], &files[1]);
    }

    #[test]
    fn nothing_is_added_twice(a in store(class()), b in store(class())) {
        let mut union = a.clone();
        let (_, mismatches) = union.merge(&b);
        let before = union.clone();
        prop_assert_eq!(union.merge(&a), (Growth::default(), Vec::new()));
        prop_assert_eq!(union.merge(&b), (Growth::default(), mismatches));
        prop_assert_eq!(union.merge(&before), (Growth::default(), Vec::new()));
        prop_assert_eq!(&union, &before);
        prop_assert_eq!(union.summary(), before.summary());
    }

    #[test]
    fn growth_is_what_the_summary_grows_by(a in store(class()), b in store(class())) {
        let mut union = a.clone();
        let (growth, _) = union.merge(&b);
        let (before, after) = (a.summary(), union.summary());
        prop_assert_eq!(growth.new_classes, after.classes - before.classes);
        prop_assert_eq!(growth.new_probes, after.hit - before.hit);
        let hit: u64 = union.classes().map(|class| class.probes.count()).sum();
        let probes: usize = union.classes().map(|class| class.probes.len()).sum();
        prop_assert_eq!((after.hit, after.probes), (hit, probes as u64));
    }

    #[test]
    fn a_mismatch_changes_nothing(store in store(class()), other in class(), which in any::<Index>()) {
        prop_assume!(store.len() > 0);
        let known = store.classes().nth(which.index(store.len())).unwrap().to_owned();
        let other = ExecutionData { id: known.id, ..other };
        let mut after = store.clone();
        let result = after.put(other.as_ref());
        let same = other.name == known.name && other.probes.as_ref().len() == known.probes.as_ref().len();
        prop_assert_eq!(result.is_ok(), same);
        if let Err(mismatch) = result {
            prop_assert_eq!((mismatch.id, mismatch.known_name), (known.id, known.name));
            prop_assert_eq!(&after, &store);
            prop_assert_eq!(after.summary(), store.summary());
        }
    }
}
