//! How many pods may be too many, and how many too few, during a rolling update.

use serde_json::Value;

use super::wanted;
use crate::controllers::object::text;

/// Pods above the wanted number.
pub(super) fn surge(deployment: &Value) -> i64 {
    limits(deployment).0
}

/// Pods below the wanted number.
pub(super) fn unavailable(deployment: &Value) -> i64 {
    limits(deployment).1
}

fn limits(deployment: &Value) -> (i64, i64) {
    if text(deployment, "/spec/strategy/type") == "Recreate" {
        return (0, 0);
    }
    let rolling = deployment.pointer("/spec/strategy/rollingUpdate");
    let limit = |name: &str, up: bool| {
        let value = rolling.and_then(|rolling| rolling.get(name));
        value.map_or(0, |value| resolve(value, wanted(deployment), up))
    };
    let (surge, unavailable) = (limit("maxSurge", true), limit("maxUnavailable", false));
    // Nothing could move otherwise.
    let unavailable = if surge == 0 && unavailable == 0 {
        1
    } else {
        unavailable
    };
    (surge, unavailable.min(wanted(deployment)))
}

/// A number, or a part of a whole in percent, rounded up or down.
fn resolve(value: &Value, whole: i64, up: bool) -> i64 {
    if let Some(number) = value.as_i64() {
        return number;
    }
    let percent = value.as_str().and_then(|text| text.strip_suffix('%'));
    let percent: i64 = percent.and_then(|text| text.parse().ok()).unwrap_or(0);
    let parts = percent.saturating_mul(whole);
    if up { (parts + 99) / 100 } else { parts / 100 }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn parts_are_rounded_so_that_something_can_move() {
        for (replicas, rolling, wanted) in [
            (
                2,
                json!({ "maxSurge": "25%", "maxUnavailable": "25%" }),
                (1, 0),
            ),
            (
                4,
                json!({ "maxSurge": "25%", "maxUnavailable": "25%" }),
                (1, 1),
            ),
            (
                10,
                json!({ "maxSurge": "30%", "maxUnavailable": 2 }),
                (3, 2),
            ),
            (3, json!({ "maxSurge": 0, "maxUnavailable": 0 }), (0, 1)),
            (1, json!({ "maxSurge": 0, "maxUnavailable": 5 }), (0, 1)),
        ] {
            let strategy = json!({ "type": "RollingUpdate", "rollingUpdate": rolling });
            let deployment = json!({ "spec": { "replicas": replicas, "strategy": strategy } });
            assert_eq!(limits(&deployment), wanted);
        }
    }
}
