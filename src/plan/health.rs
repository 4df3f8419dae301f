//! Health of an object after kstatus: is it as its spec wants it, on its way there, or stuck?

use std::fmt;

use serde::Serialize;
use serde_json::Value;

/// Health of an object.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "status", content = "message")]
pub enum Health {
    /// It is as its spec wants it.
    Current,
    /// It is on its way.
    InProgress(String),
    /// It will not get there by itself.
    Failed(String),
    /// It is being deleted.
    Terminating,
}

impl fmt::Display for Health {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Current => f.write_str("current"),
            Self::InProgress(message) => write!(f, "in progress, {message}"),
            Self::Failed(message) => write!(f, "failed, {message}"),
            Self::Terminating => f.write_str("being deleted"),
        }
    }
}

/// Judges a live object by its kind's rules, or by the conditions that kstatus knows.
pub fn health(object: &Value) -> Health {
    if object.pointer("/metadata/deletionTimestamp").is_some() {
        return Health::Terminating;
    }
    let text = |field: &str| {
        object
            .get(field)
            .and_then(Value::as_str)
            .unwrap_or_default()
    };
    let group = text("apiVersion")
        .split_once('/')
        .map_or("", |(group, _)| group);
    if let Some(reason) = not_observed(object) {
        return Health::InProgress(reason);
    }
    match (group, text("kind")) {
        ("apps", "Deployment") => deployment(object),
        ("apps", "StatefulSet") => stateful_set(object),
        ("apps", "DaemonSet") => daemon_set(object),
        ("apps", "ReplicaSet") => counts(
            object,
            replicas(object),
            &["availableReplicas", "readyReplicas"],
        ),
        ("batch", "Job") => job(object),
        ("", "Pod") => pod(object),
        ("", "PersistentVolumeClaim") => phase(object, "Bound"),
        ("", "Namespace") => phase(object, "Active"),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => needs(object, "Established"),
        ("apiregistration.k8s.io", "APIService") => needs(object, "Available"),
        _ => generic(object),
    }
}

fn int(object: &Value, pointer: &str) -> i64 {
    object.pointer(pointer).and_then(Value::as_i64).unwrap_or(0)
}

fn condition<'a>(object: &'a Value, type_: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let conditions = object.pointer("/status/conditions")?.as_array()?;
    let of = |c: &'a Value, field: &str| c.get(field).and_then(Value::as_str).unwrap_or_default();
    let found = conditions.iter().find(|c| of(c, "type") == type_)?;
    Some((
        of(found, "status"),
        of(found, "reason"),
        of(found, "message"),
    ))
}

fn not_observed(object: &Value) -> Option<String> {
    let observed = object.pointer("/status/observedGeneration")?.as_i64()?;
    (observed < int(object, "/metadata/generation"))
        .then(|| "its controller has not seen the new spec yet".to_owned())
}

fn deployment(object: &Value) -> Health {
    if let Some((_, "ProgressDeadlineExceeded", message)) = condition(object, "Progressing") {
        return Health::Failed(message.to_owned());
    }
    if object.pointer("/status/observedGeneration").is_none() {
        return Health::InProgress("its controller has not seen it yet".into());
    }
    let wanted = replicas(object);
    let of = |field: &str| int(object, &format!("/status/{field}"));
    let (updated, all, available) = (
        of("updatedReplicas"),
        of("replicas"),
        of("availableReplicas"),
    );
    if updated < wanted {
        return Health::InProgress(format!("{updated} of {wanted} replicas are updated"));
    }
    if all > updated {
        return Health::InProgress(format!("{} old replicas are still there", all - updated));
    }
    if available < updated {
        return Health::InProgress(format!("{available} of {updated} replicas are available"));
    }
    Health::Current
}

/// The replicas that a workload asks for; the API's default is one.
fn replicas(object: &Value) -> i64 {
    object
        .pointer("/spec/replicas")
        .and_then(Value::as_i64)
        .unwrap_or(1)
}

fn counts(object: &Value, wanted: i64, fields: &[&str]) -> Health {
    for field in fields {
        let is = int(object, &format!("/status/{field}"));
        if is < wanted {
            return Health::InProgress(format!("{field} is {is} of {wanted}"));
        }
    }
    Health::Current
}

fn stateful_set(object: &Value) -> Health {
    let wanted = replicas(object);
    let ready = counts(object, wanted, &["readyReplicas"]);
    if ready != Health::Current || updates_by_hand(object) {
        return ready;
    }
    // kstatus: below the partition the old revision is what is wanted.
    let kept = int(object, "/spec/updateStrategy/rollingUpdate/partition");
    counts(object, wanted - kept, &["updatedReplicas"])
}

