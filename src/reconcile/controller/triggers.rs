//! What changes in the cluster, and which Sync, Target or Campaign has to be looked at for it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::mpsc;
use tokio::time::Instant;

use super::configured::Said;
use super::context::Context;
use super::name::Name;
use super::queue::Why;
use super::referring::Referring;
use crate::api::names::{APPROVE_PRUNE, CAMPAIGN, GROUP, REQUESTED_AT, SYNC, TARGET};
use crate::api::{GroupKind, ObjectId};
use crate::cluster::{Change, Changes, ClusterError, Kind, SERVICE_NAME, Watches};
use crate::metrics::WatchState;
use crate::plan::{AgentRecord, Live};
use crate::render::{Target, service_name};
use crate::web::{Gate, HookTarget};

/// Between two looks at whether all watches are synced, for readiness.
const LOOK_AT_WATCHES: Duration = Duration::from_millis(200);

/// How often everything is looked at although nothing has changed. Answered from watches, that takes no request; watches
/// that nothing was read from in two of these rounds are nobody's any more.
const ROUND: Duration = Duration::from_secs(30 * 60);

/// Before the first lists are tried again.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// Hands on all that there is and then all changes, for ever. When the replicas share the work anew, everything is looked
/// at. `ready` is open while all that is watched is known.
pub async fn watch(
    context: Arc<Context>,
    mut changes: Changes,
    mut written: mpsc::UnboundedReceiver<ObjectId>,
    ready: Gate,
) {
    let mut shares = context.shards.changes();
    let mut looks = tokio::time::interval(LOOK_AT_WATCHES);
    let mut rounds = tokio::time::interval_at(Instant::now() + ROUND, ROUND);
    let mut triggers = Triggers {
        context: Arc::clone(&context),
        targets: Targets::default(),
        campaigns: Referring::default(),
    };
    while let Err(error) = triggers.begin().await {
        tell_watches(&context);
        ready.shut(error.to_string());
        tokio::time::sleep(TRY_AGAIN).await;
    }
    loop {
        tokio::select! {
            changes = changes.next() => {
                for change in changes {
                    triggers.take(&change).await;
                }
            }
            Some(id) = written.recv() => triggers.note_written(&id).await,
            Ok(()) = shares.changed() => triggers.look_at_everything(Why::Look).await,
            () = context.look_at_everything.notified() => triggers.look_at_everything(Why::News).await,
            _ = rounds.tick() => {
                context.cluster.stop_unused(2 * ROUND);
                triggers.look_at_everything(Why::Look).await;
            }
            _ = looks.tick() => {
                tell_watches(&context);
                match context.cluster.synced() {
                    Ok(()) => ready.open(),
                    Err(why) => ready.shut(why.join("; ")),
                }
            }
        }
    }
}

fn tell_watches(context: &Context) {
    let metrics = &context.metrics;
    let Watches {
        syncing,
        synced,
        failing,
        relisted,
    } = context.cluster.watches();
    metrics.set_watches(WatchState::Syncing, syncing);
    metrics.set_watches(WatchState::Synced, synced);
    metrics.set_watches(WatchState::Failing, failing);
    metrics.set_watch_restarts(relisted);
}

struct Triggers {
    context: Arc<Context>,
    targets: Targets,
    campaigns: Referring,
}

impl Triggers {
    /// Starts the watches on Syncs, Targets and Campaigns, and looks at all there are: of those, no change tells.
    async fn begin(&mut self) -> Result<(), ClusterError> {
        let cluster = &self.context.cluster;
        let targets = cluster.targets(&Kind::target()).await?;
        for target in targets.iter().filter_map(|seen| seen.target.as_ref().ok()) {
            self.targets.note(target);
        }
        for campaign in cluster.campaigns().await? {
            self.campaigns.note(&campaign);
        }
        for name in cluster
            .syncs()
            .await?
            .iter()
            .filter_map(|sync| Name::of_object(sync))
        {
            self.context.known.note(name, true);
        }
        self.look_at_everything(Why::Look).await;
        Ok(())
    }

