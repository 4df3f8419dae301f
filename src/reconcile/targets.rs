//! The status of Targets after a run: read once what is new, write only what has changed.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::{StreamExt, stream};
use serde::Serialize;
use serde_json::Value;

use super::{Done, Outcome, Settings};
use crate::api::names::{API_VERSION, MANAGED_BY};
use crate::api::target::{EndpointCount, Phase, TargetStatus};
use crate::api::{GroupKind, ObjectId};
use crate::cluster::{Cluster, ClusterError, Kinds};
use crate::plan::{Index, Known, Plan, Step, child_id, deployment_of};
use crate::render::{Deployment, ServiceState, Target, coverage_service, status};

/// A Target after a run, for people and programs.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetReport {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Its status as it now is in the cluster.
    #[serde(flatten)]
    pub status: TargetStatus,
}

impl TargetReport {
    /// Tells whether nothing more is to be waited for.
    pub fn is_settled(&self) -> bool {
        let ready = self.status.conditions.iter().any(|c| {
            c.type_ == "Ready" && c.status == crate::api::condition::ConditionStatus::True
        });
        ready || self.status.phase == Some(Phase::Failed)
    }
}

/// What becomes of Targets depends on these.
pub struct Facts<'a> {
    /// The connection.
    pub cluster: &'a Cluster,
    /// Kinds in use.
    pub kinds: &'a Kinds,
    /// What the source asks for.
    pub index: &'a Index<'a>,
    /// What the run did.
    pub plan: &'a Plan,
    /// What became of it.
    pub done: &'a [Done],
    /// What is asked for.
    pub settings: &'a Settings,
    /// Now, in RFC 3339 with seconds.
    pub now: &'a str,
}

/// Computes the status of every Target that is in the cluster and writes those that have changed.
///
/// `fresh` tells that Deployments are to be read again. Returns the reports, with the errors of failed writes.
///
/// # Errors
/// When the server cannot be asked.
pub async fn report_targets(
    facts: &Facts<'_>,
    targets: &[Target],
    known: &mut Known,
    fresh: bool,
) -> Result<Vec<(TargetReport, Option<ClusterError>)>, ClusterError> {
    let results: BTreeMap<&ObjectId, (&Step, &Done)> = facts
        .plan
        .steps
        .iter()
        .zip(facts.done)
        .map(|(step, done)| (&step.id, (step, done)))
        .collect();
    let present: Vec<Target> = targets
        .iter()
        .filter_map(|target| present(target, &results))
        .collect();
    refresh_deployments(facts, &present, &results, known, fresh).await?;
    let states: Vec<(Target, Option<Deployment>, Intent)> = present
        .into_iter()
        .map(|target| {
            let deployment = deployment_of(&target, facts.index, known);
            let intent = intent(&target, deployment.as_ref(), &results);
            (target, deployment, intent)
        })
        .collect();
    let applied = states
        .iter()
        .filter(|(.., intent)| matches!(intent, Intent::Applied))
        .map(|(target, ..)| target);
    let counts = endpoint_counts(facts, applied).await?;
    let writes = states.into_iter().map(|(target, deployment, intent)| {
        let service = match intent {
            Intent::Applied => {
                let count = |counts: &BTreeMap<ObjectId, EndpointCount>| {
                    counts.get(&child_id(&target)).copied().unwrap_or_default()
                };
                ServiceState::Applied(counts.as_ref().map(count))
            }
            Intent::Other(state) => state,
        };
        let status = status(
            &target,
            deployment.as_ref(),
            &service,
            &facts.settings.cluster_domain,
            facts.now,
        );
        write(facts, target, status)
    });
    Ok(stream::iter(writes)
        .buffered(facts.settings.concurrency.max(1))
        .collect()
        .await)
}

enum Intent {
    Applied,
    Other(ServiceState),
}

/// The Target with its live identity, if it is in the cluster and as the source wants it.
fn present(target: &Target, results: &BTreeMap<&ObjectId, (&Step, &Done)>) -> Option<Target> {
    let mut target = target.clone();
    if let Some((_, done)) = results.get(&target.id()) {
        if !done.outcome.is_good() || done.outcome == Outcome::Deleted {
            return None;
        }
        if let Some(live) = &done.live {
            let known = target.live.get_or_insert_default();
            known.uid = live.uid.clone();
            known.generation = live.generation;
        }
    }
    target
        .live
        .as_ref()
        .filter(|live| !live.terminating && !live.uid.is_empty())?;
    Some(target)
}

fn intent(
    target: &Target,
    deployment: Option<&Deployment>,
    results: &BTreeMap<&ObjectId, (&Step, &Done)>,
) -> Intent {
    let child = results
        .get(&child_id(target))
        .filter(|(step, _)| step.owner.as_ref() == Some(&target.id()));
    let failed = child.filter(|(_, done)| !done.outcome.is_good());
    match (coverage_service(target, deployment), failed) {
        (Ok(_), None) => Intent::Applied,
        (Err(no), None) => Intent::Other(ServiceState::Absent(no)),
        (_, Some((_, done))) => {
            let reason = match done.outcome {
                Outcome::Refused => "ServiceNotOurs",
                Outcome::Skipped => "DependencyFailed",
                _ => "ServiceFailed",
            };
            Intent::Other(ServiceState::Failed(reason, done.message.clone()))
        }
    }
}

