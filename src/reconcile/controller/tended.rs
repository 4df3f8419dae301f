//! What the controller remembers of Targets: which have failed, how their rollouts are, and what of theirs is fought over.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

use super::backoff::Backoff;
use super::fights::Fights;
use super::name::Name;
use crate::api::ObjectId;
use crate::reconcile::Insight;

/// What Targets have made has no manifest that could be another one.
const DIGEST: &str = "";

/// What the controller remembers of Targets.
#[derive(Default)]
pub struct Tended(Mutex<Memory>);

#[derive(Default)]
struct Memory {
    failed: HashMap<Name, Backoff>,
    rollouts: HashMap<Name, Insight>,
    fights: Fights,
}

impl Tended {
    /// Notes that a Target is as it is to be, or not ours.
    pub fn forget_failures(&self, name: &Name) {
        self.memory().failed.remove(name);
    }

    /// Notes that a Target is not as it is to be, and says when to try again.
    pub fn try_again(&self, name: &Name) -> Duration {
        let mut memory = self.memory();
        memory.failed.entry(name.clone()).or_default().next()
    }

    /// Gives what was found out of a Target's rollout.
    pub fn insight(&self, name: &Name) -> Insight {
        let memory = self.memory();
        memory.rollouts.get(name).cloned().unwrap_or_default()
    }

    /// Notes what was found out of a Target's rollout.
    pub fn keep_insight(&self, name: &Name, insight: Insight) {
        let mut memory = self.memory();
        if insight == Insight::default() {
            memory.rollouts.remove(name);
        } else {
            memory.rollouts.insert(name.clone(), insight);
        }
    }

    /// Forgets what was found out of a Target's rollout.
    pub fn forget_rollout(&self, name: &Name) {
        self.memory().rollouts.remove(name);
    }

    /// Says when to look at a Target again although nothing has changed: when the repair of what is its own gets a chance again, or
    /// when its pods may say more of why they do not start.
    pub fn next_look(&self, target: &Name, its: &[ObjectId]) -> Option<Duration> {
        let rollout = self.insight(target).next_look();
        rollout.into_iter().chain(self.next_repair(its)).min()
    }

    /// Says why the drift of a Service, or of a Deployment's agent, is not repaired now, if so.
    pub fn holds(&self, object: &ObjectId) -> Option<String> {
        let held = self.memory().fights.holds(object, DIGEST, Instant::now());
        held.map(str::to_owned)
    }

    /// Notes that it was repaired.
    pub fn note_repair(&self, object: &ObjectId) {
        let mut memory = self.memory();
        memory
            .fights
            .note(object, DIGEST, true, false, Instant::now());
    }

    /// Says when the repair of a Target's Service or Deployment, if it is held, gets a chance again.
    fn next_repair(&self, of: &[ObjectId]) -> Option<Duration> {
        let is_its = |id: &ObjectId| of.contains(id);
        self.memory().fights.next_repair(is_its, Instant::now())
    }

    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
