//! The unit of one Sync: what is to be done about it now.

mod delete;
mod depends;
mod live;
mod memory;
mod run;
mod secret;
mod source;
mod spec;
mod status;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::task::spawn_blocking;
use tracing::{Instrument, Span, error_span, field, info, warn};

pub use self::depends::needs;
pub use self::live::LiveSync;
pub use self::memory::Entry;
pub use self::source::Reading;
pub use self::spec::{Campaigns, Defaults};

use self::delete::{Behind, Deletion};
use self::memory::Memory;
use self::source::{Asked, ReadError, Source};
use super::context::Context;
use super::name::Name;
use super::problem::Problem;
use super::queue::{Again, Job, Why};
use crate::api::condition::ConditionStatus;
use crate::api::names::SYNC;
use crate::api::sync::SyncSpec;
use crate::cluster::{Cluster, ClusterError, EventType, Kind, NamespaceState};
use crate::load::{Readings, Snapshot};
use crate::metrics::SyncInfo;
use crate::plan::Body;
use crate::reconcile::compute::compute;
use crate::reconcile::{Access, Planned, Settings, plan_loaded};
use crate::source::git::Credentials;

/// Between two runs while a directory has not settled.
const UNSETTLED: Duration = Duration::from_secs(5);

/// So often a directory is looked at in the hope that it settles before something is pruned.
const LOOKS: u32 = 5;

/// After something that was applied came back changed.
const SECOND_LOOK: Duration = Duration::from_secs(1);

/// Between two looks at members that are being deleted.
const LOOK_AT_DELETION: Duration = Duration::from_secs(2);

/// Looks at a Sync and does what is to be done.
pub async fn reconcile(context: Arc<Context>, job: Job<Name>) -> Again {
    let name = job.key.clone();
    // Of the highest level, so that every line has its fields, whatever is logged.
    let span = error_span!("sync", sync = %name, revision = field::Empty);
    let unit = Unit { context, job };
    unit.reconcile().instrument(span).await
}

struct Unit {
    context: Arc<Context>,
    job: Job<Name>,
}

/// Why a look ended before a run.
enum Ended {
    /// There is nothing to do, and the Sync is not followed.
    Left,
    /// Its status is to say so.
    Problem(Problem),
    /// The server did not do what it should.
    Cluster(ClusterError),
}

impl From<ClusterError> for Ended {
    fn from(error: ClusterError) -> Self {
        Self::Cluster(error)
    }
}

impl From<Problem> for Ended {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl Unit {
    async fn reconcile(self) -> Again {
        let name = &self.job.key;
        if !self.context.looks_after_sync(name) {
            self.context.forget(name);
            return None;
        }
        let cluster = self
            .context
            .guarded(&self.context.cluster, name.sync_shard());
        let before = depends::standing(&cluster, name).await;
        let again = self.tend(&cluster).await;
        // No change tells of what we write ourselves.
        if depends::standing(&cluster, name).await != before {
            self.context.wake_dependants(name);
        }
        again
    }

    async fn tend(&self, cluster: &Cluster) -> Again {
        let name = &self.job.key;
        let state = cluster.namespace_state(&name.namespace).await;
        let namespace_goes = matches!(state, Ok(Some(NamespaceState::Terminating)));
        let kept = match state {
            // Nothing is made in it any more.
            Ok(_) if namespace_goes => Ok(()),
            Ok(_) => self.context.configured.keep(cluster, name).await,
            Err(error) => Err(error),
        };
        if let Err(error) = kept {
            return self.failed(&error).await;
        }
        let live = match depends::read(cluster, name).await {
            Ok(Some(live)) => {
                self.context.known.note(name.clone(), true);
                Arc::new(live)
            }
            Ok(None) => return self.gone(cluster).await,
            Err(error) => return self.failed(&error).await,
        };
        let begin = Instant::now();
        let again = match self.look(cluster, &live, namespace_goes).await {
            Ok(again) => again,
            Err(Ended::Left) => {
                self.context.forget(name);
                return None;
            }
            Err(Ended::Problem(problem)) => self.tell(cluster, &live, &problem).await,
            Err(Ended::Cluster(error)) => {
                if error != ClusterError::NotOurs {
                    let message = error.to_string();
                    self.event(&live, EventType::Warning, "ReconciliationFailed", &message);
                }
                self.failed(&error).await
            }
        };
        let metrics = &self.context.metrics;
        metrics.sync_reconciled(&name.namespace, &name.name, begin.elapsed());
        self.tell_metrics(cluster).await;
        again
    }

