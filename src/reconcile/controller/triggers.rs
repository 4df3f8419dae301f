//! What changes in the cluster, and which Sync or Target has to be looked at for it.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use tokio::sync::mpsc;

use super::configured::Said;
use super::context::{Context, Why};
use super::name::Name;
use crate::api::names::{GROUP, REQUESTED_AT, SYNC, TARGET};
use crate::api::{GroupKind, ObjectId};
use crate::cluster::{Change, Changes, ClusterError, Kind};
use crate::plan::Live;
use crate::reconcile::applyset_id;
use crate::render::{Target, service_name};
use crate::web::HookTarget;

/// Label of an EndpointSlice: the Service it belongs to.
const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// Hands on all changes, for ever. When the replicas share the work anew, everything is looked at.
pub async fn watch(context: Arc<Context>, mut changes: Changes) {
    let mut shares = context.shards.changes();
    let asked = Arc::clone(&context);
    let mut triggers = Triggers {
        context,
        sets: HashMap::new(),
        targets: Targets::default(),
    };
    loop {
        tokio::select! {
            changes = changes.next() => {
                for change in changes {
                    triggers.take(&change).await;
                }
            }
            Ok(()) = shares.changed() => triggers.look_at_everything(),
            () = asked.look_at_everything.notified() => triggers.look_at_everything(),
        }
    }
}

struct Triggers {
    context: Arc<Context>,
    /// Syncs by the ids of their sets.
    sets: HashMap<String, Name>,
    targets: Targets,
}

impl Triggers {
    async fn take(&mut self, change: &Change) {
        let Change { id, before, after } = change;
        let (before, after) = (before.as_deref(), after.as_deref());
        let GroupKind { group, kind } = &id.group_kind;
        match (group.as_str(), kind.as_str()) {
            (GROUP, SYNC) => self.sync(id, before, after),
            (GROUP, TARGET) => self.target(id, after).await,
            ("", "Service") => self.service(id, before.into_iter().chain(after)),
            ("discovery.k8s.io", "EndpointSlice") => self.slice(id, before.or(after)),
            ("apps", "Deployment") => {
                let referring = self.targets.by_deployment.get(&place(id));
                self.look_at_targets(referring);
            }
            _ => {}
        }
        self.member(id, before, after);
    }

    fn sync(&mut self, id: &ObjectId, before: Option<&Live>, after: Option<&Live>) {
        let Some(name) = Name::of(id) else { return };
        let set = applyset_id(&name.namespace, &name.name);
        match after {
            Some(_) => drop(self.sets.insert(set, name.clone())),
            None => drop(self.sets.remove(&set)),
        }
        let why = if is_news(before, after) {
            Why::NEWS
        } else {
            Why::LOOK
        };
        self.context.wake_dependants(&name);
        self.context.syncs.add(name, why);
    }

    async fn target(&mut self, id: &ObjectId, after: Option<&Live>) {
        let Some(name) = Name::of(id) else { return };
        self.targets.forget(&name);
        if after.is_some() {
            let found = self
                .context
                .cluster
                .target(&name.namespace, &name.name)
                .await;
            if let Ok(Some(seen)) = found
                && let Ok(target) = &seen.target
            {
                self.targets.note(&name, target);
            }
        }
        self.context.targets.add(name, Why::LOOK);
    }

