//! Watches: a line for each event.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, MissedTickBehavior};

use super::accept::Form;
use super::present::One;
use crate::error::ApiError;
use crate::read::{Event, Follow, Step};
use crate::request::Request;
use crate::types::Kind;
use crate::{Sandbox, read};

/// How often followers are told how far things are.
const BOOKMARKS: Duration = Duration::from_secs(60);
/// How long a watch lasts that does not say: this, and up to as much again.
const LASTS: Duration = Duration::from_secs(1800);

/// A watch as the body of an answer; it ends after `timeoutSeconds`, or with the sandbox.
///
/// # Errors
/// 400 for what is no number of seconds.
pub fn stream(
    sandbox: Arc<Sandbox>,
    follow: Follow,
    form: Form,
    request: &Request,
) -> Result<Body, ApiError> {
    let lasts = match u64::try_from(read::number(request, "timeoutSeconds")?) {
        Ok(seconds @ 1..) => Duration::from_secs(seconds),
        _ => LASTS + Duration::from_secs(fastrand::u64(..LASTS.as_secs())),
    };
    let mut bookmarks = tokio::time::interval_at(Instant::now() + BOOKMARKS, BOOKMARKS);
    bookmarks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let watch = Watch {
        changes: sandbox.changes(),
        sandbox,
        follow,
        kind: request.kind.clone(),
        form,
        // So far away that it does not matter, where the sum is beyond what the clock has.
        ends: Instant::now()
            .checked_add(lasts)
            .unwrap_or(Instant::now() + 2 * LASTS),
        bookmarks,
        is_over: false,
    };
    let events = futures_util::stream::unfold(watch, |mut watch| async {
        let bytes = watch.next().await?;
        Some((Ok::<_, Infallible>(bytes), watch))
    });
    Ok(Body::from_stream(events))
}

/// Nothing is made before the client has taken what was made before, so a slow one costs nothing.
struct Watch {
    sandbox: Arc<Sandbox>,
    changes: tokio::sync::watch::Receiver<u64>,
    follow: Follow,
    kind: Arc<Kind>,
    form: Form,
    ends: Instant,
    bookmarks: tokio::time::Interval,
    is_over: bool,
}

impl Watch {
    async fn next(&mut self) -> Option<Bytes> {
        loop {
            if self.is_over || self.sandbox.ended().is_cancelled() {
                return None;
            }
            self.changes.mark_unchanged();
            let step = self.follow.step(&self.sandbox.lock());
            match step {
                Step::End => return None,
                Step::Events(events) if events.is_empty() => tokio::task::yield_now().await,
                Step::Events(events) => {
                    self.is_over = events.iter().any(|event| matches!(event, Event::Error(_)));
                    return Some(self.lines(&events));
                }
                Step::Wait => {
                    if let Some(event) = self.wait().await {
                        return Some(self.lines(&[event]));
                    }
                }
            }
        }
    }

    /// Waits for a change, the time for a bookmark, or the end.
    async fn wait(&mut self) -> Option<Event> {
        tokio::select! {
            _ = self.changes.changed() => None,
            () = self.sandbox.ended().cancelled() => None,
            _ = self.bookmarks.tick() => self.follow.bookmark(),
            () = tokio::time::sleep_until(self.ends) => {
                self.is_over = true;
                self.follow.bookmark()
            }
        }
    }

    fn lines(&self, events: &[Event]) -> Bytes {
        let mut lines = Vec::new();
        for event in events {
            let written = match event {
                Event::Added(object) => self.line(&mut lines, "ADDED", object),
                Event::Modified(object) => self.line(&mut lines, "MODIFIED", object),
                Event::Deleted(object) => self.line(&mut lines, "DELETED", object),
                Event::Bookmark {
                    version,
                    initial_end,
                } => {
                    let object = bookmark(&self.kind, *version, *initial_end);
                    self.line(&mut lines, "BOOKMARK", &object.into())
                }
                Event::Error(error) => self.line(&mut lines, "ERROR", &error.body().into()),
            };
            if written.is_ok() {
                lines.push(b'\n');
            }
        }
        lines.into()
    }

    fn line(
        &self,
        lines: &mut Vec<u8>,
        r#type: &str,
        object: &Arc<Value>,
    ) -> serde_json::Result<()> {
        #[derive(Serialize)]
        struct Line<'a> {
            r#type: &'a str,
            object: One<'a>,
        }
        let object = One {
            object,
            kind: &self.kind,
            form: self.form,
            in_list: false,
        };
        serde_json::to_writer(lines, &Line { r#type, object })
    }
}

fn bookmark(kind: &Kind, version: u64, initial_end: bool) -> Value {
    let mut object = json!({
        "kind": kind.kind,
        "apiVersion": kind.api_version(),
        "metadata": { "resourceVersion": version.to_string(), "creationTimestamp": null },
    });
    if initial_end && let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut)
    {
        let annotations = json!({ "k8s.io/initial-events-end": "true" });
        metadata.insert("annotations".to_owned(), annotations);
    }
    object
}
