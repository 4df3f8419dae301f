//! Single decisions of one replica. What follows from them together is what `simulation` is for.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use super::machine::{Action, Machine, Write};
use super::members::Members;
use super::peers::Seen;
use super::terms::Terms;
use crate::plan::Expected;

/// Replica `a`, which knows one other, `b`; times are in milliseconds.
struct Replica {
    machine: Machine,
    other: Option<Seen>,
    own: Option<Seen>,
    version: u32,
}

fn at(milliseconds: u64) -> Instant {
    static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);
    *BEGIN + Duration::from_millis(milliseconds)
}

fn members(names: &str) -> Members {
    Members::parse(names)
}

/// A key that belongs to a replica when `a` and `b` share.
fn key_of(name: &str) -> String {
    let mut keys = (0..).map(|i| format!("sync/shop/{i}"));
    keys.find(|key| members("a,b").owner(key) == Some(name))
        .unwrap()
}

impl Replica {
    fn new() -> Self {
        Self {
            machine: Machine::new("a".into(), Terms::from_seconds(15), at(0)),
            other: None,
            own: None,
            version: 0,
        }
    }

    /// One that is alone, and has announced itself.
    fn alone() -> Self {
        let mut replica = Self::new();
        replica.list(0);
        replica.write(0);
        replica.write(0);
        replica.list(0);
        assert!(replica.owns("any", 0));
        replica
    }

    fn seen(&mut self, identity: &str, view: &Members) -> Seen {
        self.version += 1;
        Seen {
            identity: identity.into(),
            version: Expected {
                uid: identity.into(),
                resource_version: self.version.to_string(),
            },
            held: true,
            terms: Terms::from_seconds(15),
            view: view.clone(),
        }
    }

    fn other(&mut self, view: &str) {
        self.other = Some(self.seen("b", &members(view)));
    }

    fn next(&mut self, now: u64) -> Action {
        self.machine.next(at(now), |_| true)
    }

    /// The write that is due, which may not come through.
    fn due(&mut self, now: u64) -> Write {
        match self.next(now) {
            Action::Write(write) => write,
            other => panic!("{other:?}"),
        }
    }

    /// A write that succeeds; gives the view.
    fn write(&mut self, now: u64) -> String {
        let Write { view, over } = self.due(now);
        assert_eq!(over, self.own.as_ref().map(|seen| seen.version.clone()));
        let seen = self.seen("a", &view);
        self.own = Some(seen.clone());
        let text = view.to_string();
        self.machine.wrote(at(now), at(now), view, seen.version);
        text
    }

    /// A look at what is there.
    fn list(&mut self, now: u64) {
        let next = self.next(now);
        assert!(matches!(next, Action::List), "{next:?}");
        let all = self.own.iter().chain(&self.other).cloned().collect();
        self.machine.listed(at(now), at(now), all);
    }

    fn waits_until(&mut self, now: u64) -> Duration {
        match self.next(now) {
            Action::Wait(until) => until - at(0),
            other => panic!("{other:?}"),
        }
    }

    fn owns(&self, key: &str, now: u64) -> bool {
        self.machine.ownership(at(now)).owns(key, at(now))
    }
}

#[test]
fn a_replica_that_is_alone_owns_everything_after_a_look_at_its_own_lease() {
    let mut replica = Replica::new();
    replica.list(0);
    assert_eq!(replica.write(1), "");
    assert_eq!(replica.write(2), "a");
    assert!(!replica.owns("any", 3));
    replica.list(3);
    assert!(replica.owns("any", 3));
    assert_eq!(replica.waits_until(3), Duration::from_millis(3_002));
}

#[test]
fn ownership_ends_at_the_deadline_and_comes_back_after_a_look() {
    let mut replica = Replica::alone();
    assert!(replica.owns("any", 9_999));
    assert!(!replica.owns("any", 10_000));
    replica.write(10_000);
    assert!(!replica.owns("any", 10_000));
    replica.list(10_001);
    assert!(replica.owns("any", 10_001));
}

/// Counted from the sending, since it may have been carried out then.
#[test]
fn an_answer_that_comes_late_does_not_lengthen_the_ownership() {
    let mut replica = Replica::alone();
    let Write { view, .. } = replica.due(3_000);
    let version = replica.seen("a", &view).version;
    replica.machine.wrote(at(3_000), at(5_000), view, version);
    assert!(replica.owns("any", 12_999));
    assert!(!replica.owns("any", 13_000));
}

