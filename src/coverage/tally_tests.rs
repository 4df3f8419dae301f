use proptest::prelude::*;

use super::*;

fn store(classes: &[(u64, &str, &str)]) -> Store {
    let mut store = Store::new();
    for (id, name, probes) in classes {
        let data = ExecutionData {
            id: ClassId(*id),
            name: (*name).try_into().unwrap(),
            probes: probes.chars().map(|hit| hit == '1').collect(),
        };
        store.put(data.as_ref()).unwrap();
    }
    store
}

fn tally(dumps: &[&Store]) -> Union {
    let mut tally = Tally::default();
    for (peer, dump) in dumps.iter().enumerate() {
        tally.add_dump(peer, dump).unwrap();
    }
    tally.union(dumps.len())
}

fn alone(union: &Union) -> Vec<u64> {
    union.shares.iter().map(|share| share.alone).collect()
}

#[test]
fn what_a_peer_alone_has_hit_is_counted() {
    let dumps = [
        store(&[(1, "Cat", "1100000001"), (2, "Dog", "1")]),
        store(&[(1, "Cat", "1010000000")]),
        store(&[(1, "Cat", "1010000000"), (3, "Fish", "11")]),
    ];
    let union = tally(&dumps.each_ref());
    assert_eq!(
        union.store,
        store(&[(1, "Cat", "1110000001"), (2, "Dog", "1"), (3, "Fish", "11")])
    );
    assert_eq!(alone(&union), [3, 0, 2]);
}

#[test]
fn what_a_peer_says_twice_is_still_its_own() {
    let mut tally = Tally::default();
    let first = tally.add_dump(0, &store(&[(1, "Cat", "10")])).unwrap();
    let again = tally.add_dump(0, &store(&[(1, "Cat", "11")])).unwrap();
    assert_eq!((first.new_classes, first.new_probes), (1, 1));
    assert_eq!((again.new_classes, again.new_probes), (0, 1));
    assert_eq!(alone(&tally.union(1)), [2]);
}

#[test]
fn what_was_there_before_belongs_to_nobody_and_is_never_taken_out() {
    let mut tally = Tally::default();
    tally
        .add_earlier(&store(&[(1, "Cat", "110"), (2, "Dog", "1")]))
        .unwrap();
    for peer in 0..3 {
        tally.add_dump(peer, &store(&[(2, "Dog", "11")])).unwrap();
    }
    tally.add_dump(0, &store(&[(1, "Cat", "011")])).unwrap();
    let union = tally.union(3);
    assert_eq!(union.store, store(&[(1, "Cat", "111"), (2, "Dog", "1")]));
    // Of what is hit in the file as well, it is the only pod.
    assert_eq!(alone(&union), [2, 0, 0]);
    let mismatched: Vec<u64> = union.shares.iter().map(|it| it.mismatched).collect();
    assert_eq!(mismatched, [1, 1, 1]);
}

#[test]
fn of_classes_that_do_not_match_the_one_that_most_have_is_kept() {
    let (odd, usual) = (store(&[(1, "Cat", "1")]), store(&[(1, "Cat", "10")]));
    let union = tally(&[&odd, &usual, &usual]);
    assert_eq!(union.store, usual);
    assert_eq!(union.unmerged, [odd]);
    let [share, others @ ..] = union.shares.as_slice() else {
        panic!("a share for each");
    };
    let [mismatch] = share.mismatches.as_slice() else {
        panic!("{share:?}");
    };
    assert_eq!((mismatch.probes, mismatch.known_probes), (1, 2));
    assert!(others.iter().all(|share| share.mismatched == 0));
}

#[test]
fn a_session_that_is_dumped_again_is_the_same_one() {
    let dump = |start, dump| {
        let mut store = Store::new();
        let id: JavaString = "pet-1".try_into().unwrap();
        store.add_session(SessionInfo { id, start, dump });
        store
    };
    let union = tally(&[&dump(1, 5), &dump(1, 9), &dump(1, 7), &dump(2, 8)]);
    let times = union.store.sessions().map(|it| (it.start, it.dump));
    assert_eq!(times.collect::<Vec<_>>(), [(2, 8), (1, 9)]);
}

#[test]
fn memory_is_bounded_whatever_peers_say() {
    let most = 1 << 20;
    let mut tally = Tally {
        most,
        ..Tally::default()
    };
    let probes = "1".repeat(1 << 14);
    let mut added = 0;
    let refused = loop {
        match tally.add_dump(0, &store(&[(added, "Big", &probes)])) {
            Ok(_) => added += 1,
            Err(error) => break error,
        }
    };
    assert_eq!(
        refused.to_string(),
        "all dumps together take more than 1 MiB of memory"
    );
    // Four bytes for each probe.
    assert_eq!(added, 15);
    assert_eq!(tally.union(1).store.classes().len(), 15);
}

proptest! {
    #[test]
    fn the_order_of_arrival_changes_nothing(
        dumps in prop::collection::vec(prop::collection::vec((0..6_u64, 0..2_usize, "[01]{1,3}"), 0..8), 1..7),
        seed: u64,
    ) {
        let dumps: Vec<Store> = dumps
            .iter()
            .map(|classes| {
                let mut store = Store::new();
                for (id, name, probes) in classes {
                    let data = ExecutionData {
                        id: ClassId(*id),
                        name: ["Cat", "Dog"][*name].try_into().unwrap(),
                        probes: probes.chars().map(|hit| hit == '1').collect(),
                    };
                    // One that does not match is left out of this dump.
                    drop(store.put(data.as_ref()));
                }
                store
            })
            .collect();
        let in_order = tally(&dumps.iter().collect::<Vec<_>>());
        let mut order: Vec<usize> = (0..dumps.len()).collect();
        fastrand::Rng::with_seed(seed).shuffle(&mut order);
        let mut other = Tally::default();
        for peer in order {
            other.add_dump(peer, &dumps[peer]).unwrap();
        }
        let other = other.union(dumps.len());
        prop_assert_eq!(&in_order.store, &other.store);
        prop_assert_eq!(&in_order.unmerged, &other.unmerged);
        prop_assert_eq!(format!("{:?}", in_order.shares), format!("{:?}", other.shares));
        // Nothing is lost: each hit of each dump is in the union, or in what does not fit into it.
        let mut hit = 0;
        for dump in &dumps {
            for class in dump.classes() {
                let all = std::iter::once(&in_order.store).chain(&in_order.unmerged);
                let found = all.filter_map(|it| it.get(class.id)).find(|it| it.name == class.name && it.probes.len() == class.probes.len());
                let found = found.expect("the class is somewhere");
                prop_assert!(class.probes.iter().zip(found.probes.iter()).all(|(own, all)| !own || all));
                hit += 1;
            }
        }
        prop_assert!(hit > 0 || dumps.iter().all(|it| it.classes().len() == 0));
    }
}
