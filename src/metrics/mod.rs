//! What operators can count: one method for each thing that happens, written as OpenMetrics.
//!
//! Names are part of what we promise: dashboards and alerts are built on them. None is ever renamed.

mod labels;
mod process;
mod syncs;
#[cfg(test)]
mod tests;
mod words;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Metric, Registry};

use self::labels::{
    Code, OfKind, OfOutcome, OfQueue, OfRequest, OfState, OfVersion, OfWebhook, Reconciled,
    SyncName,
};
use self::process::Process;
pub use self::syncs::SyncInfo;
use self::syncs::Syncs;
pub use self::words::{
    ApiVerb, CampaignRun, CheckOutcome, FetchOutcome, Queue, WatchState, WebhookOutcome,
};
use crate::api::GroupKind;
use crate::reconcile::Outcome;
use crate::web::Provider;

/// From a run that finds nothing to do, to one that waits for a roll-out.
const SECONDS: [f64; 11] = [
    0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0, 15.0, 60.0, 300.0,
];

type Counters<L> = Family<L, Counter>;
type Gauges<L> = Family<L, Gauge>;

/// What happened so far. Clones share it.
#[derive(Clone, Debug)]
pub struct Metrics(Arc<Series>);

#[derive(Debug)]
struct Series {
    registry: Registry,
    reconciles: Family<Reconciled, Histogram>,
    syncs: Arc<Syncs>,
    applies: Counters<OfOutcome>,
    drifts: Counters<OfKind>,
    prunes: Counter,
    git_fetches: Counters<OfOutcome>,
    git_fetch_seconds: Histogram,
    git_checks: Counters<OfOutcome>,
    files_parsed: Counter,
    campaign_runs: Counters<OfOutcome>,
    queues: Gauges<OfQueue>,
    api_requests: Counters<OfRequest>,
    webhook_requests: Counters<OfWebhook>,
    watches: Gauges<OfState>,
    watch_restarts: Counter,
    lease_members: Gauge,
}

impl Default for Metrics {
    fn default() -> Self {
        let mut registry = Registry::default();
        registry.register_collector(Box::new(Process));
        let ours = registry.sub_registry_with_prefix("covergence");
        let version = OfVersion {
            version: env!("CARGO_PKG_VERSION"),
        };
        let build = Family::<_, ConstGauge, _>::new_with_constructor(|| ConstGauge::new(1));
        drop(build.get_or_create(&version));
        ours.register("build_info", "Which Covergence this is; always 1", build);
        let syncs = Arc::new(Syncs::default());
        ours.register_collector(Box::new(Arc::clone(&syncs)));
        let series = Series {
            reconciles: add(
                ours,
                "reconcile_duration_seconds",
                "How long one reconciliation took, of each Sync, of all Targets and of all Campaigns",
                Family::new_with_constructor(seconds as fn() -> Histogram),
            ),
            syncs,
            applies: add(
                ours,
                "apply",
                "Objects that were to be applied, by what became of them",
                Family::default(),
            ),
            drifts: add(
                ours,
                "drift",
                "Objects that others had changed, by kind",
                Family::default(),
            ),
            prunes: add(
                ours,
                "prune",
                "Objects deleted because they had left the source",
                Counter::default(),
            ),
            git_fetches: add(
                ours,
                "git_fetch",
                "Fetches from git servers",
                Family::default(),
            ),
            git_fetch_seconds: add(
                ours,
                "git_fetch_duration_seconds",
                "How long fetches from git servers took",
                seconds(),
            ),
            git_checks: add(
                ours,
                "git_checks",
                "Looks at refs on git servers without a fetch",
                Family::default(),
            ),
            files_parsed: add(
                ours,
                "files_parsed",
                "Files of sources that were parsed: of a source that is read again, those that have changed",
                Counter::default(),
            ),
            campaign_runs: add(
                ours,
                "campaign_runs",
                "Runs of Campaigns, by how many of the pods have answered",
                Family::default(),
            ),
            queues: add(
                ours,
                "queue_depth",
                "What waits inside of the controller",
                Family::default(),
            ),
            api_requests: add(
                ours,
                "api_requests",
                "Requests to the API server, by status",
                Family::default(),
            ),
            webhook_requests: add(
                ours,
                "webhook_requests",
                "Requests to the webhook receiver",
                Family::default(),
            ),
            watches: add(
                ours,
                "watches",
                "Watches, by how far they are",
                Family::default(),
            ),
            watch_restarts: add(
                ours,
                "watch_restarts",
                "Watches that had to list again",
                Counter::default(),
            ),
            lease_members: add(
                ours,
                "lease_members",
                "Replicas that share the work",
                Gauge::default(),
            ),
            registry,
        };
        Self(Arc::new(series))
    }
}

impl Metrics {
    /// Notes how long one run of a Sync took.
    pub fn sync_reconciled(&self, namespace: &str, name: &str, took: Duration) {
        let labels = Reconciled::Sync(SyncName::new(namespace, name));
        let family = &self.0.reconciles;
        family.get_or_create(&labels).observe(took.as_secs_f64());
    }