    async fn look(
        &self,
        cluster: &Cluster,
        live: &Arc<LiveSync>,
        namespace_goes: bool,
    ) -> Result<Again, Ended> {
        let context = &*self.context;
        if live.going {
            return self.delete(cluster, live, namespace_goes).await;
        }
        if namespace_goes {
            return Ok(None);
        }
        let spec = match &live.spec {
            Ok(spec) => spec,
            Err(why) => return Err(Problem::stalled("InvalidSpec", why).into()),
        };
        // What `covergence sync PATH` keeps is nobody's business but its own.
        if spec.source.is_none() && !live.held {
            return Err(Ended::Left);
        }
        let settings = self.settings(live, spec)?;
        let members = self.members(cluster, live, spec)?;
        let access = Access {
            members: &members,
            sync: cluster,
        };
        let entry = context.entry(&live.name);
        entry.last.set(Some(Arc::clone(live)));
        let mut memory = entry.memory.lock().await;
        if spec.suspend {
            entry.source.set(None);
            return Ok(None);
        }
        if let Some(problem) = depends::waits_for(cluster, live).await? {
            return Err(problem.into());
        }
        let parts = (&*entry, &mut memory.readings);
        let planned = self.plan(access, live, spec, &settings, parts).await?;
        memory.tries(&planned.revision, live.generation);
        let parts = (&*entry, &mut *memory);
        let ran = run::run(access, live, planned, &settings, parts, context).await?;
        if !ran.is_good() && !context.looks_after_sync(&live.name) {
            // What is left to do is another replica's, and so is what there is to tell.
            return Ok(None);
        }
        if ran.is_good() && entry.missed.load(Ordering::Acquire) {
            context.syncs.add(live.name.clone(), Why::Look);
        }
        let again = self.after(live, &ran, &mut memory);
        // What seems to have left the source is left to a run when it has settled.
        let source = entry.source.get();
        let is_settled = source.is_none_or(|source| source.is_settled());
        Ok(again.or((settings.prune && !is_settled).then_some(UNSETTLED)))
    }

    /// The connection for what the source asks for: as the account that the Sync names, if it names one.
    fn members(
        &self,
        cluster: &Cluster,
        live: &LiveSync,
        spec: &SyncSpec,
    ) -> Result<Cluster, ClusterError> {
        let said = self.context.configured.said();
        let default = said.defaults.service_account.as_ref();
        match spec.service_account_name.as_ref().or(default) {
            Some(account) => {
                let namespace = &live.name.namespace;
                self.context.as_account(cluster, namespace, account)
            }
            None => Ok(cluster.clone()),
        }
    }

    /// The plan of what the source holds now. One that prunes is made of a source that is not just being written.
    async fn plan(
        &self,
        access: Access<'_>,
        live: &LiveSync,
        spec: &SyncSpec,
        settings: &Settings,
        (entry, readings): (&Entry, &mut Readings),
    ) -> Result<Planned, Ended> {
        let mut looks = 0;
        loop {
            let (source, snapshot) = self.snapshot(access, live, spec, entry).await?;
            Span::current().record("revision", field::display(&snapshot.revision));
            let settings = Settings {
                // A directory that is written to all the time is followed, but nothing counts as gone.
                prune: settings.prune && looks < LOOKS,
                ..settings.clone()
            };
            entry.missed.store(false, Ordering::Release);
            let loaded = compute(|| readings.load(&snapshot, &settings.limits));
            self.context.metrics.files_parsed(loaded.parsed);
            let planned = plan_loaded(access, &snapshot, loaded, &settings).await?;
            let mut steps = planned.plan.steps.iter();
            let prunes = steps.any(|step| step.body == Body::Prune || step.approval.is_some());
            if !prunes || source.is_settled() {
                return Ok(planned);
            }
            source.settle().await;
            looks += 1;
        }
    }

