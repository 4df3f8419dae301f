//! What a new object's status is, until somebody says more.

use serde_json::{Map, Value, json};

use super::defaults::put;
use crate::types::{Kind, Origin};

/// Empties the status of a new object; custom objects have none at first.
pub(super) fn begin(kind: &Kind, object: &mut Value) {
    if kind.origin == Origin::BuiltIn && kind.status && !super::keeps_status(kind) {
        put(object, "status", first(&kind.resource()));
    }
}

/// The fields of a status that are never absent.
fn first(resource: &str) -> Value {
    match resource {
        "services" | "ingresses.networking.k8s.io" => json!({ "loadBalancer": {} }),
        "replicasets.apps" | "replicationcontrollers" | "statefulsets.apps" => {
            json!({ "replicas": 0 })
        }
        "daemonsets.apps" => json!({
            "currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0,
        }),
        "horizontalpodautoscalers.autoscaling" => {
            json!({ "currentReplicas": 0, "desiredReplicas": 0 })
        }
        "volumeattachments.storage.k8s.io" => json!({ "attached": false }),
        "poddisruptionbudgets.policy" => json!({
            "currentHealthy": 0, "desiredHealthy": 0, "disruptionsAllowed": 0, "expectedPods": 0,
        }),
        _ => Value::Object(Map::new()),
    }
}
