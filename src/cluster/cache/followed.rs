//! One watch: what is known of its objects, and who waits for that.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::Instant;

use super::changes::Change;
use super::hub::Hub;
use super::keeper::Keeper;
use super::kept::{Kept, Written};
use super::store::{News, Store};
use super::topic::Topic;
use super::{Watches, locked};
use crate::api::{GroupKind, ObjectId};
use crate::cluster::ClusterError;
use crate::cluster::read::Listed;
use crate::cluster::send::ANSWER_WITHIN;
use crate::cluster::watch::Sink;

/// What was known when a watch broke is good for as long as an answer to a request may take; after that, reads fail as
/// they would without a watch.
const STALE_AFTER: Duration = ANSWER_WITHIN;

/// How far a watch has come.
#[derive(Clone, Debug)]
enum State {
    /// Nothing is known yet.
    Starting,
    /// All is known, but for what is on its way.
    Synced,
    /// Nothing can be said of the objects, and why.
    Failed(ClusterError),
}

/// The objects of one topic, as they change.
pub(in crate::cluster) struct Followed<T: Kept> {
    topic: Topic,
    store: Mutex<Store<T>>,
    state: watch::Sender<State>,
    asked: Mutex<Instant>,
    /// Since when what is known may be out of date, if it may.
    troubled: Mutex<Option<Instant>>,
    keeper: Keeper,
    hub: Arc<Hub>,
}

impl<T: Kept> Followed<T> {
    pub fn new(topic: Topic, keeper: Keeper, hub: Arc<Hub>) -> Self {
        Self {
            keeper,
            topic,
            store: Mutex::default(),
            state: watch::Sender::new(State::Starting),
            asked: Mutex::new(Instant::now()),
            troubled: Mutex::default(),
            hub,
        }
    }

    /// Waits until all objects are known.
    ///
    /// # Errors
    /// Why they cannot be, as a list would be answered.
    pub async fn synced(&self) -> Result<(), ClusterError> {
        let mut state = self.state.subscribe();
        let known = state
            .wait_for(|state| !matches!(state, State::Starting))
            .await;
        match known.as_deref() {
            Ok(State::Failed(error)) => Err(error.clone()),
            // The sender is ours, and is there as long as we are.
            Ok(State::Starting | State::Synced) | Err(_) => Ok(()),
        }
    }

    /// Looks at what is known.
    pub(super) fn look<R>(&self, look: impl FnOnce(&Store<T>) -> R) -> R {
        look(&locked(&self.store))
    }

    pub fn is_synced(&self) -> bool {
        matches!(*self.state.borrow(), State::Synced)
    }

    /// Says what is not synced, and why. A watch that we may not have is no reason to wait, unless nothing works without.
    pub fn unsynced(&self) -> Option<String> {
        match &*self.state.borrow() {
            State::Synced => None,
            State::Failed(ClusterError::Forbidden(_)) if !self.topic.kind.is_ours() => None,
            State::Starting => Some(format!("{}: it has not been listed yet", self.topic)),
            State::Failed(error) => Some(format!("{}: {error}", self.topic)),
        }
    }

    /// Counts this watch where it belongs.
    pub fn count(&self, watches: &mut Watches) {
        let count = match &*self.state.borrow() {
            State::Starting => &mut watches.syncing,
            State::Synced if locked(&self.troubled).is_none() => &mut watches.synced,
            State::Synced | State::Failed(_) => &mut watches.failing,
        };
        *count += 1;
    }

    pub fn note_asked(&self) {
        *locked(&self.asked) = Instant::now();
    }

    pub fn asked_within(&self, since: Duration) -> bool {
        locked(&self.asked).elapsed() < since
    }

    pub fn note_written(&self, kind: &GroupKind, answer: &Written) {
        let Topic {
            namespace,
            selection,
            ..
        } = &self.topic;
        let live = &answer.metadata;
        let is_here = namespace.is_none() || *namespace == live.namespace;
        if is_here && self.topic.kind.is(kind) && selection.takes(&live.labels) {
            let object = T::keep_written(answer, &self.keeper);
            object
                .into_iter()
                .for_each(|object| locked(&self.store).answer(object));
        }
    }

    pub fn note_deleted(&self, id: &ObjectId, uid: &str) {
        if self.topic.kind.is(&id.group_kind) {
            let place = (id.namespace.clone(), id.name.clone());
            locked(&self.store).forget(&place, uid);
        }
    }

