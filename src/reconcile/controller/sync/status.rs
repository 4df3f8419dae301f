//! The status of a Sync that has no run.

use super::live::LiveSync;
use crate::api::condition::conditions;
use crate::api::sync::SyncStatus;
use crate::cluster::{Cluster, ClusterError, Kind};
use crate::reconcile::controller::problem::Problem;
use crate::reconcile::now;

/// Writes why a Sync has no run, unless its status says so already. What was applied before stays said.
///
/// # Errors
/// As the server answers.
pub async fn tell_problem(
    cluster: &Cluster,
    sync: &LiveSync,
    problem: &Problem,
) -> Result<(), ClusterError> {
    let status = with_problem(sync, problem, &now().to_string());
    if status == sync.status {
        return Ok(());
    }
    let body = serde_json::to_value(&status).unwrap_or_default();
    let name = &sync.name;
    cluster
        .apply_status(&Kind::sync(), &name.namespace, &name.name, &body)
        .await
}

fn with_problem(sync: &LiveSync, problem: &Problem, now: &str) -> SyncStatus {
    let findings = problem.findings();
    SyncStatus {
        observed_generation: sync.generation,
        last_handled_reconcile_at: sync
            .requested_at
            .clone()
            .or_else(|| sync.status.last_handled_reconcile_at.clone()),
        conditions: conditions(findings, &sync.status.conditions, sync.generation, now),
        ..sync.status.clone()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_problem_keeps_what_was_applied_and_is_told_once() {
        let mut sync = LiveSync::read(&json!({
            "metadata": { "namespace": "ops", "name": "shop", "generation": 2 },
            "status": { "lastAppliedRevision": "r1" },
        }))
        .unwrap();
        let problem = Problem::stalled("InvalidURL", "it is none");
        let status = with_problem(&sync, &problem, "t1");
        assert_eq!(status.last_applied_revision.as_deref(), Some("r1"));
        let types: Vec<_> = status.conditions.iter().map(|c| c.type_.as_str()).collect();
        assert_eq!(types, ["Ready", "Stalled"]);
        sync.status = status.clone();
        assert_eq!(with_problem(&sync, &problem, "t2"), status);
        let passing = Problem::passing("ArtifactFailed", "no answer");
        assert_eq!(with_problem(&sync, &passing, "t2").conditions.len(), 1);
    }
}
