//! Watches: what happens to objects, from a version on.

use std::collections::VecDeque;
use std::sync::Arc;

use serde_json::Value;

use super::{Selection, options};
use crate::error::ApiError;
use crate::request::Request;
use crate::state::State;
use crate::store::{Change, stamped};
use crate::types::Kind;

/// How many objects or changes are looked at in one step, so that no watch holds up others.
const BATCH: usize = 500;

/// Somebody who follows the objects of a kind.
#[derive(Debug)]
pub struct Follow {
    kind: Arc<Kind>,
    resource: Arc<str>,
    namespace: Option<String>,
    selection: Selection,
    /// Objects of the beginning that are yet to be told.
    initial: VecDeque<Arc<Value>>,
    /// Whether the end of those is to be told.
    marks_initial: bool,
    bookmarks: bool,
    /// Up to which version all is told.
    seen: u64,
    /// Up to which version the follower knows that all is told.
    marked: u64,
}

/// What is told.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// An object is new, or newly among the selected ones.
    Added(Arc<Value>),
    /// It has changed.
    Modified(Arc<Value>),
    /// It is gone, or not among the selected ones any more.
    Deleted(Arc<Value>),
    /// Nothing that concerns the follower happened up to a version.
    Bookmark {
        /// The version.
        version: u64,
        /// Whether the objects of the beginning end here.
        initial_end: bool,
    },
    /// The end, and why.
    Error(ApiError),
}

/// One step of a watch.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// What is to be told; there may be more at once.
    Events(Vec<Event>),
    /// Nothing, until something changes.
    Wait,
    /// There is nothing to follow any more.
    End,
}

impl Follow {
    /// Begins to follow.
    ///
    /// # Errors
    /// 400 and 422 for parameters, 500 for what is no version.
    pub fn start(state: &State, request: &Request) -> Result<Self, ApiError> {
        options::check(request, true)?;
        let wanted = match request.parameter("resourceVersion").unwrap_or_default() {
            "" | "0" => None,
            text => Some(options::version(text)?),
        };
        let asks_for_initial = request
            .parameter("sendInitialEvents")
            .map(|value| !matches!(value, "false" | "0"));
        let has_initial = asks_for_initial.unwrap_or(wanted.is_none());
        let bookmarks = request
            .parameter("allowWatchBookmarks")
            .is_some_and(|value| !matches!(value, "false" | "0"));
        let current = state.store.version();
        let mut follow = Self {
            kind: request.kind.clone(),
            resource: request.kind.resource().into(),
            namespace: request.namespace.clone(),
            selection: Selection::of(request)?,
            initial: VecDeque::new(),
            marks_initial: bookmarks && asks_for_initial == Some(true),
            bookmarks,
            seen: current,
            marked: wanted.unwrap_or(0),
        };
        if has_initial {
            let all = state
                .store
                .list(&follow.resource, follow.namespace.as_deref());
            follow.initial = all
                .filter(|(_, object)| follow.selection.matches(object))
                .map(|(_, object)| object.clone())
                .collect();
        } else if let Some(wanted) = wanted {
            follow.seen = wanted;
        }
        Ok(follow)
    }

    /// What is to be told now.
    pub fn step(&mut self, state: &State) -> Step {
        if !self.initial.is_empty() {
            let count = self.initial.len().min(BATCH);
            return Step::Events(self.initial.drain(..count).map(Event::Added).collect());
        }
        if self.marks_initial {
            self.marks_initial = false;
            return Step::Events(vec![self.mark(true)]);
        }
        let Some(changes) = state.store.since(self.seen) else {
            let message = format!(
                "too old resource version: {} ({})",
                self.seen,
                state.store.version()
            );
            return Step::Events(vec![Event::Error(ApiError::new(410, "Expired", message))]);
        };
        let mut events = Vec::new();
        let mut seen = self.seen;
        for change in changes.take(BATCH) {
            seen = change.version;
            events.extend(self.event(change));
        }
        let progressed = seen > self.seen;
        self.seen = seen;
        if !events.is_empty() {
            self.marked = seen;
            return Step::Events(events);
        }
        let Kind {
            group,
            version,
            plural,
            ..
        } = &*self.kind;
        match progressed {
            // Nothing of it concerned this follower.
            true => Step::Events(events),
            false if state.kinds.at(group, version, plural).is_none() => Step::End,
            false => Step::Wait,
        }
    }

    /// What tells the follower how far things are, if it wants to know and does not know yet.
    pub fn bookmark(&mut self) -> Option<Event> {
        let is_news = self.bookmarks && self.initial.is_empty() && self.marked < self.seen;
        is_news.then(|| self.mark(false))
    }

    fn mark(&mut self, initial_end: bool) -> Event {
        self.marked = self.seen;
        Event::Bookmark {
            version: self.seen,
            initial_end,
        }
    }

    fn event(&self, change: &Change) -> Option<Event> {
        let Change {
            version,
            key,
            before,
            after,
        } = change;
        let namespace = self.namespace.as_deref();
        if key.resource != self.resource || namespace.is_some_and(|wanted| key.namespace != wanted)
        {
            return None;
        }
        let selected = |object: &Option<Arc<Value>>| {
            object
                .clone()
                .filter(|object| self.selection.matches(object))
        };
        match (selected(before), selected(after)) {
            (None, Some(after)) => Some(Event::Added(after)),
            (Some(_), Some(after)) => Some(Event::Modified(after)),
            // As it was when it was last among them.
            (Some(before), None) => Some(Event::Deleted(stamped(&before, *version))),
            (None, None) => None,
        }
    }
}
