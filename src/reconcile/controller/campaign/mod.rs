//! The unit of one Campaign: it asks the pods when their time has come, and stores the union of all that was ever told.
//!
//! What is in the file is never less than what status says of it: the file is written first. A run that was stored and not
//! told is made again, and changes nothing, since a union takes what it has already.

mod growth;
mod live;
mod memory;
mod place;
mod pods;
mod schedule;
mod status;
mod terms;
mod union;

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::Timestamp;
use tracing::{Instrument, error_span, info, warn};

use self::live::LiveCampaign;
pub use self::memory::Harvest;
use self::memory::Unstored;
use self::pods::Pods;
use self::schedule::Next;
use self::status::Ran;
use self::terms::Terms;
use self::union::Merged;
use super::context::Context;
use super::name::Name;
use super::problem::Problem;
use super::queue::{Again, Job};
use crate::api::campaign::{CampaignPhase, CampaignSpec, CampaignStatus};
use crate::api::names::CAMPAIGN;
use crate::cluster::{Cluster, ClusterError, EventType, Kind, NamespaceState};
use crate::coverage::Store;
use crate::metrics::CampaignRun;
use crate::reconcile::now;
use crate::storage::{Storage, StorageError};

/// Looks at a Campaign and does what is to be done.
pub async fn reconcile(context: Arc<Context>, job: Job<Name>) -> Again {
    let name = job.key.clone();
    // Of the highest level, so that every line has its fields, whatever is logged.
    let span = error_span!("campaign", closurejvmcampaign = %name);
    let unit = Unit { context, job };
    unit.reconcile().instrument(span).await
}

struct Unit {
    context: Arc<Context>,
    job: Job<Name>,
}

/// Why there is no run.
enum Ended {
    /// Its status is to say so.
    Problem(Problem),
    /// The same, and what is missing is waited for no longer than to the next run.
    Missing(Problem),
    /// The server did not do what it should.
    Cluster(ClusterError),
    /// Something else is to be done first.
    GaveWay,
}

impl From<Problem> for Ended {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<ClusterError> for Ended {
    fn from(error: ClusterError) -> Self {
        Self::Cluster(error)
    }
}

impl From<StorageError> for Ended {
    fn from(error: StorageError) -> Self {
        let (reason, message) = (error.reason(), error.to_string());
        Self::Problem(Problem::passing(reason, message))
    }
}

impl Unit {
    async fn reconcile(self) -> Again {
        let name = &self.job.key;
        let harvest = &self.context.harvest;
        let is_ours = self.context.looks_after_campaign(name);
        if !is_ours {
            harvest.forget_failures(name);
            // Nobody else has it; and a union takes it whoever else writes.
            return match self.store_unstored().await {
                Ok(()) => None,
                Err(_) => Some(harvest.try_again(name)),
            };
        }
        let cluster = self
            .context
            .guarded(&self.context.cluster, name.campaign_shard());
        match self.find(&cluster).await {
            Ok(Some(live)) => self.tend(&cluster, &live).await,
            Ok(None) => {
                harvest.forget_failures(name);
                harvest.stored(name);
                None
            }
            Err(error) => self.failed(&error),
        }
    }

    /// Finds the Campaign, unless it or its namespace is going: nothing is collected for it any more.
    async fn find(&self, cluster: &Cluster) -> Result<Option<LiveCampaign>, ClusterError> {
        let Name { namespace, name } = &self.job.key;
        let found = cluster.campaign(namespace, name).await?;
        let live = found.as_ref().and_then(LiveCampaign::read);
        let Some(live) = live.filter(|live| !live.going) else {
            return Ok(None);
        };
        let state = cluster.namespace_state(namespace).await?;
        Ok((state != Some(NamespaceState::Terminating)).then_some(live))
    }

