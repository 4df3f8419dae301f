//! The status of the Sync: what was tried, what was applied, and how it went.

use serde_json::Value;

use super::{Done, Outcome, Waits};
use crate::api::condition::{ConditionStatus, Finding, conditions};
use crate::api::sync::{ObjectCount, Run, SyncStatus};

/// The most runs that a status remembers.
const RUNS: usize = 5;

/// The most characters of a failure that a condition tells; a server may quote the whole object, and a path may be as long.
const LONGEST: usize = 1000;

/// What one run did, as far as the Sync's status tells of it.
pub struct Facts<'a> {
    /// The revision that was read.
    pub revision: &'a str,
    /// Digest of what was rendered from it.
    pub digest: &'a str,
    /// Objects that the source asks for.
    pub total: usize,
    /// What became of each step.
    pub done: &'a [Done],
    /// Why the cluster does not look like the source, if so, beyond steps that did not come about.
    pub trouble: Option<&'a str>,
    /// Whether that is because policies hold something back.
    pub denied: bool,
    /// What others have changed and is left so, if anything.
    pub drifted: Option<String>,
    /// What waits until somebody approves its prune, if anything.
    pub waits: Option<Waits>,
    /// What else is to be told of a run that went well.
    pub remarks: &'a [String],
    /// The request that this run answers.
    pub requested_at: Option<&'a str>,
    /// Generation of the Sync's spec.
    pub generation: Option<i64>,
    /// Now, in RFC 3339 with seconds.
    pub now: &'a str,
}

/// Computes the status that follows an earlier one. It is the same when nothing has changed.
pub fn record(facts: &Facts<'_>, previous: &SyncStatus) -> SyncStatus {
    let count = |wanted: Outcome| {
        facts
            .done
            .iter()
            .filter(|done| done.outcome == wanted)
            .count()
    };
    let failed = facts
        .done
        .iter()
        .filter(|done| !done.outcome.is_good())
        .count();
    let int = |n: usize| i32::try_from(n).unwrap_or(i32::MAX);
    let applied = failed == 0 && facts.trouble.is_none();
    let finding = if applied {
        Finding {
            type_: "Ready",
            status: ConditionStatus::True,
            reason: "ReconciliationSucceeded",
            message: [&format!("applied revision {}", facts.revision)]
                .into_iter()
                .chain(facts.remarks)
                .cloned()
                .collect::<Vec<_>>()
                .join("; "),
        }
    } else {
        let message = match facts.trouble {
            Some(trouble) => trouble.chars().take(LONGEST).collect(),
            None => format!(
                "{failed} of {} steps did not come about{}",
                facts.done.len(),
                first_failure(facts.done)
            ),
        };
        Finding {
            type_: "Ready",
            status: ConditionStatus::False,
            reason: if facts.denied {
                "PolicyDenied"
            } else {
                "ReconciliationFailed"
            },
            message,
        }
    };
    let drifted = facts.drifted.as_ref().map(|what| Finding {
        type_: "Drifted",
        status: ConditionStatus::True,
        reason: "DriftDetected",
        message: what.clone(),
    });
    let waits = facts.waits.as_ref().map(|waits| Finding {
        type_: "PruneWaits",
        status: ConditionStatus::True,
        reason: waits.reason,
        message: waits.message.clone(),
    });
    let findings = [finding].into_iter().chain(drifted).chain(waits).collect();
    let run = Run {
        time: facts.now.to_owned(),
        revision: facts.revision.to_owned(),
        created: int(count(Outcome::Created)),
        configured: int(count(Outcome::Configured)),
        deleted: int(count(Outcome::Deleted)),
        failed: int(failed),
    };
    let mut runs = previous.runs.clone();
    if run.created + run.configured + run.deleted > 0 {
        runs.insert(0, run);
        runs.truncate(RUNS);
    }
    SyncStatus {
        observed_generation: facts.generation,
        last_attempted_revision: Some(facts.revision.to_owned()),
        last_applied_revision: if applied {
            Some(facts.revision.to_owned())
        } else {
            previous.last_applied_revision.clone()
        },
        rendered_digest: Some(facts.digest.to_owned()),
        last_handled_reconcile_at: facts
            .requested_at
            .map(str::to_owned)
            .or_else(|| previous.last_handled_reconcile_at.clone()),
        objects: Some(ObjectCount {
            total: int(facts.total),
            failed: int(failed),
        }),
        runs,
        conditions: conditions(findings, &previous.conditions, facts.generation, facts.now),
    }
}

