//! Which keys this replica may write for, for the rest of the controller.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use tokio::sync::{Notify, watch};

use super::members::Members;
use super::now;
use super::ownership::Ownership;

/// Which keys this replica may write for. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Shards(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changes: watch::Sender<u64>,
    /// A permit for a key that is no longer ours has ended.
    ended: Notify,
}

#[derive(Debug)]
struct State {
    ownership: Ownership,
    members: Vec<String>,
    /// How many permits there are for a key.
    in_hand: BTreeMap<String, usize>,
}

/// Held while one write is in flight: nobody else gets the key before it is dropped, unless our Lease has run out meanwhile.
#[derive(Debug)]
#[must_use = "the permit ends when it is dropped"]
pub struct Permit {
    shared: Arc<Shared>,
    key: String,
}

impl Shards {
    /// Owns every key for ever: for a controller without Leases.
    pub fn alone() -> Self {
        Self::with(Ownership::everything())
    }

    /// Owns no key, until told otherwise.
    pub(super) fn none() -> Self {
        Self::with(Ownership::nothing())
    }

    fn with(ownership: Ownership) -> Self {
        Self(Arc::new(Shared {
            state: Mutex::new(State {
                ownership,
                members: Vec::new(),
                in_hand: BTreeMap::new(),
            }),
            changes: watch::Sender::new(0),
            ended: Notify::new(),
        }))
    }

    /// Tells whether a key is ours right now, by the monotonic clock.
    pub fn owns(&self, key: &str) -> bool {
        self.owns_at(key, now())
    }

    /// Gives a permit to write for a key; `None` when it is not ours, or no longer.
    pub fn permit(&self, key: &str) -> Option<Permit> {
        self.permit_at(key, now())
    }

    /// Counts up whenever a key may have been gained or lost.
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.0.changes.subscribe()
    }

    /// The replicas that are alive as far as we know, sorted, with ourselves; none without Leases.
    pub fn members(&self) -> Vec<String> {
        self.0.state().members.clone()
    }

    pub(super) fn owns_at(&self, key: &str, now: Instant) -> bool {
        self.0.state().ownership.owns(key, now)
    }

    pub(super) fn permit_at(&self, key: &str, now: Instant) -> Option<Permit> {
        let mut state = self.0.state();
        if !state.ownership.owns(key, now) {
            return None;
        }
        *state.in_hand.entry(key.to_owned()).or_default() += 1;
        Some(Permit {
            shared: Arc::clone(&self.0),
            key: key.to_owned(),
        })
    }

    /// Puts an ownership in force: from here on, permits are given by it alone.
    pub(super) fn set(&self, ownership: Ownership, members: &Members) {
        let mut state = self.0.state();
        // Who was refused a permit since the old one ended waits for a change.
        let changed = !ownership.allots_as(&state.ownership) || state.ownership.is_over(now());
        state.ownership = ownership;
        if !state.members.iter().map(String::as_str).eq(members.iter()) {
            state.members = members.iter().map(str::to_owned).collect();
        }
        drop(state);
        if changed {
            self.0.changes.send_modify(|count| *count += 1);
        }
    }

    /// Tells whether members leave all keys to one of them for which permits are in hand.
    pub(super) fn are_left_to(&self, identity: &str, members: &Members) -> bool {
        let state = self.0.state();
        let mut keys = state.in_hand.keys();
        keys.all(|key| members.owner(key) == Some(identity))
    }

    /// Waits until a permit for a key that is no longer ours has ended.
    pub(super) async fn permit_ended(&self) {
        self.0.ended.notified().await;
    }

    /// Waits until no permit is in hand, once no key is ours.
    pub(super) async fn idle(&self) {
        while !self.0.state().in_hand.is_empty() {
            self.permit_ended().await;
        }
    }
}

impl Shared {
    /// Nothing that panics is done under the lock, so that what it guards is whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        if let Some(count) = state.in_hand.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                state.in_hand.remove(&self.key);
            }
        }
        // The keeper need not wake up for every write.
        if !state.ownership.allots(&self.key) {
            self.shared.ended.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::advance;

    use super::*;

    fn members(names: &str) -> Members {
        Members::parse(names)
    }

    fn shared(view: &str, seconds: u64) -> Ownership {
        Ownership::shared("a", [&members(view)], now() + Duration::from_secs(seconds))
    }

    #[test]
    fn who_is_alone_owns_everything() {
        let shards = Shards::alone();
        assert!(shards.owns("sync/shop/it") && shards.permit("sync/shop/it").is_some());
        assert!(shards.members().is_empty());
    }

    #[tokio::test(start_paused = true)]
    async fn no_permit_is_given_after_the_time_whatever_the_keeper_does() {
        let shards = Shards::none();
        assert!(shards.permit("key").is_none());
        shards.set(shared("a", 10), &members("a"));
        assert!(shards.permit("key").is_some());
        advance(Duration::from_secs(10)).await;
        assert!(shards.permit("key").is_none() && !shards.owns("key"));
    }

    #[tokio::test(start_paused = true)]
    async fn only_a_change_of_ownership_is_told() {
        let shards = Shards::none();
        let mut changes = shards.changes();
        let told = |changes: &mut watch::Receiver<u64>| {
            let changed = changes.has_changed().unwrap();
            changes.mark_unchanged();
            changed
        };
        shards.set(shared("a", 10), &members("a"));
        assert!(told(&mut changes));
        // A renewal.
        shards.set(shared("a", 20), &members("a"));
        assert!(!told(&mut changes));
        // A renewal that comes too late: permits were refused meanwhile.
        advance(Duration::from_secs(20)).await;
        shards.set(shared("a", 10), &members("a"));
        assert!(told(&mut changes));
        shards.set(shared("a,b", 20), &members("a,b"));
        assert!(told(&mut changes));
        assert_eq!(shards.members(), ["a", "b"]);
        shards.set(Ownership::nothing(), &members("a,b"));
        assert!(told(&mut changes));
    }

    #[tokio::test(start_paused = true)]
    async fn writes_in_hand_are_waited_for() {
        let shards = Shards::none();
        shards.set(shared("a", 10), &members("a"));
        let permits = [shards.permit("x"), shards.permit("x"), shards.permit("y")];
        assert!(shards.are_left_to("a", &members("a")));
        assert!(!shards.are_left_to("a", &members("b")));
        shards.set(Ownership::nothing(), &Members::default());
        let waiting = tokio::spawn({
            let shards = shards.clone();
            async move { shards.idle().await }
        });
        for permit in permits {
            tokio::task::yield_now().await;
            assert!(!waiting.is_finished());
            drop(permit);
        }
        waiting.await.unwrap();
        assert!(shards.are_left_to("a", &members("b")));
    }
}