fn daemon_set(object: &Value) -> Health {
    if object.pointer("/status/observedGeneration").is_none() {
        return Health::InProgress("its controller has not seen it yet".into());
    }
    let wanted = int(object, "/status/desiredNumberScheduled");
    let available = counts(object, wanted, &["numberAvailable"]);
    if available != Health::Current || updates_by_hand(object) {
        return available;
    }
    counts(object, wanted, &["updatedNumberScheduled"])
}

/// With `OnDelete`, somebody deletes the old pods when he sees fit: nothing to wait for.
fn updates_by_hand(object: &Value) -> bool {
    object
        .pointer("/spec/updateStrategy/type")
        .and_then(Value::as_str)
        == Some("OnDelete")
}

fn job(object: &Value) -> Health {
    if let Some(("True", _, message)) = condition(object, "Failed") {
        return Health::Failed(message.to_owned());
    }
    // kstatus: a Job that runs is as its spec wants it.
    match object.pointer("/status/startTime") {
        Some(_) => Health::Current,
        None => Health::InProgress("the Job has not started".into()),
    }
}

fn pod(object: &Value) -> Health {
    match object.pointer("/status/phase").and_then(Value::as_str) {
        Some("Succeeded") => Health::Current,
        Some("Failed") => Health::Failed("the Pod has failed".into()),
        _ => needs(object, "Ready"),
    }
}

fn phase(object: &Value, wanted: &str) -> Health {
    match object.pointer("/status/phase").and_then(Value::as_str) {
        Some(phase) if phase == wanted => Health::Current,
        phase => Health::InProgress(format!("its phase is {}", phase.unwrap_or("not set"))),
    }
}

fn needs(object: &Value, type_: &str) -> Health {
    match condition(object, type_) {
        Some(("True", ..)) => Health::Current,
        Some((_, _, message)) => Health::InProgress(format!("it is not {type_}: {message}")),
        None => Health::InProgress(format!("it is not {type_} yet")),
    }
}

fn generic(object: &Value) -> Health {
    if let Some(("True", _, message)) = condition(object, "Stalled") {
        return Health::Failed(message.to_owned());
    }
    if let Some(("True", _, message)) = condition(object, "Reconciling") {
        return Health::InProgress(message.to_owned());
    }
    match condition(object, "Ready") {
        Some(("False" | "Unknown", _, message)) => Health::InProgress(message.to_owned()),
        _ => Health::Current,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_deployment_is_current_when_all_replicas_are_new_and_available() {
        let judge = |updated: i64, all: i64, available: i64, observed: i64| {
            health(&json!({
                "apiVersion": "apps/v1", "kind": "Deployment",
                "metadata": { "generation": 2 }, "spec": { "replicas": 2 },
                "status": { "observedGeneration": observed, "updatedReplicas": updated, "replicas": all, "availableReplicas": available },
            }))
        };
        assert_eq!(judge(2, 2, 2, 2), Health::Current);
        for (updated, all, available, observed) in
            [(1, 2, 2, 2), (2, 3, 3, 2), (2, 2, 1, 2), (2, 2, 2, 1)]
        {
            assert!(matches!(
                judge(updated, all, available, observed),
                Health::InProgress(_)
            ));
        }
    }

    #[test]
    fn a_stateful_set_is_current_with_the_new_pods_that_its_strategy_asks_for() {
        let judge = |strategy: Value, ready: i64, updated: i64| {
            health(&json!({
                "apiVersion": "apps/v1", "kind": "StatefulSet",
                "spec": { "replicas": 3, "updateStrategy": strategy },
                "status": { "readyReplicas": ready, "updatedReplicas": updated },
            })) == Health::Current
        };
        let partition = json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 2 } });
        assert!(judge(json!({}), 3, 3));
        assert!(!judge(json!({}), 3, 2));
        assert!(judge(partition.clone(), 3, 1));
        assert!(!judge(partition, 3, 0));
        assert!(judge(json!({ "type": "OnDelete" }), 3, 0));
        assert!(!judge(json!({ "type": "OnDelete" }), 2, 3));
    }

    #[test]
    fn conditions_speak_for_kinds_nobody_knows() {
        let judge = |type_: &str, status: &str| {
            health(&json!({
                "apiVersion": "example.com/v1", "kind": "Pet",
                "status": { "conditions": [{ "type": type_, "status": status, "message": "m" }] },
            }))
        };
        assert_eq!(judge("Ready", "True"), Health::Current);
        assert_eq!(judge("Ready", "False"), Health::InProgress("m".into()));
        assert_eq!(judge("Stalled", "True"), Health::Failed("m".into()));
        assert_eq!(judge("Reconciling", "True"), Health::InProgress("m".into()));
        assert_eq!(
            health(&json!({ "apiVersion": "v1", "kind": "ConfigMap" })),
            Health::Current
        );
    }
}
