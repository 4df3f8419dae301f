//! Waits until what was applied is healthy.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep};

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

/// Waits until the objects of all these steps are current, one has failed, or the deadline is over; returns those that
/// are not current.
///
/// A look that fails is no reason to give up a run half way: it says why an object is not known to be healthy.
pub async fn wait_until_current(
    cluster: &Cluster,
    kinds: &Kinds,
    steps: &[&Step],
    deadline: Instant,
) -> Vec<Unhealthy> {
    let mut places: BTreeMap<(&str, &GroupKind), BTreeSet<Place>> = BTreeMap::new();
    for step in steps.iter().filter(|s| has_health(&s.id.group_kind)) {
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
        if unhealthy.is_empty() || failed || Instant::now() + LOOK_AGAIN > deadline {
            return unhealthy;
        }
        sleep(LOOK_AGAIN).await;
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

/// Kinds that are as they should be from the moment they exist need no look. Targets are judged by their own status.
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
    *kind != Target::group_kind()
        && !matches!(
            kind.group.as_str(),
            "rbac.authorization.k8s.io" | "discovery.k8s.io"
        )
        && !(kind.group.is_empty() && plain.contains(&kind.kind.as_str()))
}
