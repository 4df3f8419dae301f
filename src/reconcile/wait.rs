//! Waits until what was applied is healthy.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

use crate::api::{GroupKind, ObjectId};
use crate::cluster::{Cluster, ClusterError, Kinds, Place};
use crate::plan::{Health, Step, health};
use crate::render::Target;

/// Between two looks: people do not notice it, and a list a second is nothing to an API server.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// An object that is not healthy, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Unhealthy {
    /// Which object.
    #[serde(flatten)]
    pub id: ObjectId,
    /// Its health.
    #[serde(flatten)]
    pub health: Health,
}

/// How long to wait.
pub struct Waiting {
    /// Not longer than this.
    pub deadline: Instant,
    /// Not after this is cancelled.
    pub give_way: CancellationToken,
    /// Whether to wait for Targets too, whose status a controller writes meanwhile.
    pub on_targets: bool,
}

impl Waiting {
    /// Tells whether objects of a kind are waited for.
    fn is_on(&self, kind: &GroupKind) -> bool {
        has_health(kind) && (self.on_targets || *kind != Target::group_kind())
    }

    /// Tells whether no more is to be waited.
    pub fn is_over(&self) -> bool {
        self.give_way.is_cancelled() || Instant::now() >= self.deadline
    }

    /// Waits a moment; tells whether there was time for it.
    pub async fn a_moment(&self, moment: Duration) -> bool {
        if Instant::now() + moment > self.deadline {
            return false;
        }
        tokio::select! {
            () = sleep(moment) => true,
            () = self.give_way.cancelled() => false,
        }
    }
}

/// Waits until the objects of all these steps are current, one has failed, or the deadline is over; returns those that
/// are not current.
///
/// A look that fails is no reason to give up a run half way: it says why an object is not known to be healthy.
pub async fn wait_until_current(
    cluster: &Cluster,
    kinds: &Kinds,
    steps: &[&Step],
    waiting: &Waiting,
) -> Vec<Unhealthy> {
    let mut places: BTreeMap<(&str, &GroupKind), BTreeSet<Place>> = BTreeMap::new();
    for step in steps.iter().filter(|s| waiting.is_on(&s.id.group_kind)) {
        let kind = (step.api_version.as_str(), &step.id.group_kind);
        places
            .entry(kind)
            .or_default()
            .insert((step.id.namespace.clone(), step.id.name.clone()));
    }
    loop {
        let mut unhealthy = Vec::new();
        for ((version, group_kind), places) in &mut places {
            let Some(kind) = kinds.get(version, &group_kind.kind) else {
                continue;
            };
            let found = cluster.objects_of(kind, places.clone()).await;
            places.retain(|place| {
                let health = match &found {
                    Ok(found) => found
                        .get(place)
                        .map_or_else(|| Health::InProgress("it is not there".into()), health),
                    Err(error) => unread(error),
                };
                let current = health == Health::Current;
                if !current {
                    let (namespace, name) = place.clone();
                    let id = ObjectId {
                        group_kind: (*group_kind).clone(),
                        namespace,
                        name,
                    };
                    unhealthy.push(Unhealthy { id, health });
                }
                !current
            });
        }
        let failed = unhealthy
            .iter()
            .any(|u| matches!(u.health, Health::Failed(_)));
        if unhealthy.is_empty() || failed || !waiting.a_moment(LOOK_AGAIN).await {
            return unhealthy;
        }
    }
}

/// Waits until objects that were deleted are gone, or there is no more time; returns one that is not.
///
/// One of the same name that somebody has made since is another one.
pub async fn wait_until_gone<'a>(
    cluster: &Cluster,
    kinds: &Kinds,
    mut steps: Vec<&'a Step>,
    waiting: &Waiting,
) -> Option<&'a ObjectId> {
    loop {
        let mut left = Vec::new();
        for step in steps {
            let Some(kind) = kinds.any_version(&step.id.group_kind) else {
                continue;
            };
            let namespace = step.id.namespace.as_deref();
            let found = cluster.get_metadata(kind, namespace, &step.id.name).await;
            let is_there = match (found, &step.expected) {
                (Ok(None), _) => false,
                (Ok(Some(live)), Some(expected)) => live.uid == expected.uid,
                (Ok(Some(_)), None) => true,
                (Err(error), _) => error.is_transient(),
            };
            if is_there {
                left.push(step);
            }
        }
        let first = left.first().map(|step| &step.id)?;
        if !waiting.a_moment(LOOK_AGAIN).await {
            return Some(first);
        }
        steps = left;
    }
}

fn unread(error: &ClusterError) -> Health {
    let message = format!("its health cannot be read: {error}");
    if error.is_transient() {
        Health::InProgress(message)
    } else {
        Health::Failed(message)
    }
}

/// Kinds that are as they should be from the moment they exist need no look.
pub(super) fn has_health(kind: &GroupKind) -> bool {
    let plain = [
        "ConfigMap",
        "Secret",
        "Service",
        "ServiceAccount",
        "LimitRange",
        "ResourceQuota",
        "Endpoints",
    ];
    match kind.group.as_str() {
        "rbac.authorization.k8s.io" | "discovery.k8s.io" => false,
        "" => !plain.contains(&kind.kind.as_str()),
        _ => true,
    }
}