    /// Notes how long one look at a Target took.
    pub fn target_reconciled(&self, took: Duration) {
        let family = &self.0.reconciles;
        let target = family.get_or_create(&Reconciled::Target);
        target.observe(took.as_secs_f64());
    }

    /// Notes how long one look at a Campaign took, and its run if there was one.
    pub fn campaign_reconciled(&self, took: Duration) {
        let family = &self.0.reconciles;
        let campaign = family.get_or_create(&Reconciled::Campaign);
        campaign.observe(took.as_secs_f64());
    }

    /// Counts a run of a Campaign.
    pub fn campaign_run(&self, run: CampaignRun) {
        count(&self.0.campaign_runs, run.word());
    }

    /// Says how a Sync is now, in place of what was said before.
    pub fn set_sync(&self, namespace: &str, name: &str, info: &SyncInfo<'_>) {
        self.0.syncs.set(SyncName::new(namespace, name), info);
    }

    /// Takes out all series of a Sync that is no more. Its last run must be over.
    pub fn forget_sync(&self, namespace: &str, name: &str) {
        let name = SyncName::new(namespace, name);
        self.0.syncs.remove(&name);
        self.0.reconciles.remove(&Reconciled::Sync(name));
    }

    /// Counts what became of an object that the source asks for.
    pub fn applied(&self, outcome: Outcome) {
        count(&self.0.applies, outcome.word());
    }

    /// Counts an object that others had changed.
    pub fn drifted(&self, kind: &GroupKind) {
        let kind = kind.to_string().as_str().into();
        self.0.drifts.get_or_create(&OfKind { kind }).inc();
    }

    /// Counts an object deleted because it had left the source.
    pub fn pruned(&self) {
        self.0.prunes.inc();
    }

    /// Counts a fetch from a git server, and how long it took.
    pub fn git_fetched(&self, outcome: FetchOutcome, took: Duration) {
        count(&self.0.git_fetches, outcome.word());
        self.0.git_fetch_seconds.observe(took.as_secs_f64());
    }

    /// Counts a look at a ref on a git server.
    pub fn git_checked(&self, outcome: CheckOutcome) {
        count(&self.0.git_checks, outcome.word());
    }

    /// Counts files of a source that were parsed.
    pub fn files_parsed(&self, files: usize) {
        let files = u64::try_from(files).unwrap_or(u64::MAX);
        self.0.files_parsed.inc_by(files);
    }

    /// Says how many wait in a queue now.
    pub fn set_queue_depth(&self, queue: Queue, depth: usize) {
        let queue = queue.word();
        set(&self.0.queues, &OfQueue { queue }, depth);
    }

    /// Counts a request to the API server; without a status when there was no answer.
    pub fn api_request(&self, verb: ApiVerb, status: Option<u16>) {
        let labels = OfRequest {
            verb: verb.word(),
            code: Code(status),
        };
        self.0.api_requests.get_or_create(&labels).inc();
    }

    /// Counts a request to the webhook receiver.
    pub fn webhook_request(&self, provider: Provider, outcome: WebhookOutcome) {
        let labels = OfWebhook {
            provider: provider.word(),
            outcome: outcome.word(),
        };
        self.0.webhook_requests.get_or_create(&labels).inc();
    }

    /// Says how many watches are that far now.
    pub fn set_watches(&self, state: WatchState, watches: usize) {
        let state = state.word();
        set(&self.0.watches, &OfState { state }, watches);
    }

    /// Says how often watches had to list again so far.
    pub fn set_watch_restarts(&self, restarts: u64) {
        let counted = self.0.watch_restarts.get();
        let more = restarts.saturating_sub(counted);
        self.0.watch_restarts.inc_by(more);
    }

    /// Says how many replicas share the work now.
    pub fn set_lease_members(&self, members: usize) {
        self.0.lease_members.set(gauge(members));
    }

    /// Writes everything as OpenMetrics text.
    ///
    /// # Errors
    /// When a series cannot be written, which no value of ours brings about.
    pub fn encode(&self) -> Result<String, fmt::Error> {
        let mut page = String::new();
        text::encode(&mut page, &self.0.registry)?;
        Ok(page)
    }
}

fn add<M: Metric + Clone>(registry: &mut Registry, name: &str, help: &str, metric: M) -> M {
    registry.register(name, help, metric.clone());
    metric
}

fn seconds() -> Histogram {
    Histogram::new(SECONDS)
}

fn count(family: &Counters<OfOutcome>, outcome: &'static str) {
    family.get_or_create(&OfOutcome { outcome }).inc();
}

fn set<L>(family: &Gauges<L>, labels: &L, value: usize)
where
    L: EncodeLabelSet + Clone + std::hash::Hash + Eq,
{
    family.get_or_create(labels).set(gauge(value));
}

fn gauge(value: usize) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