    /// The source, and what it holds now.
    async fn snapshot(
        &self,
        access: Access<'_>,
        live: &LiveSync,
        spec: &SyncSpec,
        entry: &Entry,
    ) -> Result<(Arc<Source>, Arc<Snapshot>), Ended> {
        let said = self.context.configured.said();
        let account = spec.service_account_name.as_ref();
        let asked = Asked {
            source: spec.source.clone(),
            interval: spec.interval.clone(),
            account: account.or(said.defaults.service_account.as_ref()).cloned(),
            directories: said.defaults.directories.clone(),
            options: spec::options(live, spec, &said.defaults)?,
            limits: said.defaults.limits.source.clone(),
        };
        let source = match entry.source.get().filter(|source| source.asked == asked) {
            Some(source) => {
                if live.open_request().is_some() {
                    source.look().await;
                }
                source
            }
            None => {
                let source = Arc::new(self.follow(access, live, spec, asked).await?);
                entry.source.set(Some(Arc::clone(&source)));
                source
            }
        };
        match source.latest().await {
            Some(Ok(snapshot)) => Ok((source, snapshot)),
            Some(Err(error)) => {
                let error = match &*error {
                    ReadError::Source(error) => error,
                    ReadError::Build(failed) => {
                        return Err(Problem::passing("BuildFailed", failed.message()).into());
                    }
                };
                let git = spec.source.as_ref().and_then(|source| source.git.as_ref());
                if git.is_some_and(|git| git.secret_ref.is_some()) {
                    // The Secret may have been renewed: it is read again the next time. Servers do not always say that
                    // it is the login that they mind, and it may also hold the host's keys.
                    entry.source.set(None);
                }
                let hint = error
                    .hint()
                    .map_or(String::new(), |hint| format!(" ({hint})"));
                Err(Problem::passing("ArtifactFailed", format!("{error}{hint}")).into())
            }
            None => Err(Problem::passing("ArtifactFailed", "the source was not read").into()),
        }
    }

    async fn follow(
        &self,
        access: Access<'_>,
        live: &LiveSync,
        spec: &SyncSpec,
        asked: Asked,
    ) -> Result<Source, Ended> {
        let context = &*self.context;
        let git = spec.source.as_ref().and_then(|source| source.git.as_ref());
        let credentials = match git.and_then(|git| git.secret_ref.as_ref()) {
            Some(secret) => {
                let namespace = &live.name.namespace;
                secret::credentials(access.members, namespace, &secret.name).await?
            }
            None => Credentials::default(),
        };
        let (wanted, said) = (spec.clone(), context.configured.said());
        // It looks at the file system, which may take its time.
        let looked = spawn_blocking(move || spec::followed(&wanted, credentials, &said.defaults));
        let followed = looked
            .await
            .map_err(|error| Problem::passing("ArtifactFailed", error.to_string()))??;
        for remark in spec::remarks(spec) {
            warn!("{remark}");
        }
        let (queue, name) = (context.syncs.clone(), live.name.clone());
        let news = move || queue.add(name.clone(), Why::News);
        Ok(Source::follow(
            asked,
            followed,
            context.reading.clone(),
            news,
        ))
    }

    /// After a run: what is remembered, what is told, and when it goes on.
    fn after(&self, live: &LiveSync, ran: &run::Ran, memory: &mut Memory) -> Again {
        let revision = &ran.planned.revision;
        let changes = ran.changes();
        for (reason, message) in ran.feats() {
            self.event(live, EventType::Normal, reason, &message);
        }
        if let Some(message) = ran.newly_waits(&live.status) {
            warn!("{message}");
            self.event(live, EventType::Warning, "PruneWaits", &message);
        }
        if ran.is_good() {
            memory.backoff.reset();
            if !changes.is_empty() {
                info!("{changes}");
                let message = format!("applied revision {revision}: {changes}");
                self.event(live, EventType::Normal, "ReconciliationSucceeded", &message);
            }
            let truce = memory
                .fights
                .next_repair(|_| true, tokio::time::Instant::now());
            return if ran.look_again {
                Some(SECOND_LOOK)
            } else {
                truce
            };
        }
        let again = memory.backoff.next();
        let message = ran.failure();
        warn!("{message}");
        self.event(live, EventType::Warning, "ReconciliationFailed", message);
        Some(again)
    }

    async fn delete(
        &self,
        cluster: &Cluster,
        live: &Arc<LiveSync>,
        namespace_goes: bool,
    ) -> Result<Again, Ended> {
        if !live.held {
            return Ok(None);
        }
        let entry = self.context.entry(&live.name);
        entry.source.set(None);
        entry.last.set(Some(Arc::clone(live)));
        // What cannot be read asks for nothing, and must not stay for ever because of that.
        let nothing = SyncSpec::default();
        let spec = live.spec.as_ref().unwrap_or(&nothing);
        let settings = self.settings(live, spec);
        let settings = settings.or_else(|_| self.settings(live, &nothing))?;
        let members = self.members(cluster, live, spec);
        let access = Access {
            members: members.as_ref().unwrap_or(cluster),
            sync: cluster,
        };
        if !live.takes_members_along() || members.is_err() {
            delete::let_go(access, &settings).await?;
            return Ok(None);
        }
        let mut memory = entry.memory.lock().await;
        match delete::delete(
            access,
            live,
            &settings,
            &mut memory,
            namespace_goes,
            &self.context,
        )
        .await?
        {
            Deletion::Ended(behind) => {
                self.tell_behind(live, &behind, namespace_goes);
                Ok(None)
            }
            Deletion::GoesOn => Ok(Some(LOOK_AT_DELETION)),
        }
    }

