//! How many pods stand behind the Services of Targets, from their EndpointSlices.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::api::target::EndpointCount;
use crate::api::{GroupKind, ObjectId};
use crate::cluster::{Cluster, ClusterError, Place, Slice};
use crate::plan::child_id;
use crate::render::Target;

/// Counts pods in the EndpointSlices of our Services. `None` when we may not, or there are none to count.
pub(super) async fn endpoint_counts(
    cluster: &Cluster,
    targets: impl Iterator<Item = &Target>,
) -> Result<Option<BTreeMap<ObjectId, EndpointCount>>, ClusterError> {
    let services = targets.map(child_id).map(|id| (id.namespace, id.name));
    let services: BTreeSet<Place> = services.collect();
    if services.is_empty() {
        return Ok(None);
    }
    let Some(kind) = cluster.slice_kind().await? else {
        return Ok(None);
    };
    match cluster.slices_of(&kind, &services).await {
        Ok(slices) => Ok(Some(count_endpoints(&slices))),
        Err(ClusterError::Forbidden(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Counts pods, not addresses: one pod may have an address of each family, in several slices.
fn count_endpoints(slices: &[Arc<Slice>]) -> BTreeMap<ObjectId, EndpointCount> {
    let mut pods: BTreeMap<ObjectId, BTreeMap<&str, bool>> = BTreeMap::new();
    for slice in slices {
        let Some(name) = slice.service() else {
            continue;
        };
        let id = ObjectId {
            group_kind: GroupKind::new("", "Service"),
            namespace: slice.metadata.namespace.clone(),
            name: name.to_owned(),
        };
        let pods = pods.entry(id).or_default();
        for (pod, ready) in &slice.pods {
            pods.entry(pod)
                .and_modify(|r| *r |= ready)
                .or_insert(*ready);
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
    use super::*;
    use crate::plan::Live;

    #[test]
    fn c61_pods_are_counted_once_over_slices_and_families() {
        let slice = |pods: &[(&str, bool)]| {
            let metadata = Live {
                namespace: Some("n".into()),
                labels: [("kubernetes.io/service-name", "s")].into_iter().collect(),
                ..Live::default()
            };
            let pods = pods.iter().map(|(pod, ready)| ((*pod).to_owned(), *ready));
            Arc::new(Slice {
                metadata: Arc::new(metadata),
                pods: pods.collect(),
            })
        };
        let slices = [
            slice(&[("a", true), ("b", false)]),
            slice(&[("a", true)]),
            slice(&[]),
        ];
        let counts: Vec<_> = count_endpoints(&slices).into_values().collect();
        assert_eq!(counts, [EndpointCount { ready: 1, total: 2 }]);
    }
}
