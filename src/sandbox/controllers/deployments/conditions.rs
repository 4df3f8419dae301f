//! The conditions of Deployments.

use jiff::Timestamp;
use serde_json::{Value, json};

use super::sets::Sets;
use super::status;
use super::{has_condition, limits, wanted};
use crate::controllers::object::{condition, items, meta, now, number, set, text};

const PROGRESSING: &str = "Progressing";
const AVAILABLE: &str = "Available";

/// Why an update is said to have failed.
const TIMED_OUT: &str = "ProgressDeadlineExceeded";

/// Says that a Deployment is paused, or is not any more.
pub(super) fn paused(deployment: &mut Value) {
    if deployment
        .pointer("/spec/progressDeadlineSeconds")
        .is_none()
    {
        return;
    }
    let paused = deployment.pointer("/spec/paused") == Some(&Value::Bool(true));
    let told = condition(deployment, PROGRESSING)
        .is_some_and(|condition| text(condition, "/reason") == "DeploymentPaused");
    match (paused, told) {
        (true, false) => put(
            deployment,
            PROGRESSING,
            "Unknown",
            "DeploymentPaused",
            "Deployment is paused",
        ),
        (false, true) => put(
            deployment,
            PROGRESSING,
            "Unknown",
            "DeploymentResumed",
            "Deployment is resumed",
        ),
        _ => {}
    }
}

/// Says that a ReplicaSet was made.
pub(super) fn created(deployment: &mut Value, name: &str) {
    if deployment
        .pointer("/spec/progressDeadlineSeconds")
        .is_some()
    {
        let message = format!("Created new replica set {name:?}");
        put(
            deployment,
            PROGRESSING,
            "True",
            "NewReplicaSetCreated",
            &message,
        );
    }
}

/// Says that a ReplicaSet was found, where nothing is said of progress yet.
pub(super) fn found(deployment: &mut Value, name: &str) {
    let watched = deployment
        .pointer("/spec/progressDeadlineSeconds")
        .is_some();
    if watched && !has_condition(deployment, PROGRESSING) {
        let message = format!("Found new replica set {name:?}");
        put(
            deployment,
            PROGRESSING,
            "True",
            "FoundNewReplicaSet",
            &message,
        );
    }
}

/// Says how the update is going.
pub(super) fn progress(deployment: &mut Value, sets: &Sets) {
    let counted = status::counted(sets);
    let of = |pointer: &str| number(deployment, pointer, 0);
    let (replicas, updated) = (counted("replicas"), counted("updatedReplicas"));
    let reason =
        condition(deployment, PROGRESSING).map_or("", |condition| text(condition, "/reason"));
    let was_complete = replicas == updated && reason == "NewReplicaSetAvailable";
    if deployment
        .pointer("/spec/progressDeadlineSeconds")
        .is_none()
        || was_complete
    {
        return;
    }
    let what = match &sets.new {
        Some(new) => format!("ReplicaSet {:?}", meta(new, "name")),
        None => format!("Deployment {:?}", meta(deployment, "name")),
    };
    let moves = updated > of("/status/updatedReplicas")
        || replicas - updated < of("/status/replicas") - of("/status/updatedReplicas")
        || counted("readyReplicas") > of("/status/readyReplicas")
        || counted("availableReplicas") > of("/status/availableReplicas");
    if status::is_complete(deployment, &counted) {
        let message = format!("{what} has successfully progressed.");
        put(
            deployment,
            PROGRESSING,
            "True",
            "NewReplicaSetAvailable",
            &message,
        );
    } else if moves {
        let message = format!("{what} is progressing.");
        put(
            deployment,
            PROGRESSING,
            "True",
            "ReplicaSetUpdated",
            &message,
        );
    } else if deadline(deployment).is_some_and(|time| time <= Timestamp::now().as_second()) {
        let message = format!("{what} has timed out progressing.");
        put(deployment, PROGRESSING, "False", TIMED_OUT, &message);
    }
}

/// When an update that gets no further has failed, in seconds since 1970; `None` when it has, or when none is under way.
pub(super) fn deadline(deployment: &Value) -> Option<i64> {
    let seconds = deployment
        .pointer("/spec/progressDeadlineSeconds")?
        .as_i64()?;
    let condition = condition(deployment, PROGRESSING)?;
    let settled = ["NewReplicaSetAvailable", TIMED_OUT, "DeploymentPaused"];
    if settled.contains(&text(condition, "/reason")) {
        return None;
    }
    let since: Timestamp = text(condition, "/lastUpdateTime").parse().ok()?;
    // Times are kept to the second, and it is to be over.
    Some(since.as_second().saturating_add(seconds).saturating_add(1))
}

/// Says whether enough pods are available.
pub(super) fn availability(deployment: &mut Value, sets: &Sets) {
    let available = sets.count("/status/availableReplicas");
    if available >= wanted(deployment) - limits::unavailable(deployment) {
        let message = "Deployment has minimum availability.";
        put(
            deployment,
            AVAILABLE,
            "True",
            "MinimumReplicasAvailable",
            message,
        );
    } else {
        let message = "Deployment does not have minimum availability.";
        put(
            deployment,
            AVAILABLE,
            "False",
            "MinimumReplicasUnavailable",
            message,
        );
    }
}

/// Puts a condition behind the others, unless the same is said already.
fn put(deployment: &mut Value, r#type: &str, status: &str, reason: &str, message: &str) {
    let time = now();
    let known = condition(deployment, r#type);
    let same =
        |pointer: &str, value: &str| known.is_some_and(|known| text(known, pointer) == value);
    let steady = same("/status", status) && same("/reason", reason);
    if steady && (r#type != PROGRESSING || same("/message", message)) {
        return;
    }
    let since = match known.filter(|_| same("/status", status)) {
        Some(known) => text(known, "/lastTransitionTime").to_owned(),
        None => time.clone(),
    };
    let new = json!({
        "type": r#type, "status": status, "lastUpdateTime": time, "lastTransitionTime": since,
        "reason": reason, "message": message,
    });
    let mut all: Vec<Value> = items(deployment, "/status/conditions")
        .filter(|condition| text(condition, "/type") != r#type)
        .cloned()
        .collect();
    all.push(new);
    set(deployment, &["status", "conditions"], all.into());
}