    async fn tend(&self, cluster: &Cluster, live: &LiveCampaign) -> Again {
        let name = &self.job.key;
        let begin = Instant::now();
        let (metrics, harvest) = (&self.context.metrics, &self.context.harvest);
        let looked = self.look(cluster, live).await;
        if let Err(Ended::Problem(_) | Ended::Missing(_)) = looked {
            metrics.campaign_run(CampaignRun::Failed);
        }
        let again = match looked {
            Ok(again) => {
                harvest.forget_failures(name);
                again
            }
            Err(Ended::GaveWay) => None,
            Err(Ended::Cluster(error)) => self.failed(&error),
            Err(Ended::Problem(problem)) => {
                match self.tell_problem(cluster, live, &problem).await {
                    Ok(()) if problem.stalled => {
                        harvest.forget_failures(name);
                        None
                    }
                    Ok(()) => Some(harvest.try_again(name)),
                    Err(error) => self.failed(&error),
                }
            }
            Err(Ended::Missing(problem)) => {
                match self.tell_problem(cluster, live, &problem).await {
                    Ok(()) => Some(interval(live)),
                    Err(error) => self.failed(&error),
                }
            }
        };
        metrics.campaign_reconciled(begin.elapsed());
        again
    }

    async fn look(&self, cluster: &Cluster, live: &LiveCampaign) -> Result<Again, Ended> {
        let invalid = |why: &String| Problem::stalled("InvalidSpec", why);
        let spec = live.spec.as_ref().map_err(invalid)?;
        let terms = Terms::read(spec).map_err(|why| invalid(&why))?;
        let now = now();
        match schedule::next(
            &terms,
            &live.status,
            (live.has_request(), live.is_untried()),
            now,
        ) {
            Next::At(time) => Ok(Some(until(time, now))),
            Next::Suspended => {
                let status = status::suspended(live, &now.to_string());
                self.tell(cluster, live, status).await?;
                Ok(None)
            }
            Next::Finished(why) => {
                let status = status::finished(live, why, &now.to_string());
                self.tell(cluster, live, status).await?;
                Ok(None)
            }
            Next::Now => {
                let ran = self.run(cluster, live, spec, now).await?;
                let status = status::after_run(live, &terms, &ran);
                self.tell_run(live, &ran, &status);
                let again = match schedule::next(&terms, &status, (false, false), now) {
                    Next::At(time) => Some(until(time, now)),
                    _ => None,
                };
                self.tell(cluster, live, status).await?;
                Ok(again)
            }
        }
    }

    /// Asks the pods and stores what they tell.
    ///
    /// With `reset`, agents forget only what a file has: they are asked a second time once the first answers are stored, and what
    /// they tell then, before they forget it, is kept here until it is stored as well.
    async fn run(
        &self,
        cluster: &Cluster,
        live: &LiveCampaign,
        spec: &CampaignSpec,
        at: Timestamp,
    ) -> Result<Ran, Ended> {
        self.store_unstored().await?;
        let said = self.context.configured.said();
        let storage = place::storage(cluster, &live.name, spec, &said.defaults).await?;
        let pods = Pods::find(cluster, &live.name, spec).await?;
        let collected = pods.collect();
        let collected = self.job.give_way.run_until_cancelled(collected).await;
        let mut collected = collected.ok_or(Ended::GaveWay)?;
        let mut ran = pods::ran(&collected, at);
        if ran.pods.reached == 0 && collected.union.summary().hit == 0 {
            return Ok(ran);
        }
        let union = Arc::new(std::mem::take(&mut collected.union));
        let mut merged = self.store(live, &storage, union).await?;
        if spec.reset {
            let data = Arc::new(pods.reset(&collected).await);
            let unstored = Unstored {
                data: Arc::clone(&data),
                storage: storage.clone(),
            };
            let harvest = &self.context.harvest;
            harvest.keep(&live.name, unstored);
            let more = self.store(live, &storage, data).await?;
            harvest.stored(&live.name);
            merged.summary = more.summary;
            merged.mismatches.extend(more.mismatches);
        }
        ran.mismatches
            .extend(merged.mismatches.iter().map(ToString::to_string));
        ran.stored = Some((merged.summary, storage.location()));
        Ok(ran)
    }

