//! Who may write for what, decided without any IO or clock.
//!
//! Each replica announces in its Lease the members it acts on, its view. Two replicas never own a key at once, since
//! each writes its own view first and looks at the others' views then, and both steps are atomic on the server: of two
//! replicas, the one whose view was written later sees the other's view, and owns no key that this does not give to it.
//! For that to hold,
//! - a replica gives up the keys that a new view takes from it *before* it announces the view;
//! - it owns the keys that a new view gives to it only *after* a look that began when the view had been written;
//! - it renews its Lease in time, or begins anew, as somebody who has announced nothing. Others leave it out only when
//!   by then it has stopped by itself, as its deadline is shorter than its Lease.
//!
//! Only who deletes the Lease of a replica that runs can break this: somebody who joins before the replica has noticed
//! cannot know of it.

use std::time::Instant;

use super::members::Members;
use super::ownership::Ownership;
use super::peers::{Peers, Seen};
use super::terms::Terms;
use crate::plan::Expected;

/// The key whose owner is the leader, for work that only one replica does.
pub const LEADER: &str = "leader";

/// What to do next.
#[derive(Debug)]
pub(super) enum Action {
    /// List all Leases.
    List,
    /// Write our own.
    Write(Write),
    /// Delete that of a replica which has been dead for long.
    Delete(Seen),
    /// Wait until then, or until a permit for a key that is no longer ours has ended.
    Wait(Instant),
}

/// A write of our own Lease, which is its renewal in any case.
#[derive(Debug)]
pub(super) struct Write {
    /// The members to announce.
    pub view: Members,
    /// The version to write over; none to create it.
    pub over: Option<Expected>,
}

/// What is known of our own Lease.
#[derive(Debug)]
enum Own {
    /// Nothing, before the first look and after a write that may have failed.
    Unknown,
    Absent,
    Present(Expected),
}

/// One replica's knowledge. Whoever drives it does one thing at a time, and tells how it went before asking for the next.
#[derive(Debug)]
pub(super) struct Machine {
    identity: String,
    terms: Terms,
    peers: Peers,
    own: Own,
    /// Who is alive, with ourselves: the view to announce.
    wanted: Members,
    /// The view that we last announced.
    announced: Members,
    /// The view that we had announced when the last look began.
    proven: Members,
    /// Views that our Lease may show instead of the announced one.
    doubtful: Vec<Members>,
    /// When the last good write was sent.
    renewed: Option<Instant>,
    /// When to look again.
    look: Instant,
    litter: Vec<Seen>,
}

impl Machine {
    /// Begins as somebody who knows nothing and owns nothing.
    pub fn new(identity: String, terms: Terms, now: Instant) -> Self {
        Self {
            identity,
            terms,
            peers: Peers::default(),
            own: Own::Unknown,
            wanted: Members::default(),
            announced: Members::default(),
            proven: Members::default(),
            doubtful: Vec::new(),
            renewed: None,
            look: now,
            litter: Vec::new(),
        }
    }

    /// Gives the keys that are ours: in every view that counts, and as long as our Lease is renewed in time.
    pub fn ownership(&self, now: Instant) -> Ownership {
        match self.deadline() {
            Some(deadline) if now < deadline => {
                let ours = [&self.proven, &self.announced, &self.wanted];
                let theirs = self.peers.alive().map(|(_, view)| view);
                let views = ours.into_iter().chain(&self.doubtful).chain(theirs);
                Ownership::shared(&self.identity, views, deadline)
            }
            _ => Ownership::nothing(),
        }
    }

    /// Who is alive as far as we know.
    pub fn members(&self) -> &Members {
        &self.wanted
    }

    /// Our Lease as we know it, to be released.
    pub fn lease(&self) -> Option<&Expected> {
        match &self.own {
            Own::Present(version) => Some(version),
            Own::Unknown | Own::Absent => None,
        }
    }

