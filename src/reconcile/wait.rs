//! Waits until what was applied is healthy.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde::Serialize;
use tokio::time::{Instant, sleep};

use crate::api::{GroupKind, ObjectId};
use crate::cluster::{Cluster, ClusterError, Kinds, Place};
use crate::plan::{Health, health};
use crate::render::{Desired, Target};

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

/// Waits until all of these objects are current, one has failed, or the deadline is over; returns those that are not.
///
/// # Errors
/// When the server cannot be asked.
pub async fn wait_until_current(
    cluster: &Cluster,
    kinds: &Kinds,
    objects: &[&Desired],
    deadline: Instant,
) -> Result<Vec<Unhealthy>, ClusterError> {
    let mut places: BTreeMap<(&str, &GroupKind), BTreeSet<Place>> = BTreeMap::new();
    for d in objects.iter().filter(|d| has_health(&d.id.group_kind)) {
        let kind = (d.api_version.as_str(), &d.id.group_kind);
        places
            .entry(kind)
            .or_default()
            .insert((d.id.namespace.clone(), d.id.name.clone()));
    }
    loop {
        let mut unhealthy = Vec::new();
        for ((version, group_kind), places) in &mut places {
            let Some(kind) = kinds.get(version, &group_kind.kind) else {
                continue;
            };
            let found = cluster.objects_of(kind, places.clone()).await?;
            places.retain(|place| {
                let health = found
                    .get(place)
                    .map_or_else(|| Health::InProgress("it is not there".into()), health);
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
            return Ok(unhealthy);
        }
        sleep(LOOK_AGAIN).await;
    }
}

/// Kinds that are as they should be from the moment they exist need no look. Targets are judged by their own status.
fn has_health(kind: &GroupKind) -> bool {
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
        && kind.group != "rbac.authorization.k8s.io"
        && !(kind.group.is_empty() && plain.contains(&kind.kind.as_str()))
}