#[test]
fn a_key_changes_hands_when_both_have_announced_it() {
    let (ours, theirs) = (key_of("a"), key_of("b"));
    let mut replica = Replica::alone();
    replica.other("");
    replica.write(3_000);
    replica.list(3_000);
    // Who has announced nothing yet may act on anything.
    assert!(!replica.owns(&ours, 3_000));
    assert_eq!(replica.write(3_000), "a,b");
    replica.list(3_001);
    replica.other("a,b");
    replica.list(3_501);
    assert!(replica.owns(&ours, 3_501) && !replica.owns(&theirs, 3_501));
}

#[test]
fn while_permits_are_in_hand_the_old_view_is_kept_alive() {
    let mut replica = Replica::alone();
    replica.other("a,b");
    replica.write(3_000);
    replica.list(3_000);
    let in_hand = |view: &Members| *view != members("a,b");
    assert!(matches!(
        replica.machine.next(at(3_001), in_hand),
        Action::Wait(_)
    ));
    assert!(!replica.owns(&key_of("b"), 3_001));
    assert!(replica.owns(&key_of("a"), 3_001));
    match replica.machine.next(at(6_000), in_hand) {
        Action::Write(write) => assert_eq!(write.view, members("a")),
        other => panic!("{other:?}"),
    }
}

/// The other may have read it, and may read it yet.
#[test]
fn a_view_that_may_have_been_written_counts_until_another_write_is_known_to_be_over_it() {
    let key = key_of("b");
    let mut replica = Replica::alone();
    replica.other("a,b");
    replica.write(3_000);
    replica.list(3_000);
    assert_eq!(replica.due(3_000).view, members("a,b"));
    replica.machine.not_written(at(3_100));
    // The other has left meanwhile, and the write has not come through so far.
    let mut left = replica.seen("b", &members("a,b"));
    left.held = false;
    replica.other = Some(left);
    replica.list(3_600);
    assert!(!replica.owns(&key, 3_600));
    assert_eq!(replica.write(3_600), "a");
    assert!(replica.owns(&key, 3_600));
}

#[test]
fn a_lease_that_is_gone_or_given_up_by_others_is_begun_anew() {
    for held in [None, Some(false)] {
        let mut replica = Replica::alone();
        replica.write(3_000);
        replica.own = replica.own.take().filter(|_| held.is_some());
        if let Some(own) = &mut replica.own {
            own.held = false;
        }
        replica.list(3_000);
        assert!(!replica.owns("any", 3_000));
        if held.is_none() {
            assert_eq!(replica.write(3_000), "");
        }
        assert_eq!(replica.write(3_000), "a");
        assert!(!replica.owns("any", 3_000));
        replica.list(3_001);
        assert!(replica.owns("any", 3_001));
    }
}

#[test]
fn what_fails_is_tried_again_but_not_at_once() {
    let mut replica = Replica::alone();
    replica.due(3_000);
    replica.machine.not_written(at(3_000));
    assert_eq!(replica.waits_until(3_000), Duration::from_millis(3_500));
    assert!(replica.owns("any", 3_000));
    assert!(matches!(replica.next(3_500), Action::List));
    replica.machine.not_listed(at(3_500));
    assert_eq!(replica.waits_until(3_500), Duration::from_millis(4_000));
    replica.list(4_000);
    assert_eq!(replica.write(4_000), "a");
}

#[test]
fn a_death_is_looked_for_when_it_is_due() {
    let mut replica = Replica::alone();
    replica.other("a,b");
    replica.write(3_000);
    replica.list(3_000);
    replica.write(3_000);
    replica.list(3_000);
    for now in [6_000, 9_000, 12_000, 16_000] {
        replica.write(now);
        replica.list(now);
    }
    assert_eq!(replica.waits_until(16_001), Duration::from_secs(18));
    replica.list(18_000);
    assert_eq!(replica.machine.members(), &members("a"));
}

#[test]
fn the_leader_clears_away_what_is_long_dead() {
    let mut replica = Replica::alone();
    replica.other("a,b");
    replica.write(3_000);
    replica.list(3_000);
    replica.write(3_000);
    replica.list(3_000);
    for now in (6_000..=153_000).step_by(3_000) {
        while let Action::Write(write) = replica.next(now) {
            let seen = replica.seen("a", &write.view);
            replica.own = Some(seen.clone());
            replica
                .machine
                .wrote(at(now), at(now), write.view, seen.version);
        }
        replica.list(now);
    }
    match replica.next(153_001) {
        Action::Delete(seen) => assert_eq!(seen.identity, "b"),
        other => panic!("{other:?}"),
    }
    // Once.
    assert!(matches!(replica.next(153_001), Action::Wait(_)));
}