    /// Says what to do next. The ownership of this moment must be in force; `leaves_permits` tells whether a view gives
    /// all keys to us for which permits are in hand.
    pub fn next(&mut self, now: Instant, leaves_permits: impl Fn(&Members) -> bool) -> Action {
        if let Some(write) = self.write_due(now, leaves_permits) {
            self.doubt(write.view.clone());
            return Action::Write(write);
        }
        if self.look <= now {
            return Action::List;
        }
        if self.ownership(now).owns(LEADER, now)
            && let Some(seen) = self.litter.pop()
        {
            return Action::Delete(seen);
        }
        let renewal = self.renewed.map(|renewed| renewed + self.terms.interval());
        let later = [renewal, self.deadline()].into_iter().flatten();
        let soonest = later.filter(|time| *time > now).min();
        Action::Wait(soonest.map_or(self.look, |time| time.min(self.look)))
    }

    fn write_due(&self, now: Instant, leaves_permits: impl Fn(&Members) -> bool) -> Option<Write> {
        let (view, over) = match &self.own {
            Own::Unknown => return None,
            // Nothing guards the creation from being carried out late, over what was written since. A view without members
            // does no harm then: it gives no key to anybody.
            Own::Absent => (Members::default(), None),
            Own::Present(version) if leaves_permits(&self.wanted) => {
                (self.wanted.clone(), Some(version.clone()))
            }
            Own::Present(version) => (self.announced.clone(), Some(version.clone())),
        };
        let interval = self.terms.interval();
        let settled = over.is_some() && view == self.announced && self.doubtful.is_empty();
        let fresh = self.renewed.is_some_and(|sent| now < sent + interval);
        if (settled && fresh) || !leaves_permits(&view) {
            return None;
        }
        Some(Write { view, over })
    }

    /// Takes in a list of all Leases that was asked for and came at these times.
    pub fn listed(&mut self, asked: Instant, told: Instant, leases: Vec<Seen>) {
        let (own, others): (Vec<Seen>, Vec<Seen>) = leases
            .into_iter()
            .partition(|seen| seen.identity == self.identity);
        self.peers.listed(asked, told, others);
        let alive = self.peers.alive().map(|(identity, _)| identity);
        self.wanted = alive.chain([self.identity.as_str()]).collect();
        self.litter = self.peers.litter(asked).cloned().collect();

        let own = own.into_iter().next();
        if !own.as_ref().is_some_and(|seen| seen.held) {
            // To the others we are gone.
            self.announced = Members::default();
        }
        self.own = match own {
            None => Own::Absent,
            Some(seen) => {
                if seen.view != self.announced {
                    self.doubt(seen.view);
                }
                Own::Present(seen.version)
            }
        };
        self.proven = self.announced.clone();

        let agreed = self.peers.alive().all(|(_, view)| *view == self.wanted);
        let pause = if agreed && self.announced == self.wanted {
            self.terms.interval()
        } else {
            self.terms.hurry()
        };
        let again = told + pause;
        self.look = self.peers.next_death().map_or(again, |at| at.min(again));
    }

    /// Takes in that a write which was sent and answered at these times made our Lease this version.
    pub fn wrote(&mut self, sent: Instant, answered: Instant, view: Members, version: Expected) {
        let in_time = self.deadline().is_some_and(|deadline| answered < deadline);
        if !in_time {
            self.proven = Members::default();
        }
        if !in_time || view != self.announced {
            self.look = answered;
        }
        self.announced = view;
        // Every write names the version that it goes over, so that none which was sent before comes true any more.
        self.doubtful.clear();
        self.renewed = Some(sent);
        self.own = Own::Present(version);
    }

    /// Takes in that a list failed.
    pub fn not_listed(&mut self, now: Instant) {
        self.look = now + self.terms.hurry();
    }

    /// Takes in that a write failed, or that nobody knows: it may even be carried out later.
    pub fn not_written(&mut self, now: Instant) {
        self.own = Own::Unknown;
        self.look = now + self.terms.hurry();
    }

    fn doubt(&mut self, view: Members) {
        if !self.doubtful.contains(&view) {
            self.doubtful.push(view);
        }
    }

    /// When what is ours ends unless the Lease is renewed; `None` when nothing is.
    pub fn deadline(&self) -> Option<Instant> {
        self.renewed.map(|sent| sent + self.terms.deadline())
    }
}
