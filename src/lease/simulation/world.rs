//! Time, network and replicas.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use super::super::machine::{Action, LEADER, Machine, Write};
use super::super::members::Members;
use super::super::ownership::Ownership;
use super::super::peers::Seen;
use super::super::shards::{Permit, Shards};
use super::super::terms::Terms;
use super::store::Store;
use crate::plan::Expected;

const KEYS: [&str; 5] = [
    LEADER,
    "sync/a/it",
    "sync/b/it",
    "target/a/pet",
    "target/b/pet",
];

/// What goes wrong, or right; with the number of a replica and milliseconds.
#[derive(Clone, Debug)]
pub enum Disturbance {
    Join,
    Crash(usize),
    Release(usize),
    /// The whole process stands still.
    Pause(usize, u64),
    /// Requests are lost, or late; no answer comes.
    Cut(usize, u64),
    DeleteLease(usize),
}

enum Request {
    List,
    Write(Write),
    Delete(Seen),
    Release(Expected),
}

enum Answer {
    Listed(Vec<Seen>),
    Wrote(Members, Expected),
    NotListed,
    NotWritten,
}

enum Event {
    /// Time to look what is to do. Out of date when the number is not that of the replica's last step.
    Wake(usize, u64),
    /// A request reaches the server.
    Arrive(usize, u64, u64, Request),
    /// The answer to what was sent then.
    Answer(usize, u64, u64, Answer),
    /// A replica wants to write for some key.
    Work(usize),
    PermitEnds(usize, u64),
}

struct InHand {
    number: u64,
    key: &'static str,
    _permit: Permit,
    /// Whether the replica's time ran out meanwhile: then nothing is promised any more.
    overrun: bool,
}

struct Replica {
    identity: String,
    machine: Machine,
    shards: Shards,
    in_hand: Vec<InHand>,
    /// When what is its own ends.
    until: Option<Instant>,
    running: bool,
    leaving: bool,
    step: u64,
    paused_until: u64,
    cut_until: u64,
    /// Of how many messages one is lost, one much too late, and one slow.
    network: u64,
}

pub struct World {
    begin: Instant,
    now: u64,
    events: BTreeMap<(u64, u64), Event>,
    store: Store,
    replicas: Vec<Replica>,
    random: u64,
    count: u64,
    /// Whether messages get through, and soon.
    reliable: bool,
    /// Whether there is nothing to do.
    idle: bool,
    /// Nobody joins before: see [`Disturbance::DeleteLease`].
    no_joins_until: u64,
}

impl World {
    pub fn new(seed: u64, reliable: bool) -> Self {
        Self {
            begin: Instant::now(),
            now: 0,
            events: BTreeMap::new(),
            store: Store::default(),
            replicas: Vec::new(),
            random: seed,
            count: 0,
            reliable,
            idle: false,
            no_joins_until: 0,
        }
    }

    pub fn run_for(&mut self, milliseconds: u64) {
        let end = self.now + milliseconds;
        while let Some(entry) = self.events.first_entry() {
            if entry.key().0 > end {
                break;
            }
            let ((at, _), event) = entry.remove_entry();
            self.now = at;
            self.note_overruns();
            self.handle(event);
        }
        self.now = end;
        self.note_overruns();
    }

    pub fn disturb(&mut self, disturbance: Disturbance) {
        let running: Vec<usize> = (0..self.replicas.len())
            .filter(|&i| self.replicas[i].running && !self.replicas[i].leaving)
            .collect();
        let which = |number: usize| running.get(number % running.len().max(1)).copied();
        match disturbance {
            Disturbance::Join => self.join(running.len()),
            Disturbance::Crash(number) => {
                if let Some(i) = which(number) {
                    self.replicas[i].running = false;
                    self.replicas[i].in_hand.clear();
                }
            }
            Disturbance::Release(number) => {
                if let Some(i) = which(number) {
                    self.replicas[i].leaving = true;
                    let step = self.replicas[i].step;
                    self.add(0, Event::Wake(i, step));
                }
            }
            Disturbance::Pause(number, time) => {
                if let Some(i) = which(number) {
                    self.replicas[i].paused_until = self.now + time;
                }
            }
            Disturbance::Cut(number, time) => {
                if let Some(i) = which(number) {
                    self.replicas[i].cut_until = self.now + time;
                }
            }
            Disturbance::DeleteLease(number) => {
                if let Some(i) = which(number) {
                    self.delete_lease(i, &running);
                }
            }
        }
    }

    fn join(&mut self, running: usize) {
        if running >= 5 || self.now < self.no_joins_until {
            return;
        }
        let i = self.replicas.len();
        let identity = format!("replica-{i}");
        let network = [6, 20, 100][usize::try_from(self.dice(3)).unwrap()];
        self.replicas.push(Replica {
            machine: Machine::new(identity.clone(), terms(), self.instant()),
            identity,
            shards: Shards::none(),
            in_hand: Vec::new(),
            until: None,
            running: true,
            leaving: false,
            step: 0,
            paused_until: 0,
            cut_until: 0,
            network,
        });
        self.add(0, Event::Wake(i, 0));
        self.add(0, Event::Work(i));
    }