    /// Passes on what is news. The store must be locked from before it was: the answer of a write that the news may be
    /// an echo of is put into the store before the write counts as answered.
    fn tell(&self, news: impl IntoIterator<Item = News>) {
        for News {
            place: (namespace, name),
            before,
            after,
        } in news
        {
            let id = ObjectId {
                group_kind: self.topic.kind.group_kind(),
                namespace,
                name,
            };
            self.hub.tell(Change { id, before, after });
        }
    }

    /// Tells whether a trouble that began some time ago has made what is known worthless.
    fn is_stale(&self) -> bool {
        let mut troubled = locked(&self.troubled);
        troubled.get_or_insert_with(Instant::now).elapsed() >= STALE_AFTER
    }

    /// Changes the state, and says whether anybody may have been told of another one before.
    fn turn(&self, state: State) -> bool {
        let before = self.state.send_replace(state);
        !matches!(before, State::Starting)
    }
}

impl<T: Kept> Sink<T> for Followed<T> {
    fn replace(&self, listed: Listed<T>) {
        let mut store = locked(&self.store);
        let news = store.replace(listed.items, &listed.version);
        // Who waits for the first list sees all there is.
        if self.turn(State::Synced) {
            self.hub.relisted.fetch_add(1, Ordering::Relaxed);
            self.tell(news);
        }
    }

    fn resume(&self) {
        *locked(&self.troubled) = None;
        self.turn(State::Synced);
    }

    fn apply(&self, object: T) {
        let mut store = locked(&self.store);
        self.tell(store.tell(object));
    }

    fn delete(&self, object: T) {
        let mut store = locked(&self.store);
        self.tell(store.end(object.live()));
    }

    async fn may_be_there(&self) {
        self.hub.defined(&self.topic.kind.resource.group).await;
    }

    fn trouble(&self, error: &ClusterError) {
        tracing::warn!(watch = %self.topic, %error, "cannot be watched now");
        match error {
            // The kind is gone, and all of its objects with it.
            ClusterError::NotFound(_) => {
                let mut store = locked(&self.store);
                let news = store.clear();
                if self.turn(State::Synced) {
                    self.tell(news);
                }
            }
            ClusterError::Forbidden(_) => drop(self.turn(State::Failed(error.clone()))),
            _ if self.is_synced() && !self.is_stale() => {}
            _ => drop(self.turn(State::Failed(error.clone()))),
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::super::kept::Object;
    use super::super::topic::Selection;
    use super::*;
    use crate::cluster::Kind;

    fn followed() -> Followed<Object> {
        let topic = Topic {
            kind: Kind::namespace(),
            selection: Selection::All,
            namespace: None,
        };
        let keeper = Keeper {
            selection: Selection::All,
            shared: Arc::default(),
        };
        Followed::new(topic, keeper, Arc::default())
    }

    fn none() -> Listed<Object> {
        Listed {
            items: Vec::new(),
            version: "1".into(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_known_outlives_a_short_trouble_only() {
        let followed = followed();
        let reset = ClusterError::Unreachable("reset".into());
        followed.replace(none());
        followed.trouble(&reset);
        assert_eq!(followed.synced().await, Ok(()));
        sleep(STALE_AFTER).await;
        followed.trouble(&reset);
        assert_eq!(followed.synced().await, Err(reset.clone()));
        let unsynced = followed.unsynced().unwrap();
        assert_eq!(
            unsynced,
            "Namespace: the API server cannot be reached: reset"
        );
        // Nothing was missed: the watch goes on from where it ended.
        followed.resume();
        assert_eq!(followed.synced().await, Ok(()));
        // The next trouble is a new one.
        followed.trouble(&reset);
        assert_eq!(followed.synced().await, Ok(()));
    }

    #[tokio::test(start_paused = true)]
    async fn what_was_never_known_is_waited_for_or_told_why() {
        let followed = followed();
        let waits = tokio::time::timeout(Duration::from_secs(60), followed.synced());
        assert!(waits.await.is_err());
        let forbidden = ClusterError::Forbidden("no".into());
        followed.trouble(&forbidden);
        assert_eq!(followed.synced().await, Err(forbidden));
        followed.replace(none());
        assert_eq!(followed.synced().await, Ok(()));
    }
}
