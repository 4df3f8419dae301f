//! Whether the process works: what its parts say of themselves, and what `/healthz` and `/readyz` make of it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What is wrong at the moment. Clones share it.
#[derive(Clone, Debug, Default)]
pub struct Health(Arc<Mutex<Troubles>>);

#[derive(Debug, Default)]
struct Troubles {
    /// Loops that should run for as long as the process does, and do not.
    ended: BTreeSet<&'static str>,
    /// What is waited for, and why.
    shut: BTreeMap<&'static str, String>,
}

impl Health {
    /// Notes that a loop runs, until what is returned is dropped: at its end, however it came about, a panic included.
    #[must_use = "the loop counts as ended once this is dropped"]
    pub fn running(&self, name: &'static str) -> Running {
        self.troubles().ended.remove(name);
        Running {
            name,
            health: self.clone(),
        }
    }

    /// Adds something without which the process is not ready. It is shut at first.
    pub fn gate(&self, name: &'static str) -> Gate {
        let gate = Gate {
            name,
            health: self.clone(),
        };
        gate.shut("starting");
        gate
    }

    /// Why the process is better started again; empty when it is alive.
    pub fn not_alive(&self) -> Vec<String> {
        let troubles = self.troubles();
        let ended = troubles.ended.iter();
        ended.map(|name| format!("{name}: has ended")).collect()
    }

    /// Why the process is of no use yet, or no more; empty when it is ready.
    pub fn not_ready(&self) -> Vec<String> {
        let mut reasons = self.not_alive();
        let troubles = self.troubles();
        let shut = troubles.shut.iter();
        reasons.extend(shut.map(|(name, reason)| format!("{name}: {reason}")));
        reasons
    }

    fn troubles(&self) -> MutexGuard<'_, Troubles> {
        // No change leaves them half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A loop that runs.
#[derive(Debug)]
pub struct Running {
    name: &'static str,
    health: Health,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.health.troubles().ended.insert(self.name);
    }
}

/// Something without which the process is not ready: a lease, synced watches.
#[derive(Clone, Debug)]
pub struct Gate {
    name: &'static str,
    health: Health,
}

impl Gate {
    /// Says that it is there.
    pub fn open(&self) {
        self.health.troubles().shut.remove(self.name);
    }

    /// Says why it is not there, in one line.
    pub fn shut(&self, reason: impl Into<String>) {
        let reason = reason.into();
        self.health.troubles().shut.insert(self.name, reason);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loop_that_ends_is_told_until_it_runs_again() {
        let health = Health::default();
        let running = health.running("reconcile");
        assert_eq!(health.not_alive(), Vec::<String>::new());
        drop(running);
        assert_eq!(health.not_alive(), ["reconcile: has ended"]);
        assert_eq!(health.not_ready(), ["reconcile: has ended"]);
        let _running = health.running("reconcile");
        assert_eq!(health.not_alive(), Vec::<String>::new());
    }

    #[test]
    fn a_panic_ends_a_loop_too() {
        let health = Health::default();
        let inside = health.clone();
        let ended = std::thread::spawn(move || {
            let _running = inside.running("watch");
            panic!("as a test");
        });
        ended.join().unwrap_err();
        assert_eq!(health.not_alive(), ["watch: has ended"]);
    }

    #[test]
    fn ready_is_when_every_gate_is_open() {
        let health = Health::default();
        let (lease, watches) = (health.gate("lease"), health.gate("watches"));
        assert_eq!(health.not_ready(), ["lease: starting", "watches: starting"]);
        lease.shut("held by covergence-1");
        watches.open();
        assert_eq!(health.not_ready(), ["lease: held by covergence-1"]);
        lease.open();
        assert_eq!(health.not_ready(), Vec::<String>::new());
        watches.shut("3 kinds are listed again");
        assert_eq!(health.not_ready(), ["watches: 3 kinds are listed again"]);
        assert_eq!(health.not_alive(), Vec::<String>::new());
    }
}
