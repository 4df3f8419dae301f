//! Quantities that are written as numbers.

use serde_json::Value;

/// Where quantities stand in a pod's spec. `*` is any key or item.
const IN_POD: [&str; 7] = [
    "containers/*/resources/*/*",
    "initContainers/*/resources/*/*",
    "containers/*/env/*/valueFrom/resourceFieldRef/divisor",
    "initContainers/*/env/*/valueFrom/resourceFieldRef/divisor",
    "overhead/*",
    "volumes/*/emptyDir/sizeLimit",
    "volumes/*/ephemeral/volumeClaimTemplate/spec/resources/*/*",
];

/// Where else they stand, by group and kind.
const IN_KIND: [(&str, &str, &str); 11] = [
    ("", "ResourceQuota", "spec/hard/*"),
    ("", "LimitRange", "spec/limits/*/*/*"),
    ("", "PersistentVolumeClaim", "spec/resources/*/*"),
    ("", "PersistentVolume", "spec/capacity/*"),
    (
        "apps",
        "StatefulSet",
        "spec/volumeClaimTemplates/*/spec/resources/*/*",
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        "spec/metrics/*/*/target/averageValue",
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        "spec/metrics/*/*/target/value",
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        "spec/metrics/*/*/targetAverageValue",
    ),
    (
        "autoscaling",
        "HorizontalPodAutoscaler",
        "spec/metrics/*/*/targetValue",
    ),
    ("node.k8s.io", "RuntimeClass", "overhead/podFixed/*"),
    ("storage.k8s.io", "CSIStorageCapacity", "capacity"),
];

/// Turns `cpu: 2` into `cpu: "2"`, as the server itself prints it.
///
/// Plain writes take both, but v1.20 refuses an apply request with a number ("expected string, got
/// &value.valueUnstructured{Value:2}"). Custom kinds are left alone: their server keeps what is sent.
pub(super) fn write_as_text(object: &mut Value, group: &str, kind: &str, pod: Option<&str>) {
    for path in pod.into_iter().flat_map(|_| IN_POD) {
        let Some(pod) = pod.and_then(|pod| object.pointer_mut(pod)) else {
            break;
        };
        each(pod, path, &mut number_to_text);
    }
    for (_, _, path) in IN_KIND.iter().filter(|(g, k, _)| (*g, *k) == (group, kind)) {
        each(object, path, &mut number_to_text);
    }
}

fn number_to_text(value: &mut Value) {
    if let Value::Number(number) = value {
        *value = Value::String(number.to_string());
    }
}

/// Visits everything that a path leads to.
fn each(value: &mut Value, path: &str, visit: &mut impl FnMut(&mut Value)) {
    let (step, rest) = path.split_once('/').unwrap_or((path, ""));
    if path.is_empty() {
        return visit(value);
    }
    match (step, value) {
        ("*", Value::Object(map)) => map.values_mut().for_each(|v| each(v, rest, visit)),
        ("*", Value::Array(items)) => items.iter_mut().for_each(|v| each(v, rest, visit)),
        (key, Value::Object(map)) => {
            if let Some(value) = map.get_mut(key) {
                each(value, rest, visit);
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_become_text_where_quantities_stand_and_nowhere_else() {
        let mut pod = json!({ "spec": { "containers": [
            { "resources": { "limits": { "cpu": 2 }, "requests": { "cpu": 0.5, "memory": "1Gi" } }, "ports": [{ "containerPort": 80 }] },
            { "name": "none" },
        ] } });
        write_as_text(&mut pod, "", "Pod", Some("/spec"));
        assert_eq!(
            pod["spec"]["containers"][0],
            json!({ "resources": { "limits": { "cpu": "2" }, "requests": { "cpu": "0.5", "memory": "1Gi" } }, "ports": [{ "containerPort": 80 }] })
        );
        let mut quota = json!({ "spec": { "hard": { "pods": 50 } } });
        write_as_text(&mut quota, "", "ResourceQuota", None);
        assert_eq!(quota["spec"]["hard"]["pods"], "50");
        let custom = json!({ "spec": { "hard": { "pods": 50 } } });
        let mut same = custom.clone();
        write_as_text(&mut same, "example.com", "ResourceQuota", None);
        assert_eq!(same, custom);
    }
}