    /// What units write themselves is told by no change, but may be another unit's business.
    async fn note_written(&mut self, id: &ObjectId) {
        let GroupKind { group, kind } = &id.group_kind;
        match (group.as_str(), kind.as_str(), Name::of(id)) {
            (GROUP, SYNC, Some(name)) => {
                let is_there = self.context.cluster.sync(&name.namespace, &name.name).await;
                let is_there = is_there.is_ok_and(|sync| sync.is_some());
                self.context.known.note(name.clone(), is_there);
                self.context.syncs.add(name, Why::News);
            }
            (GROUP, TARGET, Some(name)) => self.target(name).await,
            (GROUP, CAMPAIGN, Some(name)) => self.campaign(name, Why::News).await,
            ("apps", "Deployment", _) => self.deployment(id),
            _ => {}
        }
    }

    async fn take(&mut self, change: &Change) {
        let Change { id, before, after } = change;
        tracing::trace!(object = %id, gone = after.is_none(), "it has changed");
        let (before, after) = (before.as_deref(), after.as_deref());
        let GroupKind { group, kind } = &id.group_kind;
        match (group.as_str(), kind.as_str()) {
            (GROUP, SYNC) => self.sync(id, before, after),
            (GROUP, TARGET) => {
                if let Some(name) = Name::of(id) {
                    self.target(name).await;
                }
            }
            (GROUP, CAMPAIGN) => {
                if let Some(name) = Name::of(id) {
                    let is_news = is_news(before, after);
                    let why = if is_news { Why::News } else { Why::Look };
                    self.campaign(name, why).await;
                }
            }
            ("", "Service") | ("networking.k8s.io", "NetworkPolicy") => {
                self.child(id, before.into_iter().chain(after));
            }
            ("discovery.k8s.io", "EndpointSlice") => self.slice(id, before.or(after)),
            ("apps", "Deployment") => {
                self.deployment(id);
                self.carrier(before.into_iter().chain(after));
            }
            _ => {}
        }
        self.member(id, before, after);
    }

    fn sync(&self, id: &ObjectId, before: Option<&Live>, after: Option<&Live>) {
        let Some(name) = Name::of(id) else { return };
        let why = if is_news(before, after) {
            Why::News
        } else {
            Why::Look
        };
        self.context.known.note(name.clone(), after.is_some());
        self.context.wake_dependants(&name);
        self.context.syncs.add(name, why);
    }

    async fn target(&mut self, name: Name) {
        // Which Target a Deployment carries the agent for is a matter of all that refer to it.
        self.look_at_targets(self.targets.beside(&name));
        self.targets.forget(&name);
        let cluster = &self.context.cluster;
        let found = cluster.target(&name.namespace, &name.name).await;
        if let Ok(Some(seen)) = found
            && let Ok(target) = &seen.target
        {
            self.targets.note(target);
            self.reverted(target);
        }
        self.look_at_campaigns(&name);
        self.look_at_targets(self.targets.beside(&name));
        self.context.targets.add(name, Why::Look);
    }

    async fn campaign(&mut self, name: Name, why: Why) {
        self.campaigns.forget(&name);
        let cluster = &self.context.cluster;
        let found = cluster.campaign(&name.namespace, &name.name).await;
        if let Ok(Some(campaign)) = found {
            self.campaigns.note(&campaign);
        }
        self.context.campaigns.add(name, why);
    }

    /// Those that wait for the Target or its pods may go on; others see that their time has not come.
    fn look_at_campaigns(&self, target: &Name) {
        for name in self.campaigns.to(target) {
            self.context.campaigns.add(name.clone(), Why::Look);
        }
    }

    /// The Sync that has put an agent into a Deployment takes it out again when the rollout has failed with it.
    fn reverted(&self, target: &Target) {
        let live = target.live.as_ref().filter(|_| target.reverted().is_some());
        let set = live.and_then(|live| live.applyset.as_ref());
        if let Some((sync, _)) = set.and_then(|set| self.context.entry_of_set(set)) {
            self.context.syncs.add(sync, Why::Look);
        }
    }

    fn deployment(&self, id: &ObjectId) {
        let referring = self.targets.by_deployment.get(&place(id));
        self.look_at_targets(referring);
    }

