//! Kubernetes Events: what happened to an object, where `kubectl describe` shows it.
//!
//! They are best effort. Whoever reports one never waits for it, and an Event that cannot be written is a line in the log.
//! They are applied, as all that we write: so one that the server has dropped in the meantime (after an hour) comes back
//! with its count.

mod report;
mod table;

use jiff::Timestamp;
use k8s_openapi::api::core::v1::Event;
use kube::core::ApiResource;
use tokio::sync::mpsc::{Receiver, Sender, channel};

use self::report::Report;
pub use self::report::{EventType, ObjectRef};
use self::table::Table;
use super::{Cluster, Kind};
use crate::api::Scope;

/// Events that may wait, of up to 2 kB each. More of them are let go: they come when much fails at once, and say the same.
const WAITING: usize = 1024;

/// Takes Events, to be written by an [`EventWriter`]. Clones share its queue.
#[derive(Clone, Debug)]
pub struct EventRecorder(Sender<Report>);

/// Writes what an [`EventRecorder`] takes.
pub struct EventWriter {
    cluster: Cluster,
    queue: Receiver<Report>,
}

impl Cluster {
    /// Makes a recorder of Events, and what writes them.
    pub fn events(&self) -> (EventRecorder, EventWriter) {
        let (sender, queue) = channel(WAITING);
        let cluster = self.clone();
        (EventRecorder(sender), EventWriter { cluster, queue })
    }
}

impl EventRecorder {
    /// Reports what happened to an object: a reason in one CamelCase word, and a message, of which 1 kB is kept. It must not
    /// hold values of Secrets.
    pub fn record(&self, about: &ObjectRef, type_: EventType, reason: &str, message: &str) {
        let report = Report::new(about.clone(), type_, reason, message);
        if self.0.try_send(report).is_err() {
            tracing::debug!(object = %about, reason, "too much is to be told: an Event is let go");
        }
    }
}

impl EventWriter {
    /// Writes Events until there is no recorder left. The clock says what time it is.
    pub async fn run(mut self, clock: impl Fn() -> Timestamp) {
        let kind = Kind {
            resource: ApiResource::erase::<Event>(&()),
            scope: Scope::Namespaced,
            listable: true,
            watchable: true,
        };
        let mut table = Table::default();
        while let Some(report) = self.queue.recv().await {
            let Some(series) = table.note(report.key(), clock()) else {
                continue;
            };
            let event = report.event(&series);
            if let Err(error) = self.cluster.apply(&kind, &event, true).await {
                let Report { about, reason, .. } = report;
                tracing::debug!(object = %about, reason, %error, "an Event cannot be written");
            }
        }
    }
}
