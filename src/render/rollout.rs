//! How far the rollout of a Deployment is.

use serde_json::Value;
use thiserror::Error;

use super::diagnosis::{Diagnosis, fit_to_tell};

/// A Deployment's rollout.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rollout {
    /// Replicas that are wanted.
    pub wanted: i32,
    /// Replicas of the current template.
    pub updated: i32,
    /// Replicas that are available.
    pub available: i32,
    /// All replicas, also of earlier templates.
    pub all: i32,
    /// Whether the Deployment controller has seen the current spec.
    pub observed: bool,
    /// Whether somebody has stopped it.
    pub paused: bool,
    /// The ReplicaSet that it is about, which has a name of its own for each template.
    pub replica_set: Option<String>,
    /// Why it will not go on by itself, if so.
    pub stalled: Option<Stalled>,
}

/// Why a rollout will not go on by itself.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Stalled {
    /// Its pods have not become available in time.
    #[error("its pods have not become available within progressDeadlineSeconds")]
    DeadlineExceeded,
    /// Its pods, or its ReplicaSet, are refused: by whom and why, as the Deployment has it.
    #[error("its pods are refused: {0}")]
    Refused(String),
    /// What its pods tell.
    #[error("{0}")]
    Diagnosed(Box<Diagnosis>),
}

impl Rollout {
    /// Reads it from a Deployment. A manifest has no status: nothing of it has rolled out.
    pub(super) fn read(deployment: &Value) -> Self {
        let int = |pointer: &str| deployment.pointer(pointer).and_then(Value::as_i64);
        let count = |pointer: &str| int(pointer).and_then(|n| i32::try_from(n).ok());
        let generation = int("/metadata/generation");
        let observed = generation.is_some() && int("/status/observedGeneration") >= generation;
        Self {
            // The API's default is one replica.
            wanted: count("/spec/replicas").unwrap_or(1),
            updated: count("/status/updatedReplicas").unwrap_or(0),
            available: count("/status/availableReplicas").unwrap_or(0),
            all: count("/status/replicas").unwrap_or(0),
            observed,
            paused: deployment.pointer("/spec/paused") == Some(&Value::Bool(true)),
            replica_set: replica_set(deployment),
            // What is said of an earlier spec says nothing of this one.
            stalled: observed.then(|| stalled(deployment)).flatten(),
        }
    }

    /// Replicas that run the current template and are available, as far as counts can tell.
    ///
    /// `availableReplicas` counts old pods as well, so that in mid-rollout only those above the old ones are sure.
    pub fn instrumented(&self) -> i32 {
        let old = (self.all - self.updated).max(0);
        (self.available - old).clamp(0, self.updated.max(0))
    }

    /// Whether every wanted replica runs the current template and is available, and no other runs.
    pub fn is_complete(&self) -> bool {
        self.observed
            && self.updated >= self.wanted
            && self.all == self.updated
            && self.available == self.updated
    }
}

/// A condition of a Deployment.
struct Condition<'a> {
    status: &'a str,
    reason: &'a str,
    message: &'a str,
}

fn condition<'a>(deployment: &'a Value, type_: &str) -> Option<Condition<'a>> {
    let conditions = deployment.pointer("/status/conditions")?.as_array()?;
    let found = conditions
        .iter()
        .find(|it| it.get("type").is_some_and(|it| it == type_))?;
    let text = |field| found.get(field).and_then(Value::as_str).unwrap_or_default();
    Some(Condition {
        status: text("status"),
        reason: text("reason"),
        message: text("message"),
    })
}

fn stalled(deployment: &Value) -> Option<Stalled> {
    let name = name(deployment);
    let refused = |it: Condition<'_>| Stalled::Refused(fit_to_tell(it.message, name));
    if let Some(failure) = condition(deployment, "ReplicaFailure").filter(|it| it.status == "True")
    {
        return Some(refused(failure));
    }
    let progress = condition(deployment, "Progressing").filter(|it| it.status == "False")?;
    Some(match progress.reason {
        "ProgressDeadlineExceeded" => Stalled::DeadlineExceeded,
        // Not even the ReplicaSet could be made (`ReplicaSetCreateError`).
        _ => refused(progress),
    })
}

/// The ReplicaSet of the current template is named in the condition `Progressing`, in quotes, and whatever that says of it
/// (`deployment/util/deployment_util.go`, `progress.go`).
fn replica_set(deployment: &Value) -> Option<String> {
    let progress = condition(deployment, "Progressing")?;
    let prefix = format!("{}-", name(deployment));
    let mut quoted = progress.message.split('"').skip(1).step_by(2);
    let named = quoted.find(|it| it.strip_prefix(&prefix).is_some_and(is_hash))?;
    Some(named.to_owned())
}