    /// Whoever comes just after a Lease was deleted by hand cannot know of its replica, nor can who thought it dead.
    fn delete_lease(&mut self, i: usize, running: &[usize]) {
        let identity = self.replicas[i].identity.clone();
        let knows = |j: &usize| {
            let members = self.replicas[*j].machine.members();
            members.iter().any(|member| member == identity)
        };
        if running.iter().all(knows) {
            self.store.delete(&identity, None);
            self.no_joins_until = self.now + 15_000;
        }
    }

    /// Ends all that disturbs, and waits until every late request is through and the dead are forgotten.
    pub fn calm_down(&mut self) {
        self.reliable = true;
        self.idle = true;
        for replica in &mut self.replicas {
            replica.paused_until = 0;
            replica.cut_until = 0;
        }
        self.run_for(300_000);
    }

    // --- what must be true --------------------------------------------------------------------------------------------

    fn no_key_has_two_owners(&self) {
        let now = self.instant();
        let running = || self.replicas.iter().filter(|replica| replica.running);
        for key in KEYS {
            let owners: Vec<&str> = running()
                .filter(|replica| replica.shards.owns_at(key, now))
                .map(|replica| replica.identity.as_str())
                .collect();
            assert!(owners.len() <= 1, "{key} at {}: {owners:?}", self.now);
        }
    }

    pub fn each_key_has_one_owner(&self) {
        let now = self.instant();
        let running = self.replicas.iter().filter(|replica| replica.running);
        let running: Vec<&Replica> = running.collect();
        for key in KEYS {
            let owners = running.iter().filter(|r| r.shards.owns_at(key, now));
            assert_eq!(owners.count(), running.len().min(1), "{key}");
        }
    }

    pub fn only_leases_of_the_living_are_left(&self) {
        let living = self.replicas.iter().filter(|replica| replica.running);
        let living: BTreeSet<&str> = living.map(|replica| replica.identity.as_str()).collect();
        let leases = self.store.list();
        let leases: BTreeSet<&str> = leases.iter().map(|seen| seen.identity.as_str()).collect();
        assert!(
            living.is_empty() || living == leases,
            "{living:?} {leases:?}"
        );
    }

    /// How many replicas own anything.
    pub fn owners(&self) -> usize {
        let now = self.instant();
        let owns = |replica: &&Replica| {
            replica.running && (0..99).any(|i| replica.shards.owns_at(&i.to_string(), now))
        };
        self.replicas.iter().filter(owns).count()
    }

    fn note_overruns(&mut self) {
        let now = self.instant();
        for replica in &mut self.replicas {
            if replica.until.is_none_or(|until| until <= now) {
                for permit in &mut replica.in_hand {
                    permit.overrun = true;
                }
            }
        }
    }

    // --- what happens -------------------------------------------------------------------------------------------------

    fn handle(&mut self, event: Event) {
        match event {
            Event::Wake(i, step) if self.replicas[i].step == step => {
                match self.paused(i) {
                    0 => self.step(i),
                    pause => self.add(pause, Event::Wake(i, step)),
                };
            }
            Event::Answer(i, step, sent, answer) if self.replicas[i].step == step => {
                match self.paused(i) {
                    0 => self.answered(i, sent, answer),
                    pause => self.add(pause, Event::Answer(i, step, sent, answer)),
                };
            }
            Event::Wake(..) | Event::Answer(..) => {}
            Event::Arrive(i, step, sent, request) => self.arrive(i, step, sent, request),
            Event::Work(i) => self.work(i),
            Event::PermitEnds(i, number) => {
                self.replicas[i]
                    .in_hand
                    .retain(|permit| permit.number != number);
                // As the keeper is woken up.
                let step = self.replicas[i].step;
                if self.replicas[i].running {
                    self.add(0, Event::Wake(i, step));
                }
            }
        }
    }

    fn step(&mut self, i: usize) {
        let now = self.instant();
        let replica = &mut self.replicas[i];
        if !replica.running {
            return;
        }
        if replica.leaving {
            replica
                .shards
                .set(Ownership::nothing(), &Members::default());
            if replica.in_hand.is_empty() {
                replica.running = false;
                if let Some(version) = replica.machine.lease() {
                    let request = Request::Release(version.clone());
                    self.send(i, request);
                }
            }
            return;
        }
        let Replica {
            machine,
            shards,
            identity,
            ..
        } = replica;
        shards.set(machine.ownership(now), machine.members());
        let action = machine.next(now, |view| shards.are_left_to(identity, view));
        // Time only takes keys away.
        self.no_key_has_two_owners();
        match action {
            Action::List => self.send(i, Request::List),
            Action::Write(write) => self.send(i, Request::Write(write)),
            Action::Delete(seen) => {
                self.send(i, Request::Delete(seen));
                let step = self.replicas[i].step;
                self.add(1, Event::Wake(i, step));
            }
            Action::Wait(until) => {
                let pause = until.duration_since(now).as_millis();
                assert!(until > now, "a replica waits for what is past");
                let step = self.next_step(i);
                self.add(u64::try_from(pause).unwrap().max(1), Event::Wake(i, step));
            }
        }
    }