async fn refresh_deployments(
    facts: &Facts<'_>,
    targets: &[Target],
    results: &BTreeMap<&ObjectId, (&Step, &Done)>,
    known: &mut Known,
    fresh: bool,
) -> Result<(), ClusterError> {
    let written = |id: &ObjectId| results.get(id).is_some_and(|(_, done)| done.live.is_some());
    let places: BTreeSet<_> = targets
        .iter()
        .filter(|target| target.spec.agents.coverage.enabled)
        .map(Target::deployment_id)
        .filter(|id| fresh || written(id))
        .map(|id| (id.namespace, id.name))
        .collect();
    let Some(kind) = facts
        .kinds
        .get("apps/v1", "Deployment")
        .filter(|_| !places.is_empty())
    else {
        return Ok(());
    };
    for ((namespace, name), object) in facts.cluster.objects_of(kind, places).await? {
        let id = ObjectId {
            group_kind: GroupKind::new("apps", "Deployment"),
            namespace,
            name,
        };
        known
            .deployments
            .extend(Deployment::from_live(&object).map(|d| (id, d)));
    }
    Ok(())
}

/// Counts addresses in the EndpointSlices of our Services. Slices carry their Service's labels (since v1.20), so that
/// one list finds just those. `None` when we may not, or there are none to count.
async fn endpoint_counts(
    facts: &Facts<'_>,
    targets: impl Iterator<Item = &Target>,
) -> Result<Option<BTreeMap<ObjectId, EndpointCount>>, ClusterError> {
    let services: BTreeSet<ObjectId> = targets.map(child_id).collect();
    if services.is_empty() {
        return Ok(None);
    }
    let versions = ["discovery.k8s.io/v1", "discovery.k8s.io/v1beta1"].map(str::to_owned);
    let kinds = facts.cluster.kinds(&versions.clone().into()).await?;
    let Some(kind) = versions
        .iter()
        .find_map(|version| kinds.get(version, "EndpointSlice"))
    else {
        return Ok(None);
    };
    let namespaces = services
        .iter()
        .filter_map(|id| id.namespace.clone())
        .collect();
    let selector = format!("{}={}", MANAGED_BY.0, MANAGED_BY.1);
    match facts
        .cluster
        .objects_in(kind, &namespaces, Some(&selector))
        .await
    {
        Ok(slices) => Ok(Some(count_endpoints(&slices))),
        Err(ClusterError::Forbidden(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Counts pods, not addresses: one pod may have an address of each family, in several slices.
fn count_endpoints(slices: &[Value]) -> BTreeMap<ObjectId, EndpointCount> {
    let mut pods: BTreeMap<ObjectId, BTreeMap<String, bool>> = BTreeMap::new();
    for slice in slices {
        let text = |pointer| slice.pointer(pointer).and_then(Value::as_str);
        let Some(name) = text("/metadata/labels/kubernetes.io~1service-name") else {
            continue;
        };
        let id = ObjectId {
            group_kind: GroupKind::new("", "Service"),
            namespace: text("/metadata/namespace").map(str::to_owned),
            name: name.to_owned(),
        };
        let pods = pods.entry(id).or_default();
        for endpoint in slice
            .get("endpoints")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
        {
            let text = |pointer| endpoint.pointer(pointer).and_then(Value::as_str);
            let Some(pod) = text("/targetRef/uid").or_else(|| text("/addresses/0")) else {
                continue;
            };
            let is = |condition: &str| endpoint.get("conditions")?.get(condition)?.as_bool();
            // `ready` is always true where not-ready addresses are published; `serving` (since v1.22) is the truth.
            let ready = is("serving").or_else(|| is("ready")).unwrap_or(true);
            pods.entry(pod.to_owned())
                .and_modify(|r| *r |= ready)
                .or_insert(ready);
        }
    }
    let count = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    pods.into_iter()
        .map(|(id, pods)| {
            let ready = pods.values().filter(|ready| **ready).count();
            (
                id,
                EndpointCount {
                    ready: count(ready),
                    total: count(pods.len()),
                },
            )
        })
        .collect()
}

async fn write(
    facts: &Facts<'_>,
    target: Target,
    status: TargetStatus,
) -> (TargetReport, Option<ClusterError>) {
    let same = target
        .live
        .as_ref()
        .is_some_and(|live| live.status == status);
    let error = match facts.kinds.get(API_VERSION, "ClosureJVMTarget") {
        Some(kind) if !same => {
            let body = serde_json::to_value(&status).unwrap_or_default();
            facts
                .cluster
                .apply_status(kind, &target.namespace, &target.name, &body)
                .await
                .err()
        }
        _ => None,
    };
    (
        TargetReport {
            namespace: target.namespace,
            name: target.name,
            status,
        },
        error,
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn c61_pods_are_counted_once_over_slices_and_families() {
        let slice = |endpoints: Value| {
            json!({
                "metadata": { "namespace": "n", "labels": { "kubernetes.io/service-name": "s" } },
                "endpoints": endpoints,
            })
        };
        let pod = |uid: &str, address: &str, conditions: Value| json!({ "addresses": [address], "conditions": conditions, "targetRef": { "uid": uid } });
        let slices = [
            slice(json!([
                pod("a", "10.0.0.1", json!({ "ready": true })),
                pod("b", "10.0.0.2", json!({ "ready": true, "serving": false }))
            ])),
            slice(json!([pod("a", "fd00::1", json!({ "ready": true }))])),
            slice(json!(null)),
        ];
        let counts: Vec<_> = count_endpoints(&slices).into_values().collect();
        assert_eq!(counts, [EndpointCount { ready: 1, total: 2 }]);
    }
}
