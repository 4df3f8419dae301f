//! Where the objects of one watch come from: its requests, and how their answers are read.

use std::marker::PhantomData;

use futures_util::{Stream, StreamExt};
use kube::Client;
use kube::core::WatchEvent;
use kube::core::params::{ListParams, WatchParams};
use serde::Deserialize;
use serde_json::Value;
use tokio::time::timeout;

use super::keeper::Keeper;
use super::kept::Kept;
use super::topic::Topic;
use crate::cluster::read::{List, Listed, invalid, request};
use crate::cluster::send::ANSWER_WITHIN;
use crate::cluster::watch::{Event, Feed, watch_seconds};
use crate::cluster::{Cluster, ClusterError};
use crate::metrics::ApiVerb;

/// Where the objects of a topic come from.
pub(super) struct Source<T> {
    cluster: Cluster,
    client: Client,
    topic: Topic,
    keeper: Keeper,
    kept: PhantomData<fn() -> T>,
}

impl<T: Kept> Source<T> {
    /// `client` is the one for watches.
    pub fn new(cluster: Cluster, client: Client, topic: Topic, keeper: Keeper) -> Self {
        Self {
            cluster,
            client,
            topic,
            keeper,
            kept: PhantomData,
        }
    }

    fn keep(&self, wire: T::Wire) -> Option<T> {
        let kept = T::keep(wire, &self.keeper);
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
        let (status, events) = match answer {
            Ok(Ok(events)) => (Some(200), Ok(events)),
            Ok(Err(error)) => {
                let status = match &error {
                    kube::Error::Api(status) => Some(status.code),
                    _ => None,
                };
                (status, Err(error.into()))
            }
            Err(_) => {
                let message = "no answer to a watch".to_owned();
                (None, Err(ClusterError::Unavailable(message)))
            }
        };
        self.cluster.observe(ApiVerb::Watch, status);
        let events = events?.filter_map(|event| std::future::ready(self.event(event)));
        Ok(Box::pin(events))
    }
}
