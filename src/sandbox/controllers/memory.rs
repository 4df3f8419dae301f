//! What the controllers remember.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde_json::Value;

use super::object::{beside, controller, items, text};
use super::watch::Work;
use crate::store::Key;

/// What the controllers remember.
#[derive(Debug, Default)]
pub struct Controllers {
    /// The version up to which changes were looked at; `None` before the first look.
    pub(super) seen: Option<u64>,
    /// Objects by the uid of each of their owners.
    pub(super) dependents: HashMap<String, BTreeSet<Key>>,
    /// Pods and ReplicaSets that nobody controls, which somebody may take over.
    pub(super) alone: BTreeSet<Key>,
    /// What is to be looked at now, by controller.
    round: BTreeSet<Work>,
    /// What is to be looked at after that, so that none waits for ever for another.
    next_round: BTreeSet<Work>,
    /// What is to be looked at though nothing changes, and from when on, in seconds since 1970.
    pub(super) later: BTreeMap<Work, i64>,
    /// How many addresses were given to pods.
    pub(super) addresses: u32,
    /// The certificate that clients are to trust, as PEM; empty where there is none.
    pub root_certificate: String,
}

impl Controllers {
    /// Whether there is something to be looked at later, though nothing changes.
    pub fn wait(&self) -> bool {
        !self.later.is_empty()
    }

    /// Queues something to be looked at.
    pub(super) fn queue(&mut self, work: Work) {
        if !self.round.contains(&work) {
            self.next_round.insert(work);
        }
    }

    /// What is to be looked at next.
    pub(super) fn next(&mut self) -> Option<Work> {
        if self.round.is_empty() {
            std::mem::swap(&mut self.round, &mut self.next_round);
        }
        self.round.pop_first()
    }

    /// Has a controller look at something at a time, in seconds since 1970; `None` takes that back.
    pub(super) fn remind(&mut self, work: Work, time: Option<i64>) {
        // What is looked at over and over must not keep others from it.
        let next = jiff::Timestamp::now().as_second() + 1;
        match time {
            Some(time) => self.later.insert(work, time.max(next)),
            None => self.later.remove(&work),
        };
    }

    /// The objects that name an owner.
    pub(super) fn dependents(&self, uid: &str) -> Vec<Key> {
        let dependents = self.dependents.get(uid);
        dependents.into_iter().flatten().cloned().collect()
    }

    /// The objects of a kind in a namespace that nobody controls.
    pub(super) fn alone(&self, of: &Key, resource: &str) -> impl Iterator<Item = &Key> {
        let first = beside(of, resource, "");
        let place = first.clone();
        self.alone.range(first..).take_while(move |key| {
            key.resource == place.resource && key.namespace == place.namespace
        })
    }

    /// Keeps up with whether somebody controls an object.
    pub(super) fn find_alone(&mut self, key: &Key, after: Option<&Value>) {
        if after.is_some_and(|object| controller(object).is_none()) {
            self.alone.insert(key.clone());
        } else {
            self.alone.remove(key);
        }
    }

    /// Keeps up with what an object names as its owners.
    pub(super) fn follow(&mut self, key: &Key, before: Option<&Value>, after: Option<&Value>) {
        for owner in before.into_iter().flat_map(owners) {
            if let Some(dependents) = self.dependents.get_mut(owner) {
                dependents.remove(key);
                if dependents.is_empty() {
                    self.dependents.remove(owner);
                }
            }
        }
        for owner in after.into_iter().flat_map(owners) {
            let dependents = self.dependents.entry(owner.to_owned()).or_default();
            dependents.insert(key.clone());
        }
    }
}

fn owners(object: &Value) -> impl Iterator<Item = &str> {
    items(object, "/metadata/ownerReferences").map(|owner| text(owner, "/uid"))
}