    fn tell_behind(&self, live: &LiveSync, behind: &Behind, namespace_goes: bool) {
        let tell = |reason, message: &str| {
            warn!("{message}");
            // Nobody can make an Event there any more.
            if !namespace_goes {
                self.event(live, EventType::Warning, reason, message);
            }
        };
        if !behind.left.is_empty() {
            let message = format!("left behind: {}", behind.left.join("; "));
            tell("PruneFailed", &message);
        }
        if let Some(message) = behind.unapproved() {
            tell("PruneNotApproved", &message);
        }
    }

    fn settings(&self, live: &LiveSync, spec: &SyncSpec) -> Result<Settings, Problem> {
        let said = self.context.configured.said();
        spec::settings(live, spec, &said.defaults, &self.job.give_way)
    }

    /// The Sync is no more: what it leaves behind is let go.
    async fn gone(&self, cluster: &Cluster) -> Again {
        let name = &self.job.key;
        let entry = self.context.known_entry(name)?;
        if let Err(error) = self.is_gone(cluster).await {
            return self.failed(&error).await;
        }
        let released = match entry.last.get() {
            Some(last) => self.release(cluster, &last, &entry).await,
            None => Ok(()),
        };
        if let Err(error) = released {
            return self.failed(&error).await;
        }
        self.context.forget(name);
        None
    }

    async fn release(
        &self,
        cluster: &Cluster,
        last: &LiveSync,
        entry: &Entry,
    ) -> Result<(), ClusterError> {
        let Ok(spec) = &last.spec else { return Ok(()) };
        let Ok(settings) = self.settings(last, spec) else {
            return Ok(());
        };
        let inventory = delete::reach(last, entry.applied.get().as_deref());
        let access = Access {
            members: &self.members(cluster, last, spec)?,
            sync: cluster,
        };
        delete::release(access, &inventory, &settings).await
    }

    /// Asks the server itself: a watch that is in trouble tells of no Sync either.
    async fn is_gone(&self, cluster: &Cluster) -> Result<(), ClusterError> {
        let Name { namespace, name } = &self.job.key;
        let kind = Kind::sync();
        let syncs = match cluster.list_metadata(&kind, Some(namespace), None).await {
            // With their definition, all of them are gone.
            Err(ClusterError::NotFound(_)) => Vec::new(),
            syncs => syncs?,
        };
        if syncs.iter().any(|sync| sync.name == *name) {
            let message = "the watch does not tell of a Sync that is there";
            return Err(ClusterError::Unavailable(message.into()));
        }
        Ok(())
    }

    async fn tell(&self, cluster: &Cluster, live: &LiveSync, problem: &Problem) -> Again {
        let entry = self.context.entry(&live.name);
        let mut memory = entry.memory.lock().await;
        let Problem {
            reason,
            message,
            stalled,
        } = problem;
        warn!(reason, "{message}");
        if let Err(error) = status::tell_problem(cluster, live, problem).await {
            warn!("the status of the Sync is not up to date: {error}");
        }
        self.event(live, EventType::Warning, reason, message);
        // Dependencies and sources tell when there is something new.
        let comes_by_itself =
            *stalled || *reason == "DependencyNotReady" || entry.source.get().is_some();
        let again = memory.backoff.next();
        (!comes_by_itself).then_some(again)
    }

    async fn failed(&self, error: &ClusterError) -> Again {
        if *error == ClusterError::NotOurs {
            return None;
        }
        warn!("{error}");
        let entry = self.context.entry(&self.job.key);
        let mut memory = entry.memory.lock().await;
        Some(memory.backoff.next())
    }

    fn event(&self, live: &LiveSync, type_: EventType, reason: &str, message: &str) {
        let about = live.name.reference(SYNC, &live.uid);
        self.context.recorder.record(&about, type_, reason, message);
    }

    async fn tell_metrics(&self, cluster: &Cluster) {
        let name = &self.job.key;
        let Ok(Some(live)) = depends::read(cluster, name).await else {
            return;
        };
        let ready = live.status.conditions.iter().find(|c| c.type_ == "Ready");
        let info = SyncInfo {
            ready: ready.map_or(ConditionStatus::Unknown, |ready| ready.status),
            suspended: live.spec.as_ref().is_ok_and(|spec| spec.suspend),
            revision: live
                .status
                .last_applied_revision
                .as_deref()
                .unwrap_or_default(),
        };
        self.context
            .metrics
            .set_sync(&name.namespace, &name.name, &info);
    }
}
