//! How many pods stand behind the Services of Targets, from their EndpointSlices.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::api::names::MANAGED_BY;
use crate::api::target::EndpointCount;
use crate::api::{GroupKind, ObjectId};
use crate::cluster::{Cluster, ClusterError};
use crate::plan::child_id;
use crate::render::Target;

/// Counts addresses in the EndpointSlices of our Services. Slices carry their Service's labels (since v1.20), so that
/// one list finds just those. `None` when we may not, or there are none to count.
pub(super) async fn endpoint_counts(
    cluster: &Cluster,
    targets: impl Iterator<Item = &Target>,
) -> Result<Option<BTreeMap<ObjectId, EndpointCount>>, ClusterError> {
    let services: BTreeSet<ObjectId> = targets.map(child_id).collect();
    if services.is_empty() {
        return Ok(None);
    }
    let versions = ["discovery.k8s.io/v1", "discovery.k8s.io/v1beta1"].map(str::to_owned);
    let kinds = cluster.kinds(&versions.clone().into()).await?;
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
    match cluster.objects_in(kind, &namespaces, Some(&selector)).await {
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
