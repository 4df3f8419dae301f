//! One watch: where its objects come from, what is known of them, and who waits for that.

use std::marker::PhantomData;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::{Stream, StreamExt};
use kube::Client;
use kube::core::WatchEvent;
use kube::core::params::{ListParams, WatchParams};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use super::changes::Change;
use super::hub::Hub;
use super::kept::{Kept, Written};
use super::locked;
use super::store::{News, Store};
use super::topic::Topic;
use crate::api::{GroupKind, ObjectId};
use crate::cluster::read::{List, Listed, invalid, request};
use crate::cluster::send::{ANSWER_WITHIN, Verb};
use crate::cluster::watch::{Event, Feed, Sink, watch_seconds};
use crate::cluster::{Cluster, ClusterError};

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
    hub: Arc<Hub>,
}

impl<T: Kept> Followed<T> {
    pub fn new(topic: Topic, hub: Arc<Hub>) -> Self {
        Self {
            topic,
            store: Mutex::default(),
            state: watch::Sender::new(State::Starting),
            asked: Mutex::new(Instant::now()),
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

    /// Says what is not synced, and why. A watch that we may not have is no reason to wait.
    pub fn unsynced(&self) -> Option<String> {
        match &*self.state.borrow() {
            State::Synced | State::Failed(ClusterError::Forbidden(_)) => None,
            State::Starting => Some(format!("{}: it has not been listed yet", self.topic)),
            State::Failed(error) => Some(format!("{}: {error}", self.topic)),
        }
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
        if is_here && self.topic.kind.group_kind() == *kind && selection.takes(&live.labels) {
            let object = T::keep_written(answer, *selection);
            object.and_then(|object| locked(&self.store).put(object));
        }
    }

    pub fn note_deleted(&self, id: &ObjectId, uid: &str) {
        if self.topic.kind.group_kind() == id.group_kind {
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

    /// Changes the state, and says whether anybody may have been told of another one before.
    fn become_(&self, state: State) -> bool {
        let before = self.state.send_replace(state);
        !matches!(before, State::Starting)
    }
}

impl<T: Kept> Sink<T> for Followed<T> {
    fn replace(&self, listed: Listed<T>) {
        let mut store = locked(&self.store);
        let news = store.replace(listed.items, &listed.version);
        // Who waits for the first list sees all there is.
        if self.become_(State::Synced) {
            self.tell(news);
        }
    }

    fn apply(&self, object: T) {
        let mut store = locked(&self.store);
        self.tell(store.put(object));
    }

    fn delete(&self, object: T) {
        let mut store = locked(&self.store);
        self.tell(store.end(object.live()));
    }

    fn trouble(&self, error: &ClusterError) {
        tracing::warn!(watch = %self.topic, %error, "cannot be watched now");
        match error {
            // The kind is gone, and all of its objects with it.
            ClusterError::NotFound(_) => {
                let mut store = locked(&self.store);
                let news = store.clear();
                if self.become_(State::Synced) {
                    self.tell(news);
                }
            }
            ClusterError::Forbidden(_) => drop(self.become_(State::Failed(error.clone()))),
            // What is known stays good for a while.
            _ if self.is_synced() => {}
            _ => drop(self.become_(State::Failed(error.clone()))),
        }
    }
}

/// Where the objects of a topic come from.
pub(super) struct Source<T> {
    cluster: Cluster,
    client: Client,
    topic: Topic,
    kept: PhantomData<fn() -> T>,
}

impl<T: Kept> Source<T> {
    /// `client` is the one for watches.
    pub fn new(cluster: Cluster, client: Client, topic: Topic) -> Self {
        Self {
            cluster,
            client,
            topic,
            kept: PhantomData,
        }
    }

    fn keep(&self, wire: T::Wire) -> Option<T> {
        let kept = T::keep(wire, self.topic.selection);
        if kept.is_none() {
            self.left_out();
        }
        kept
    }

    fn left_out(&self) {
        tracing::warn!(watch = %self.topic, "an object cannot be read, and is left out");
    }

    /// Reads a page, and when that fails, each of its objects by itself.
    fn page(&self, page: &[u8]) -> Result<List<T>, serde_json::Error> {
        if let Ok(List { metadata, items }) = serde_json::from_slice::<List<T::Wire>>(page) {
            let items = items.unwrap_or_default().into_iter();
            return Ok(List {
                metadata,
                items: Some(items.filter_map(|wire| self.keep(wire)).collect()),
            });
        }
        let List { metadata, items } = serde_json::from_slice::<List<Value>>(page)?;
        let items = items.unwrap_or_default().into_iter();
        let read = |item: Value| match T::Wire::deserialize(item) {
            Ok(wire) => self.keep(wire),
            Err(_) => {
                self.left_out();
                None
            }
        };
        Ok(List {
            metadata,
            items: Some(items.filter_map(read).collect()),
        })
    }

    fn event(
        &self,
        event: kube::Result<WatchEvent<T::Wire>>,
    ) -> Option<Result<Event<T>, ClusterError>> {
        let with_version = |object: T| {
            let version = object.live().resource_version.clone();
            (object, version)
        };
        let event = match event {
            Ok(WatchEvent::Added(wire) | WatchEvent::Modified(wire)) => {
                let (object, version) = with_version(self.keep(wire)?);
                Ok(Event::Applied(object, version))
            }
            Ok(WatchEvent::Deleted(wire)) => {
                let (object, version) = with_version(self.keep(wire)?);
                Ok(Event::Deleted(object, version))
            }
            Ok(WatchEvent::Bookmark(mark)) => Ok(Event::Bookmark(mark.metadata.resource_version)),
            Ok(WatchEvent::Error(status)) => Err((*status).into()),
            Err(error) if is_unreadable(&error) => {
                self.left_out();
                return None;
            }
            Err(error) => Err(error.into()),
        };
        Some(event)
    }
}

/// Tells whether a line of a watch was not understood. kube takes such a line for a `Status` if it can, and it can:
/// no field of that is required.
fn is_unreadable(error: &kube::Error) -> bool {
    match error {
        kube::Error::SerdeError(_) => true,
        kube::Error::Api(status) => status.code == 0,
        _ => false,
    }
}

impl<T: Kept> Feed for Source<T> {
    type Object = T;

    async fn list(&self) -> Result<Listed<T>, ClusterError> {
        let Topic {
            kind,
            selection,
            namespace,
        } = &self.topic;
        let objects = request(kind, namespace.as_deref());
        let build = |params: &ListParams| {
            if T::METADATA_ONLY {
                objects.list_metadata(params)
            } else {
                objects.list(params)
            }
        };
        let selector = selection.selector();
        let page = |page: &[u8]| self.page(page);
        self.cluster
            .list_pages(selector.as_deref(), build, page)
            .await
    }

    async fn watch(
        &self,
        from: String,
    ) -> Result<impl Stream<Item = Result<Event<T>, ClusterError>> + Send + Unpin, ClusterError>
    {
        let Topic {
            kind,
            selection,
            namespace,
        } = &self.topic;
        let params = WatchParams {
            label_selector: selection.selector(),
            timeout: Some(watch_seconds()),
            ..WatchParams::default()
        };
        let objects = request(kind, namespace.as_deref());
        let request = if T::METADATA_ONLY {
            objects.watch_metadata(&params, &from)
        } else {
            objects.watch(&params, &from)
        };
        let mut request = request.map_err(invalid)?;
        self.cluster.identity.sign(request.headers_mut());
        let answer = timeout(
            ANSWER_WITHIN,
            self.client.request_events::<T::Wire>(request),
        )
        .await;
        let (code, events) = match answer {
            Ok(Ok(events)) => (200, Ok(events)),
            Ok(Err(error)) => {
                let code = match &error {
                    kube::Error::Api(status) => status.code,
                    _ => 0,
                };
                (code, Err(error.into()))
            }
            Err(_) => {
                let message = "no answer to a watch".to_owned();
                (0, Err(ClusterError::Unavailable(message)))
            }
        };
        self.cluster.observe(Verb::Watch, code);
        let events = events?.filter_map(|event| std::future::ready(self.event(event)));
        Ok(Box::pin(events))
    }
}