    /// The Target that a Deployment says it carries the agent for, which may be gone.
    fn carrier<'a>(&self, states: impl Iterator<Item = &'a Live>) {
        let names: BTreeSet<Name> = states.filter_map(recorded_target).collect();
        self.look_at_targets(Some(&names));
    }

    /// What a Target has brought about, by its owner; also one that it has lost.
    fn child<'a>(&self, id: &ObjectId, states: impl Iterator<Item = &'a Live>) {
        let owners = states
            .filter_map(Live::controller)
            .filter(|owner| owner.kind == TARGET);
        let names: BTreeSet<&str> = owners.map(|owner| owner.name.as_str()).collect();
        for name in names {
            if let Some(namespace) = id.namespace.clone() {
                let name = name.to_owned();
                self.context
                    .targets
                    .add(Name { namespace, name }, Why::Look);
            }
        }
    }

    fn slice(&self, id: &ObjectId, live: Option<&Live>) {
        let service = live.and_then(|live| live.labels.get(SERVICE_NAME));
        if let (Some(service), Some(namespace)) = (service, &id.namespace) {
            let place = (namespace.clone(), service.to_owned());
            let targets = self.targets.by_service.get(&place);
            self.look_at_targets(targets);
            for target in targets.into_iter().flatten() {
                self.look_at_campaigns(target);
            }
        }
    }

    /// A member of a set is looked at only when it is not as it was applied.
    fn member(&self, id: &ObjectId, before: Option<&Live>, after: Option<&Live>) {
        let sets = before.into_iter().chain(after).filter_map(Live::applyset);
        for set in sets.collect::<BTreeSet<_>>() {
            let Some((name, entry)) = self.context.entry_of_set(set) else {
                continue;
            };
            match entry.applied.get() {
                Some(applied) if applied.objects.contains_key(id) => {
                    if applied.is_disturbed(id, before, after) {
                        self.context.syncs.add(name, Why::Look);
                    }
                }
                _ => entry.missed.store(true, Ordering::Release),
            }
        }
    }

    fn look_at_targets(&self, names: Option<&BTreeSet<Name>>) {
        for name in names.into_iter().flatten() {
            self.context.targets.add(name.clone(), Why::Look);
        }
    }

    /// Runs that only wait give way when there is something new for all of them.
    async fn look_at_everything(&self, why: Why) {
        let context = &self.context;
        let members = context.shards.members();
        context.metrics.set_lease_members(members.len());
        tracing::info!(
            "everything is looked at; the replicas are {}",
            members.join(", ")
        );
        // They are watched, and known.
        let syncs = context.cluster.syncs().await.unwrap_or_default();
        let named = syncs.iter().filter_map(|sync| Name::of_object(sync));
        for name in named.chain(context.configured.said().syncs.keys().cloned()) {
            context.syncs.add(name, why);
        }
        // Also those that cannot be read: that is told of them.
        let targets = context.cluster.targets(&Kind::target()).await;
        for seen in targets.unwrap_or_default() {
            if let Some(namespace) = seen.metadata.namespace.clone() {
                let name = seen.metadata.name.clone();
                context.targets.add(Name { namespace, name }, Why::Look);
            }
        }
        let campaigns = context.cluster.campaigns().await.unwrap_or_default();
        for name in campaigns.iter().filter_map(|it| Name::of_object(it)) {
            context.campaigns.add(name, Why::Look);
        }
        // And those that were deleted while nobody looked. Where not all Deployments may be seen, those of Targets are all
        // the same.
        let namespaces = &context.configured.said().namespaces;
        let carriers = context.cluster.carriers_in(namespaces).await;
        for live in carriers.unwrap_or_default() {
            if let Some(name) = recorded_target(&live) {
                context.targets.add(name, Why::Look);
            }
        }
    }
}

/// Names the Target that a Deployment says it carries the agent for.
fn recorded_target(live: &Live) -> Option<Name> {
    let record = AgentRecord::of(live)?;
    Some(Name {
        namespace: live.namespace.clone()?,
        name: record.target.name,
    })
}

/// Tells whether a Sync asks for something new, and does not only have another status.
fn is_news(before: Option<&Live>, after: Option<&Live>) -> bool {
    let asks = |live: &Live| {
        let says = |key: &str| live.annotations.get(key).map(str::to_owned);
        (
            live.uid.clone(),
            live.generation,
            says(REQUESTED_AT),
            says(APPROVE_PRUNE),
            live.deletion_timestamp.clone(),
        )
    };
    before.map(asks) != after.map(asks)
}

