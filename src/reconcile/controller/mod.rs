//! The long-running service: watches, converges, repairs, and does nothing while nothing changes.
//!
//! `triggers` says which Sync or Target has to be looked at, two queues bring them up one by one, and a unit (`sync`, `target`)
//! does what is to be done, by the pipeline of the one-shot commands. Units remember little, and nothing that may not be lost.

mod agent;
mod backoff;
mod configured;
mod context;
mod fights;
mod known;
mod name;
mod queue;
mod slot;
mod sync;
mod target;
mod tended;
mod triggers;

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Notify, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use self::configured::{Configured, Said};
use self::context::Context;
pub use self::known::KnownSyncs;
pub use self::name::Name;
use self::queue::{Queue, work};
pub use self::sync::{Defaults, Reading};
use self::tended::Tended;
use super::install_kinds;
use crate::api::names::{API_VERSION, SYNC, TARGET};
use crate::cluster::{Cluster, ClusterError};
use crate::lease::Shards;
use crate::metrics::{self, Metrics};
use crate::web::{Gate, Health, HookTarget};

/// Syncs that may be at work at once: more than people have, since each may wait for health for minutes, and none is to wait
/// for another. What they share is the requests in flight.
const SYNCS_AT_ONCE: usize = 10_000;

/// Targets that may be at work at once. Each is a few requests.
const TARGETS_AT_ONCE: usize = 32;

/// What the service is made of.
pub struct Service {
    /// The connection as ourselves.
    pub cluster: Cluster,
    /// What is ours to look after.
    pub shards: Shards,
    /// What the configuration says.
    pub configured: Configured,
    /// How sources are read.
    pub reading: Reading,
    /// What happens is counted there.
    pub metrics: Metrics,
    /// Whether it works is told there.
    pub health: Health,
    /// New readings of the configuration.
    pub readings: mpsc::Receiver<Said>,
    /// Which Syncs there are is told there.
    pub known: KnownSyncs,
    /// What webhooks say is to be looked at.
    pub hooks: mpsc::Receiver<HookTarget>,
}

impl Service {
    /// Runs until `stop`; then the writes in hand end, and nothing more is written.
    ///
    /// # Errors
    /// When the configuration of the cluster cannot be used.
    pub async fn run(self, stop: CancellationToken) -> Result<(), ClusterError> {
        let Self {
            cluster,
            shards,
            configured,
            reading,
            metrics,
            health,
            readings,
            known,
            hooks,
        } = self;
        let gate = health.gate("watches");
        let (recorder, events) = cluster.events();
        let (cluster, changes) = cluster.watching()?;
        have_our_kinds(&cluster, &gate, &stop).await;
        let (syncs, asked_syncs) = Queue::new();
        let (targets, asked_targets) = Queue::new();
        let (written, own) = mpsc::unbounded_channel();
        let context = Arc::new(Context {
            cluster,
            shards,
            metrics,
            recorder,
            configured,
            reading,
            stop: stop.clone(),
            syncs,
            targets,
            known,
            entries: Default::default(),
            written,
            look_at_everything: Notify::new(),
            tended: Tended::default(),
        });

        let tasks = TaskTracker::new();
        tasks.spawn(until(
            &stop,
            health.running("events"),
            events.run(Timestamp::now),
        ));
        let watched = triggers::watch(Arc::clone(&context), changes, own, gate);
        tasks.spawn(until(&stop, health.running("watches"), watched));
        let told = triggers::listen(Arc::clone(&context), readings, hooks);
        tasks.spawn(until(&stop, health.running("triggers"), told));

        let depth = |queue| {
            let metrics = context.metrics.clone();
            move |depth| metrics.set_queue_depth(queue, depth)
        };
        let shared = Arc::clone(&context);
        let syncs = work(
            asked_syncs,
            SYNCS_AT_ONCE,
            stop.clone(),
            depth(metrics::Queue::Syncs),
            move |job| sync::reconcile(Arc::clone(&shared), job),
        );
        let shared = Arc::clone(&context);
        let targets = work(
            asked_targets,
            TARGETS_AT_ONCE,
            stop.clone(),
            depth(metrics::Queue::Targets),
            move |job| target::reconcile(Arc::clone(&shared), job),
        );
        let (_syncs_run, _targets_run) = (health.running("syncs"), health.running("targets"));
        tokio::join!(syncs, targets);
        tasks.close();
        tasks.wait().await;
        Ok(())
    }
}

/// Runs something until everything ends.
fn until(
    stop: &CancellationToken,
    running: crate::web::Running,
    task: impl Future<Output = ()> + Send + 'static,
) -> impl Future<Output = ()> + Send + 'static {
    let stop = stop.clone();
    async move {
        let _running = running;
        stop.run_until_cancelled(task).await;
    }
}

/// Installs our own kinds where they are missing and we may; otherwise waits for somebody who may.
async fn have_our_kinds(cluster: &Cluster, ready: &Gate, stop: &CancellationToken) {
    let versions = [API_VERSION.to_owned()].into();
    let mut told = false;
    while !stop.is_cancelled() {
        let why = match cluster.kinds(&versions).await {
            Ok(kinds)
                if [SYNC, TARGET]
                    .iter()
                    .all(|kind| kinds.get(API_VERSION, kind).is_some()) =>
            {
                return;
            }
            Ok(_) => match install_kinds(cluster).await {
                Ok(installed) => {
                    tracing::info!("installed {}", installed.join(" and "));
                    continue;
                }
                Err(error) => error,
            },
            Err(error) => error,
        };
        let why = format!("our own kinds are not there: {why}");
        if !told {
            tracing::warn!("{why}");
            told = true;
        }
        ready.shut(why);
        stop.run_until_cancelled(tokio::time::sleep(WAIT_FOR_KINDS))
            .await;
    }
}

/// Between two looks for our own kinds.
const WAIT_FOR_KINDS: Duration = Duration::from_secs(2);
