//! With `--wait`, an object is applied only when what it stands on is healthy: earlier sync waves, and its `depends-on`.

use std::collections::{BTreeSet, HashMap};

use super::Outcome;
use super::wait::{Unhealthy, Waiting, wait_until_current, wait_until_gone};
use crate::api::ObjectId;
use crate::cluster::{Cluster, Kinds};
use crate::plan::{Action, Body, Plan, Step};

/// What has been waited for so far.
pub struct Gate<'a> {
    plan: &'a Plan,
    /// How long to wait; without it nothing is waited for.
    waiting: Option<&'a Waiting>,
    seen: BTreeSet<&'a ObjectId>,
    unhealthy: Vec<(i32, Unhealthy)>,
    /// What is still being deleted when there is no more time to wait.
    lingering: Option<&'a ObjectId>,
}

impl<'a> Gate<'a> {
    /// Makes the gate of a plan.
    pub fn new(plan: &'a Plan, waiting: Option<&'a Waiting>) -> Self {
        Self {
            plan,
            waiting,
            seen: BTreeSet::new(),
            unhealthy: Vec::new(),
            lingering: None,
        }
    }

    /// Waits for what the steps of a batch stand on.
    pub async fn wait_for(
        &mut self,
        batch: usize,
        cluster: &Cluster,
        kinds: &Kinds,
        results: &HashMap<&ObjectId, Outcome>,
    ) {
        let Some(waiting) = self.waiting else {
            return;
        };
        let now: Vec<&Step> = self
            .plan
            .steps
            .iter()
            .filter(|s| s.batch == batch)
            .collect();
        let needed: BTreeSet<&ObjectId> = now.iter().flat_map(|step| &step.needs).collect();
        let wave = now.iter().map(|step| step.wave).min().unwrap_or(i32::MIN);
        let base: Vec<&Step> = self
            .plan
            .steps
            .iter()
            .filter(|s| matches!(s.body, Body::Apply { .. }) && s.batch < batch)
            .filter(|s| s.wave < wave || needed.contains(&s.id))
            .filter(|s| results.get(&s.id).is_some_and(|outcome| outcome.is_good()))
            .filter(|s| self.seen.insert(&s.id))
            .collect();
        for unhealthy in wait_until_current(cluster, kinds, &base, waiting).await {
            let step = base.iter().find(|step| step.id == unhealthy.id);
            self.unhealthy
                .push((step.map_or(0, |step| step.wave), unhealthy));
        }
    }

    /// Waits until objects that were deleted are gone: a controller must not go before what it has to clean up.
    pub async fn wait_for_end_of(
        &mut self,
        deleted: Vec<&'a Step>,
        cluster: &Cluster,
        kinds: &Kinds,
    ) {
        if let Some(waiting) = self.waiting {
            let lingering = wait_until_gone(cluster, kinds, deleted, waiting).await;
            self.lingering = self.lingering.or(lingering);
        }
    }

    /// Says what keeps a step from being done, if anything.
    pub fn blocks(&self, step: &Step) -> Option<String> {
        if let Some(id) = self.lingering.filter(|_| step.action == Action::Delete) {
            return Some(format!("it goes after {id}, which is still being deleted"));
        }
        let stands_on = |(wave, unhealthy): &&(i32, Unhealthy)| {
            *wave < step.wave || step.needs.contains(&unhealthy.id)
        };
        let (_, Unhealthy { id, health }) = self.unhealthy.iter().find(stands_on)?;
        Some(format!("it stands on {id}, which is not healthy: {health}"))
    }
}