fn place(id: &ObjectId) -> Place {
    (id.namespace.clone().unwrap_or_default(), id.name.clone())
}

/// Namespace and name.
type Place = (String, String);

/// What Targets refer to.
#[derive(Default)]
struct Targets {
    /// Each Target's Deployment and Service.
    known: HashMap<Name, (Place, Place)>,
    by_deployment: HashMap<Place, BTreeSet<Name>>,
    by_service: HashMap<Place, BTreeSet<Name>>,
}

impl Targets {
    fn note(&mut self, target: &Target) {
        let name = Name {
            namespace: target.namespace.clone(),
            name: target.name.clone(),
        };
        let place = |what: String| (name.namespace.clone(), what);
        let deployment = place(target.spec.deployment_ref.name.clone());
        let service = place(service_name(&name.name));
        let note = |of: &mut HashMap<Place, BTreeSet<Name>>, place: &Place| {
            of.entry(place.clone()).or_default().insert(name.clone());
        };
        note(&mut self.by_deployment, &deployment);
        note(&mut self.by_service, &service);
        self.known.insert(name, (deployment, service));
    }

    /// The Targets of a Target's Deployment.
    fn beside(&self, name: &Name) -> Option<&BTreeSet<Name>> {
        let (deployment, _) = self.known.get(name)?;
        self.by_deployment.get(deployment)
    }

    fn forget(&mut self, name: &Name) {
        let Some((deployment, service)) = self.known.remove(name) else {
            return;
        };
        for (of, place) in [
            (&mut self.by_deployment, deployment),
            (&mut self.by_service, service),
        ] {
            if let Some(names) = of.get_mut(&place) {
                names.remove(name);
                if names.is_empty() {
                    of.remove(&place);
                }
            }
        }
    }
}

/// Takes new readings of the configuration, and what webhooks say, for ever.
pub async fn listen(
    context: Arc<Context>,
    mut readings: mpsc::Receiver<Said>,
    mut hooks: mpsc::Receiver<HookTarget>,
) {
    for name in context.configured.said().syncs.keys() {
        context.syncs.add(name.clone(), Why::News);
    }
    loop {
        tokio::select! {
            Some(said) = readings.recv() => take_reading(&context, said),
            Some(target) = hooks.recv() => look_at_sources(&context, &target).await,
            else => std::future::pending().await,
        }
    }
}

fn take_reading(context: &Context, said: Said) {
    let before = context.configured.said();
    let names: BTreeSet<Name> = said.syncs.keys().chain(&said.left).cloned().collect();
    let changed = |name: &Name| said.syncs.get(name) != before.syncs.get(name);
    let changed: Vec<Name> = names.into_iter().filter(changed).collect();
    let all = before.defaults != said.defaults || before.namespaces != said.namespaces;
    context.configured.set(said);
    for name in changed {
        context.syncs.add(name, Why::News);
    }
    if all {
        context.look_at_everything.notify_one();
    }
}

/// Looks at the sources that a webhook asks for. Of Syncs that another replica looks after, that one is asked in the way
/// people ask (`reconcile.fluxcd.io/requestedAt`).
async fn look_at_sources(context: &Context, target: &HookTarget) {
    let asked = |name: &Name| match target {
        HookTarget::All => true,
        HookTarget::One {
            namespace,
            name: own,
        } => name.namespace == *namespace && name.name == *own,
    };
    let syncs = context.cluster.syncs().await.unwrap_or_default();
    for sync in syncs {
        let reads_git = sync.pointer("/spec/source/git").is_some();
        let Some(name) = Name::of_object(&sync).filter(|name| reads_git && asked(name)) else {
            continue;
        };
        let entry = context.known_entry(&name);
        if let Some(source) = entry.and_then(|entry| entry.source.get()) {
            source.look_soon();
        } else if context.configured.covers(&name.namespace) && !context.looks_after_sync(&name) {
            // To the nanosecond: a second request in one second is another one.
            let now = Timestamp::now().to_string();
            let asked = context
                .cluster
                .request_run(&name.namespace, &name.name, &now);
            if let Err(error) = asked.await {
                tracing::warn!(sync = %name, "its replica cannot be asked for a look: {error}");
            }
        }
    }
}