/// What stood in the way first, in the server's words; what was only skipped tells less.
fn first_failure(done: &[Done]) -> String {
    let failed = |done: &&Done| matches!(done.outcome, Outcome::Failed | Outcome::Refused);
    match done.iter().find(failed) {
        Some(Done { message, .. }) => {
            let cut: String = message.chars().take(LONGEST).collect();
            format!(", the first: {cut}")
        }
        None => String::new(),
    }
}

/// Reads the status of a live Sync; one that cannot be read is written anew.
pub fn previous(parent: Option<&Value>) -> SyncStatus {
    parent
        .and_then(|parent| serde_json::from_value(parent.get("status")?.clone()).ok())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts<'a>(done: &'a [Done], now: &'a str) -> Facts<'a> {
        Facts {
            revision: "r",
            digest: "d",
            total: 1,
            done,
            trouble: None,
            denied: false,
            drifted: None,
            waits: None,
            remarks: &[],
            requested_at: None,
            generation: Some(1),
            now,
        }
    }

    fn done(outcome: Outcome) -> [Done; 1] {
        [Done {
            outcome,
            message: String::new(),
            live: None,
            rewritten: None,
        }]
    }

    #[test]
    fn c50_a_run_that_changes_nothing_leaves_the_status_as_it_is() {
        let first = record(
            &facts(&done(Outcome::Created), "t1"),
            &SyncStatus::default(),
        );
        let second = record(&facts(&done(Outcome::Unchanged), "t2"), &first);
        assert_eq!(first, second);
        assert_eq!(first.runs.len(), 1);
    }

    #[test]
    fn a_prune_that_waits_is_told_beside_being_ready() {
        let waits = Waits {
            reason: "ApprovalNeeded",
            objects: 1,
            message: "Namespace a; to approve: …".into(),
        };
        let facts = Facts {
            waits: Some(waits),
            remarks: &["1 prune waits for approval".into()],
            ..facts(&[], "t1")
        };
        let status = record(&facts, &SyncStatus::default());
        let told: Vec<_> = status
            .conditions
            .iter()
            .map(|c| (&*c.type_, c.status, &*c.reason, &*c.message))
            .collect();
        assert_eq!(
            told,
            [
                (
                    "Ready",
                    ConditionStatus::True,
                    "ReconciliationSucceeded",
                    "applied revision r; 1 prune waits for approval"
                ),
                (
                    "PruneWaits",
                    ConditionStatus::True,
                    "ApprovalNeeded",
                    "Namespace a; to approve: …"
                ),
            ]
        );
    }

    #[test]
    fn a_failed_run_keeps_the_last_applied_revision() {
        let first = record(
            &facts(&done(Outcome::Created), "t1"),
            &SyncStatus::default(),
        );
        let trouble = Facts {
            revision: "r2",
            ..facts(&[], "t2")
        };
        let failed = record(
            &Facts {
                trouble: Some("it is broken"),
                ..trouble
            },
            &first,
        );
        assert_eq!(failed.last_applied_revision.as_deref(), Some("r"));
        assert_eq!(failed.last_attempted_revision.as_deref(), Some("r2"));
        assert_eq!(failed.conditions[0].status, ConditionStatus::False);
        assert_eq!(failed.conditions[0].last_transition_time, "t2");
    }
}
