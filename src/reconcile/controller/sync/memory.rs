//! What the controller remembers of a Sync that it looks after. All of it may be lost at any time.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use tokio::sync::Mutex;
use tokio::time::Instant;

use super::super::backoff::Backoff;
use super::super::fights::Fights;
use super::super::slot::Slot;
use super::live::LiveSync;
use super::source::Source;
use crate::api::ObjectId;
use crate::load::Readings;
use crate::plan::{Live, is_as_applied};

/// What the controller remembers of a Sync.
#[derive(Default)]
pub struct Entry {
    /// For the one run at a time.
    pub memory: Mutex<Memory>,
    /// Its source, while it is followed.
    pub source: Slot<Source>,
    /// What the last run applied.
    pub applied: Slot<Applied>,
    /// Whether a member has changed that the last run did not apply: the run in hand may have, a moment before.
    pub missed: AtomicBool,
    /// The Sync as it was when it was last looked at.
    pub last: Slot<LiveSync>,
}

/// What one run leaves for the next.
#[derive(Default)]
pub struct Memory {
    /// What the files of its source held, so that only those that change are parsed.
    pub readings: Readings,
    /// Delays between failed runs.
    pub backoff: Backoff,
    /// Revision of the source and generation of the Sync that were tried last.
    tried: Option<(String, Option<i64>)>,
    /// What is changed again after each repair.
    pub fights: Fights,
    /// Fields that a webhook rewrites, for each object with the digest that was applied.
    pub rewritten: BTreeMap<ObjectId, (String, String)>,
    /// Since when it is being deleted.
    pub going_since: Option<Instant>,
}

impl Memory {
    /// Notes what is tried now. What others have failed with is no reason to let something new wait.
    pub fn tries(&mut self, revision: &str, generation: Option<i64>) {
        let known = self.tried.as_ref();
        if known.is_none_or(|(r, g)| (r.as_str(), *g) != (revision, generation)) {
            self.backoff.reset();
            self.tried = Some((revision.to_owned(), generation));
        }
    }
}

/// What the last run applied, or found as applied.
#[derive(Debug, Default)]
pub struct Applied {
    /// The apply set's id.
    pub applyset: String,
    /// Each object's body as JSON, and its digest. As a `Value` a small ConfigMap takes 4 KiB, and few are looked at again.
    pub objects: BTreeMap<ObjectId, (Box<str>, String)>,
}

impl Applied {
    /// Tells whether a run has something to do because an object is now so, or gone.
    ///
    /// A changed generation says that something was written that metadata may not show: v1.20 notes no owner for what goes
    /// through the scale subresource.
    pub fn is_disturbed(&self, id: &ObjectId, before: Option<&Live>, after: Option<&Live>) -> bool {
        let Some((body, digest)) = self.objects.get(id) else {
            return false;
        };
        let (Some(after), Ok(object)) = (after, serde_json::from_str::<Value>(body)) else {
            return true;
        };
        let rescaled = object.pointer("/spec/replicas").is_some()
            && before.is_some_and(|before| before.generation != after.generation);
        rescaled || !is_as_applied(&object, digest, after, &self.applyset)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_new_does_not_wait_for_what_has_failed() {
        const SHORT: Duration = Duration::from_secs(2);
        let mut memory = Memory::default();
        let fail = |memory: &mut Memory, revision, generation| {
            memory.tries(revision, generation);
            memory.backoff.next()
        };
        assert!(fail(&mut memory, "a", Some(1)) <= SHORT);
        assert!(fail(&mut memory, "a", Some(1)) >= SHORT);
        assert!(fail(&mut memory, "a", Some(1)) > SHORT);
        assert!(fail(&mut memory, "b", Some(1)) <= SHORT);
        assert!(fail(&mut memory, "b", Some(1)) >= SHORT);
        assert!(fail(&mut memory, "b", Some(2)) <= SHORT);
    }
}