    /// A Service of a Target, by its owner; also one that it has lost.
    fn service<'a>(&self, id: &ObjectId, states: impl Iterator<Item = &'a Live>) {
        let owners = states
            .filter_map(Live::controller)
            .filter(|owner| owner.kind == TARGET);
        let names: BTreeSet<&str> = owners.map(|owner| owner.name.as_str()).collect();
        for name in names {
            if let Some(namespace) = id.namespace.clone() {
                let name = name.to_owned();
                self.context
                    .targets
                    .add(Name { namespace, name }, Why::LOOK);
            }
        }
    }

    fn slice(&self, id: &ObjectId, live: Option<&Live>) {
        let service = live.and_then(|live| live.labels.get(SERVICE_NAME));
        if let (Some(service), Some(namespace)) = (service, &id.namespace) {
            let place = (namespace.clone(), service.clone());
            self.look_at_targets(self.targets.by_service.get(&place));
        }
    }

    /// A member of a set is looked at only when it is not as it was applied.
    fn member(&self, id: &ObjectId, before: Option<&Live>, after: Option<&Live>) {
        let sets = before.into_iter().chain(after).filter_map(Live::applyset);
        for set in sets.collect::<BTreeSet<_>>() {
            let Some(name) = self.sets.get(set) else {
                continue;
            };
            let applied = self
                .context
                .known_entry(name)
                .and_then(|entry| entry.applied.get());
            if applied.is_some_and(|applied| applied.is_disturbed(id, before, after)) {
                self.context.syncs.add(name.clone(), Why::LOOK);
            }
        }
    }

    fn look_at_targets(&self, names: Option<&BTreeSet<Name>>) {
        for name in names.into_iter().flatten() {
            self.context.targets.add(name.clone(), Why::LOOK);
        }
    }

    fn look_at_everything(&self) {
        let members = self.context.shards.members();
        self.context.metrics.set_lease_members(members.len());
        tracing::info!("the work is shared by {}", members.join(", "));
        for name in self.sets.values() {
            self.context.syncs.add(name.clone(), Why::NEWS);
        }
        for name in self.targets.known.keys() {
            self.context.targets.add(name.clone(), Why::LOOK);
        }
    }
}

/// Tells whether a Sync asks for something new, and does not only have another status.
fn is_news(before: Option<&Live>, after: Option<&Live>) -> bool {
    let asks = |live: &Live| {
        let request = live.annotations.get(REQUESTED_AT).cloned();
        (
            live.uid.clone(),
            live.generation,
            request,
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
    fn note(&mut self, name: &Name, target: &Target) {
        let place = |what: String| (name.namespace.clone(), what);
        let deployment = place(target.spec.deployment_ref.name.clone());
        let service = place(service_name(&name.name));
        let note = |of: &mut HashMap<Place, BTreeSet<Name>>, place: &Place| {
            of.entry(place.clone()).or_default().insert(name.clone());
        };
        note(&mut self.by_deployment, &deployment);
        note(&mut self.by_service, &service);
        self.known.insert(name.clone(), (deployment, service));
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

/// Starts the watches on Syncs and Targets, which tell of all there are.
///
/// # Errors
/// When we may not watch them.
pub async fn begin(context: &Context) -> Result<(), ClusterError> {
    let namespaces = &context.configured.said().namespaces;
    context.cluster.syncs(Some(namespaces)).await?;
    let kind = Kind::target();
    let targets = context.cluster.targets_in(&kind, namespaces);
    targets.await.map(drop)
}

/// Takes new readings of the configuration, and what webhooks say, for ever.
pub async fn listen(
    context: Arc<Context>,
    mut readings: mpsc::Receiver<Said>,
    mut hooks: mpsc::Receiver<HookTarget>,
) {
    for name in context.configured.said().syncs.keys() {
        context.syncs.add(name.clone(), Why::NEWS);
    }
    loop {
        tokio::select! {
            Some(said) = readings.recv() => take_reading(&context, said),
            Some(target) = hooks.recv() => look_at_sources(&context, &target),
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
        context.syncs.add(name, Why::NEWS);
    }
    if all {
        context.look_at_everything.notify_one();
    }
}

fn look_at_sources(context: &Context, target: &HookTarget) {
    let asked = |name: &Name| match target {
        HookTarget::All => true,
        HookTarget::One {
            namespace,
            name: own,
        } => name.namespace == *namespace && name.name == *own,
    };
    for name in context.known_syncs().iter().filter(|name| asked(name)) {
        let source = context
            .known_entry(name)
            .and_then(|entry| entry.source.get());
        if let Some(source) = source {
            source.look_soon();
        }
    }
}