    /// Stores what agents told before they forgot it, if a run before could not.
    async fn store_unstored(&self) -> Result<(), StorageError> {
        let (name, harvest) = (&self.job.key, &self.context.harvest);
        let Some(Unstored { data, storage }) = harvest.unstored(name) else {
            return Ok(());
        };
        put(&storage, data).await?;
        harvest.stored(name);
        Ok(())
    }

    async fn store(
        &self,
        live: &LiveCampaign,
        storage: &Storage,
        new: Arc<Store>,
    ) -> Result<Merged, StorageError> {
        let merged = put(storage, new).await?;
        let place = storage.location();
        if !merged.was_there && live.status.file.as_ref() == Some(&place) {
            let message = format!("{place} was gone; it holds only what was collected since");
            self.event(live, EventType::Warning, "FileGone", &message);
        }
        Ok(merged)
    }

    fn tell_run(&self, live: &LiveCampaign, ran: &Ran, status: &CampaignStatus) {
        let run = match ran.is_complete() {
            true => CampaignRun::Complete,
            false => CampaignRun::Partial,
        };
        self.context.metrics.campaign_run(run);
        for condition in &status.conditions {
            let (reason, message) = (&condition.reason, &condition.message);
            if matches!(condition.reason.as_str(), "Partial" | "IncompatibleClasses") {
                self.event(live, EventType::Warning, reason, message);
            }
        }
        let hit = status.probes_hit.unwrap_or(0);
        if hit != live.status.probes_hit.unwrap_or(0) {
            info!(
                runs = status.runs,
                "{hit} probes of {} are hit",
                status.probes_total.unwrap_or(0)
            );
        }
    }

    async fn tell_problem(
        &self,
        cluster: &Cluster,
        live: &LiveCampaign,
        problem: &Problem,
    ) -> Result<(), ClusterError> {
        let Problem {
            reason, message, ..
        } = problem;
        warn!("{message}");
        self.event(live, EventType::Warning, reason, message);
        let status = status::with_problem(live, problem, &now().to_string());
        self.tell(cluster, live, status).await
    }

    /// Writes a status that says something else than before.
    async fn tell(
        &self,
        cluster: &Cluster,
        live: &LiveCampaign,
        status: CampaignStatus,
    ) -> Result<(), ClusterError> {
        if status == live.status {
            return Ok(());
        }
        let finished = Some(CampaignPhase::Finished);
        if status.phase == finished && live.status.phase != finished {
            let message = status.conditions.first().map_or("", |it| &it.message);
            self.event(live, EventType::Normal, "Finished", message);
        }
        let body = serde_json::to_value(&status).unwrap_or_default();
        let Name { namespace, name } = &live.name;
        cluster
            .apply_status(&Kind::campaign(), namespace, name, &body)
            .await
    }

    fn event(&self, live: &LiveCampaign, type_: EventType, reason: &str, message: &str) {
        let about = live.name.reference(CAMPAIGN, &live.uid);
        self.context.recorder.record(&about, type_, reason, message);
    }

    fn failed(&self, error: &ClusterError) -> Again {
        // Another replica looks after it now, and tries.
        if *error == ClusterError::NotOurs {
            return None;
        }
        warn!("{error}");
        Some(self.context.harvest.try_again(&self.job.key))
    }
}

async fn put(storage: &Storage, new: Arc<Store>) -> Result<Merged, StorageError> {
    let merge = move |stored: Option<&[u8]>| union::merge(stored, &new);
    storage.update(union::BYTES, Arc::new(merge)).await
}

fn until(time: Timestamp, now: Timestamp) -> Duration {
    Duration::try_from(time.duration_since(now)).unwrap_or_default()
}

/// The interval, where it can be read.
fn interval(live: &LiveCampaign) -> Duration {
    let terms = live.spec.as_ref().ok().map(Terms::read);
    match terms {
        Some(Ok(terms)) => terms.interval,
        _ => crate::api::campaign::COLLECTION,
    }
}