    /// Sends a request, which arrives soon, late or never; in the last two cases the replica gives up waiting.
    fn send(&mut self, i: usize, request: Request) {
        let step = self.next_step(i);
        let patience = milliseconds(terms().interval());
        let failure = match request {
            Request::List => Some(Answer::NotListed),
            Request::Write(_) => Some(Answer::NotWritten),
            Request::Delete(_) | Request::Release(_) => None,
        };
        if let Some(failure) = failure {
            self.add(patience, Event::Answer(i, step, self.now, failure));
        }
        if let Some(delay) = self.delay(i) {
            self.add(delay, Event::Arrive(i, step, self.now, request));
        }
    }

    fn arrive(&mut self, i: usize, step: u64, sent: u64, request: Request) {
        let identity = self.replicas[i].identity.clone();
        let answer = match request {
            Request::List => Answer::Listed(self.store.list()),
            Request::Write(write) => match self.store.write(&identity, &write, terms()) {
                Some(version) => Answer::Wrote(write.view, version),
                None => Answer::NotWritten,
            },
            Request::Delete(seen) => return self.store.delete(&seen.identity, Some(&seen.version)),
            Request::Release(version) => return self.store.release(&identity, &version, terms()),
        };
        if let Some(delay) = self.delay(i) {
            self.add(delay, Event::Answer(i, step, sent, answer));
        }
    }

    fn answered(&mut self, i: usize, sent: u64, answer: Answer) {
        self.next_step(i);
        let (sent, now) = (self.at(sent), self.instant());
        let replica = &mut self.replicas[i];
        match answer {
            Answer::Listed(leases) => replica.machine.listed(sent, now, leases),
            Answer::Wrote(view, version) => replica.machine.wrote(sent, now, view, version),
            Answer::NotListed => replica.machine.not_listed(now),
            Answer::NotWritten => replica.machine.not_written(now),
        }
        replica.until = replica.machine.deadline().or(replica.until);
        self.step(i);
    }

    /// Takes a permit for some key, if there is one, and holds it for a while.
    fn work(&mut self, i: usize) {
        if !self.replicas[i].running || self.idle {
            return;
        }
        let key = KEYS[usize::try_from(self.dice(KEYS.len() as u64)).unwrap()];
        let now = self.instant();
        let permit = match self.paused(i) {
            0 => self.replicas[i].shards.permit_at(key, now),
            _ => None,
        };
        if let Some(permit) = permit {
            for (j, other) in self.replicas.iter().enumerate() {
                let clash = other.in_hand.iter().any(|it| it.key == key && !it.overrun);
                assert!(i == j || !clash, "{key} at {}: {i} and {j}", self.now);
            }
            self.count += 1;
            let number = self.count;
            self.replicas[i].in_hand.push(InHand {
                number,
                key,
                _permit: permit,
                overrun: false,
            });
            let slow = !self.reliable && self.dice(8) == 0;
            let held = self.dice(if slow { 20_000 } else { 2_000 });
            self.add(held, Event::PermitEnds(i, number));
        }
        let pause = 100 + self.dice(400);
        self.add(pause, Event::Work(i));
    }

    // --- time and chance ----------------------------------------------------------------------------------------------

    fn add(&mut self, pause: u64, event: Event) {
        self.count += 1;
        self.events.insert((self.now + pause, self.count), event);
    }

    fn next_step(&mut self, i: usize) -> u64 {
        self.replicas[i].step += 1;
        self.replicas[i].step
    }

    fn paused(&self, i: usize) -> u64 {
        self.replicas[i].paused_until.saturating_sub(self.now)
    }

    /// How long a message takes, if it gets through.
    fn delay(&mut self, i: usize) -> Option<u64> {
        if self.reliable {
            return Some(1 + self.dice(20));
        }
        let replica = &self.replicas[i];
        let cut = self.now < replica.cut_until;
        match self.dice(if cut { 3 } else { replica.network }) {
            0 => None,
            1 => Some(self.dice(30_000)),
            2 => Some(self.dice(4_000)),
            _ => Some(1 + self.dice(20)),
        }
    }

    /// A number below a limit (splitmix64).
    fn dice(&mut self, limit: u64) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.random;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }

    fn instant(&self) -> Instant {
        self.at(self.now)
    }

    fn at(&self, milliseconds: u64) -> Instant {
        self.begin + Duration::from_millis(milliseconds)
    }
}

fn terms() -> Terms {
    Terms::from_seconds(15)
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap()
}