/// Tells whether it can be the hash of a template, which is a label's value as well.
fn is_hash(text: &str) -> bool {
    let of_hash = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit();
    !text.is_empty() && text.len() <= 63 && text.chars().all(of_hash)
}

fn name(object: &Value) -> &str {
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    name.unwrap_or_default()
}

impl Rollout {
    /// The hash of the current template, as its pods have it in a label (`pod-template-hash`).
    pub fn template_hash(&self) -> Option<&str> {
        Some(self.replica_set.as_ref()?.rsplit_once('-')?.1)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn deployment(status: Value) -> Value {
        json!({
            "metadata": { "name": "pet", "generation": 3 },
            "spec": { "replicas": 2 },
            "status": status,
        })
    }

    fn progressing(status: &str, reason: &str, message: &str) -> Value {
        json!({ "type": "Progressing", "status": status, "reason": reason, "message": message })
    }

    #[test]
    fn a_rollout_that_is_not_seen_yet_is_neither_complete_nor_stalled() {
        let late = progressing(
            "False",
            "ProgressDeadlineExceeded",
            "ReplicaSet \"pet-5d4f8c7b9\" has timed out progressing.",
        );
        let status = |observed: i64| {
            json!({
                "observedGeneration": observed, "replicas": 2, "updatedReplicas": 2, "availableReplicas": 2,
                "conditions": [late],
            })
        };
        let before = Rollout::read(&deployment(status(2)));
        assert!(!before.is_complete() && before.stalled.is_none());
        let seen = Rollout::read(&deployment(status(3)));
        assert_eq!(seen.stalled, Some(Stalled::DeadlineExceeded));
        assert_eq!(seen.replica_set.as_deref(), Some("pet-5d4f8c7b9"));
        assert_eq!(seen.template_hash(), Some("5d4f8c7b9"));
    }

    #[test]
    fn c27_counts_follow_what_scales_it() {
        let rollout = |wanted, updated, available, all| Rollout {
            wanted,
            updated,
            available,
            all,
            observed: true,
            ..Rollout::default()
        };
        // Up, down before the surplus pods are gone, and to zero.
        for (rollout, complete, instrumented) in [
            (rollout(7, 2, 2, 2), false, 2),
            (rollout(7, 7, 2, 7), false, 2),
            (rollout(7, 7, 7, 7), true, 7),
            (rollout(2, 7, 7, 7), true, 7),
            (rollout(2, 2, 2, 2), true, 2),
            (rollout(0, 0, 0, 0), true, 0),
        ] {
            assert_eq!(rollout.is_complete(), complete, "{rollout:?}");
            assert_eq!(rollout.instrumented(), instrumented, "{rollout:?}");
        }
    }

    #[test]
    fn what_refuses_pods_is_told_without_their_names() {
        let failure = |message: &str| json!({ "type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message });
        let status =
            |condition: Value| json!({ "observedGeneration": 3, "conditions": [condition] });
        let stalled = |condition| Rollout::read(&deployment(status(condition))).stalled;
        let refused = |message: &str| Some(Stalled::Refused(message.into()));
        assert_eq!(
            stalled(failure(
                "pods \"pet-5d4f8c7b9-x2x4z\" is forbidden: exceeded quota: small"
            )),
            refused("pods \"pet-*\" is forbidden: exceeded quota: small")
        );
        let error = "replicasets.apps \"pet-5d4f8c7b9\" is forbidden: exceeded quota: sets";
        assert_eq!(
            stalled(progressing("False", "ReplicaSetCreateError", error)),
            refused("replicasets.apps \"pet-*\" is forbidden: exceeded quota: sets")
        );
        let paused = progressing("Unknown", "DeploymentPaused", "Deployment is paused");
        assert_eq!(stalled(paused), None);
        let mut over = failure("pods are forbidden");
        over["status"] = "False".into();
        assert_eq!(stalled(over), None);
    }

    #[test]
    fn the_replica_set_is_read_from_whatever_is_said_of_it() {
        for (message, expected) in [
            (
                "ReplicaSet \"pet-5d4f8c7b9\" is progressing.",
                Some("pet-5d4f8c7b9"),
            ),
            ("Created new replica set \"pet-77\"", Some("pet-77")),
            ("Found new replica set \"pet-77\"", Some("pet-77")),
            ("Deployment \"pet\" has successfully progressed.", None),
            ("ReplicaSet \"pet-a,b=c\" is progressing.", None),
            ("ReplicaSet \"dog-77\" is progressing.", None),
            ("", None),
        ] {
            let status = json!({ "conditions": [progressing("True", "Any", message)] });
            let found = Rollout::read(&deployment(status)).replica_set;
            assert_eq!(found.as_deref(), expected, "{message}");
        }
    }
}
