//! The other replicas, as lists of their Leases tell of them.

use std::collections::BTreeMap;
use std::time::Instant;

use super::members::Members;
use super::terms::Terms;
use crate::plan::Expected;

/// What a list told of one replica's Lease.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    /// Whose it is.
    pub identity: String,
    /// Which version of it this is.
    pub version: Expected,
    /// Whether the replica still holds it, and has not released it.
    pub held: bool,
    /// How long it lasts without a change.
    pub terms: Terms,
    /// The members that the replica acts on.
    pub view: Members,
}

/// Another replica.
#[derive(Debug)]
struct Peer {
    seen: Seen,
    /// When we learned of its last change.
    changed: Instant,
    /// Whether its Lease was there at the last look.
    there: bool,
    alive: bool,
}

impl Peer {
    fn new(seen: Seen, changed: Instant) -> Self {
        let alive = seen.held;
        Self {
            seen,
            changed,
            there: true,
            alive,
        }
    }

    fn expires(&self) -> Instant {
        self.changed + self.seen.terms.duration()
    }
}

/// All other replicas that we know of.
#[derive(Debug, Default)]
pub(super) struct Peers(BTreeMap<String, Peer>);

impl Peers {
    /// Takes in a list that was asked for and came at these times.
    ///
    /// Wall clocks are not compared: a replica is dead when its Lease has not changed for its duration by our monotonic
    /// clock. That is counted from when we had seen the last change to when we asked, for only until then do we know that
    /// nothing has changed. That somebody deleted a Lease is such a change: its replica may not know yet.
    pub fn listed(&mut self, asked: Instant, told: Instant, leases: Vec<Seen>) {
        let mut leases: BTreeMap<String, Seen> = leases
            .into_iter()
            .map(|seen| (seen.identity.clone(), seen))
            .collect();
        for (identity, peer) in &mut self.0 {
            match leases.remove(identity) {
                Some(seen) if seen.version == peer.seen.version => peer.there = true,
                Some(seen) => *peer = Peer::new(seen, told),
                None if peer.there && peer.alive => {
                    peer.there = false;
                    peer.changed = told;
                }
                None => peer.there = false,
            }
            peer.alive = peer.seen.held && asked < peer.expires();
        }
        let new = leases.into_iter();
        self.0
            .extend(new.map(|(identity, seen)| (identity, Peer::new(seen, told))));
        self.0.retain(|_, peer| peer.there || peer.alive);
    }

    /// The views of those that are alive, by identity.
    pub fn alive(&self) -> impl Iterator<Item = (&str, &Members)> {
        let alive = self.0.values().filter(|peer| peer.alive);
        alive.map(|peer| (peer.seen.identity.as_str(), &peer.seen.view))
    }

    /// When the next of them dies, unless it gives a sign of life.
    pub fn next_death(&self) -> Option<Instant> {
        let alive = self.0.values().filter(|peer| peer.alive);
        alive.map(Peer::expires).min()
    }

    /// The Leases of those that have been dead for long.
    pub fn litter(&self, now: Instant) -> impl Iterator<Item = &Seen> {
        let dead = self.0.values().filter(|peer| peer.there && !peer.alive);
        dead.filter(move |peer| peer.changed + peer.seen.terms.litter() <= now)
            .map(|peer| &peer.seen)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn lease(identity: &str, version: u32, held: bool) -> Seen {
        Seen {
            identity: identity.into(),
            version: Expected {
                uid: "u".into(),
                resource_version: version.to_string(),
            },
            held,
            terms: Terms::from_seconds(15),
            view: Members::default(),
        }
    }

    /// Peers after lists at these seconds, each asked for and told at once.
    fn alive(lists: &[(u64, Vec<Seen>)]) -> Vec<String> {
        let begin = Instant::now();
        let mut peers = Peers::default();
        for (second, leases) in lists {
            let at = begin + Duration::from_secs(*second);
            peers.listed(at, at, leases.clone());
        }
        peers.alive().map(|(identity, _)| identity.into()).collect()
    }

    #[test]
    fn who_gives_no_sign_of_life_for_the_duration_is_dead() {
        let same = || vec![lease("a", 1, true)];
        assert_eq!(alive(&[(0, same()), (14, same())]), ["a"]);
        assert!(alive(&[(0, same()), (15, same())]).is_empty());
        let renewed = vec![lease("a", 2, true)];
        assert_eq!(alive(&[(0, same()), (15, renewed.clone())]), ["a"]);
        assert_eq!(
            alive(&[(0, same()), (15, same()), (16, renewed.clone())]),
            ["a"]
        );
        assert_eq!(
            alive(&[(0, same()), (14, renewed.clone()), (28, renewed)]),
            ["a"]
        );
    }

    #[test]
    fn who_released_its_lease_is_gone_at_once() {
        let lists = [
            (0, vec![lease("a", 1, true)]),
            (1, vec![lease("a", 2, false)]),
        ];
        assert!(alive(&lists).is_empty());
    }

    #[test]
    fn a_deleted_lease_runs_out_like_any_other() {
        let first = (0, vec![lease("a", 1, true)]);
        assert_eq!(alive(&[first.clone(), (20, vec![]), (34, vec![])]), ["a"]);
        assert!(alive(&[first, (20, vec![]), (35, vec![])]).is_empty());
    }

    #[test]
    fn a_list_that_was_asked_for_in_time_kills_nobody_however_late_it_comes() {
        let at = |second| begin_plus(second);
        let mut peers = Peers::default();
        peers.listed(at(0), at(0), vec![lease("a", 1, true)]);
        peers.listed(at(14), at(20), vec![lease("a", 1, true)]);
        assert_eq!(peers.alive().count(), 1);
    }

    #[test]
    fn only_what_is_there_and_long_dead_is_litter() {
        let at = |second| begin_plus(second);
        let mut peers = Peers::default();
        let both = || vec![lease("a", 1, true), lease("b", 1, false)];
        peers.listed(at(0), at(0), both());
        peers.listed(at(20), at(20), both());
        assert_eq!(peers.litter(at(149)).count(), 0);
        assert_eq!(peers.litter(at(150)).count(), 2);
        peers.listed(at(151), at(151), vec![lease("a", 2, true)]);
        assert_eq!(peers.litter(at(152)).count(), 0);
    }

    fn begin_plus(second: u64) -> Instant {
        static BEGIN: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
        *BEGIN + Duration::from_secs(second)
    }
}
