//! What a Campaign's status says after each look.

use jiff::Timestamp;

use super::growth;
use super::live::LiveCampaign;
use super::schedule::{self, Next};
use super::terms::Terms;
use crate::api::campaign::{CampaignPhase, CampaignStatus, PodCount};
use crate::api::condition::{Condition, ConditionStatus, Finding, conditions};
use crate::coverage::Summary;
use crate::reconcile::controller::problem::Problem;

/// Pods and classes that a message names; of the others it tells how many there are.
const NAMED: usize = 5;

/// What a run has brought.
#[derive(Clone, Debug, Default)]
pub struct Ran {
    /// When it began.
    pub at: Timestamp,
    /// How many pods there were.
    pub pods: PodCount,
    /// Those that did not answer completely, and why.
    pub failed: Vec<String>,
    /// Classes that are not in the union as some pod has them.
    pub mismatches: Vec<String>,
    /// The union, when there was something to store.
    pub stored: Option<(Summary, String)>,
}

impl Ran {
    /// Tells whether all pods have answered.
    pub fn is_complete(&self) -> bool {
        self.pods.reached == self.pods.total
    }
}

/// After a run.
pub fn after_run(live: &LiveCampaign, terms: &Terms, ran: &Ran) -> CampaignStatus {
    let now = ran.at.to_string();
    let mut status = CampaignStatus {
        runs: live.status.runs + 1,
        last_run: Some(now.clone()),
        pods: Some(ran.pods),
        ..acted_on(live)
    };
    if let Some((summary, file)) = &ran.stored {
        let hit = count(summary.hit);
        if hit > live.status.probes_hit.unwrap_or(0) {
            status.last_growth = Some(now.clone());
        }
        growth::note(&mut status.growth, ran.at, hit);
        status.classes = Some(count(summary.classes));
        status.probes_hit = Some(hit);
        status.probes_total = Some(count(summary.probes));
        status.file = Some(file.clone());
    }
    let mut findings = vec![ready_of(ran)];
    if !ran.mismatches.is_empty() {
        findings.push(Finding {
            type_: "ClassMismatch",
            status: ConditionStatus::True,
            reason: "IncompatibleClasses",
            message: some_of(&ran.mismatches),
        });
    }
    status.conditions = conditions(findings, &live.status.conditions, live.generation, &now);
    match schedule::next(terms, &status, (false, false), ran.at) {
        Next::Finished(why) => finish(live, status, why, &now),
        next => {
            status.phase = Some(CampaignPhase::Collecting);
            status.next_run = match next {
                Next::At(time) => Some(time.to_string()),
                _ => None,
            };
            status
        }
    }
}

fn ready_of(ran: &Ran) -> Finding {
    let PodCount { reached, total } = ran.pods;
    let (status, reason, message) = match ran.is_complete() {
        true => (true, "Collecting", format!("all {total} pods answered")),
        false => {
            let message = format!(
                "{reached} of {total} pods answered: {}",
                some_of(&ran.failed)
            );
            (false, "Partial", message)
        }
    };
    Finding {
        type_: "Ready",
        status: status.into(),
        reason,
        message,
    }
}

/// When it has come to its end. What the last run did not get stays said.
pub fn finished(live: &LiveCampaign, why: &str, now: &str) -> CampaignStatus {
    finish(live, acted_on(live), why, now)
}

fn finish(live: &LiveCampaign, status: CampaignStatus, why: &str, now: &str) -> CampaignStatus {
    let missing = status.pods.filter(|pods| pods.reached < pods.total);
    let message = match missing {
        Some(PodCount { reached, total }) => {
            format!("{why}; in the last run {reached} of {total} pods answered")
        }
        None => why.to_owned(),
    };
    with_ready(
        live,
        status,
        CampaignPhase::Finished,
        "Finished",
        message,
        now,
    )
}

/// When nothing is to be collected for now.
pub fn suspended(live: &LiveCampaign, now: &str) -> CampaignStatus {
    let message = "nothing is collected: it is suspended".to_owned();
    with_ready(
        live,
        acted_on(live),
        CampaignPhase::Suspended,
        "Suspended",
        message,
        now,
    )
}

/// When there is no run.
pub fn with_problem(live: &LiveCampaign, problem: &Problem, now: &str) -> CampaignStatus {
    let findings = problem.findings();
    CampaignStatus {
        phase: Some(match problem.stalled {
            true => CampaignPhase::Failed,
            false => CampaignPhase::Pending,
        }),
        conditions: conditions(findings, &live.status.conditions, live.generation, now),
        next_run: None,
        ..acted_on(live)
    }
}

/// What was said, of the spec as it is now, and of what was asked for.
fn acted_on(live: &LiveCampaign) -> CampaignStatus {
    let requested = live.requested_at.clone();
    CampaignStatus {
        observed_generation: live.generation,
        last_handled_reconcile_at: requested
            .or_else(|| live.status.last_handled_reconcile_at.clone()),
        ..live.status.clone()
    }
}

/// Ready, though nothing is collected; what else was said of the union stays.
fn with_ready(
    live: &LiveCampaign,
    status: CampaignStatus,
    phase: CampaignPhase,
    reason: &'static str,
    message: String,
    now: &str,
) -> CampaignStatus {
    let ready = Finding {
        type_: "Ready",
        status: ConditionStatus::True,
        reason,
        message,
    };
    let ready = conditions(vec![ready], &live.status.conditions, live.generation, now);
    let is_kept = |c: &&Condition| c.type_ == "ClassMismatch";
    let kept = status.conditions.iter().filter(is_kept).cloned();
    let conditions = ready.into_iter().chain(kept).collect();
    CampaignStatus {
        phase: Some(phase),
        next_run: None,
        conditions,
        ..status
    }
}

fn some_of(all: &[String]) -> String {
    let named: Vec<&str> = all.iter().take(NAMED).map(String::as_str).collect();
    let named = named.join("; ");
    match all.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named}; and {more} more"),
    }
}

fn count(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn live(spec: Value, status: &CampaignStatus) -> LiveCampaign {
        let mut whole = json!({ "targetRef": { "name": "pets" }, "storage": { "path": "a" }, "interval": "10m" });
        for (key, value) in spec.as_object().unwrap() {
            whole[key] = value.clone();
        }
        LiveCampaign::read(&json!({
            "metadata": { "namespace": "n", "name": "c", "uid": "u", "generation": 2 },
            "spec": whole, "status": status,
        }))
        .unwrap()
    }

    fn ran(minute: i64, (reached, total): (i32, i32), hit: u64) -> Ran {
        let summary = Summary {
            sessions: 1,
            classes: 2,
            probes: 50,
            hit,
        };
        Ran {
            at: Timestamp::from_second(1_700_000_000 + 60 * minute).unwrap(),
            pods: PodCount { reached, total },
            failed: vec![
                "pets-b: cannot connect".into();
                (total - reached).unsigned_abs() as usize
            ],
            mismatches: Vec::new(),
            stored: Some((summary, "/r/n/a/c.exec".into())),
        }
    }

    fn after(live: &LiveCampaign, ran: &Ran) -> CampaignStatus {
        after_run(
            live,
            &Terms::read(live.spec.as_ref().unwrap()).unwrap(),
            ran,
        )
    }

    fn condition<'a>(status: &'a CampaignStatus, type_: &str) -> Option<&'a Condition> {
        status.conditions.iter().find(|c| c.type_ == type_)
    }

    #[test]
    fn runs_are_counted_and_growth_is_what_is_more_than_before() {
        let first = after(
            &live(json!({}), &CampaignStatus::default()),
            &ran(0, (2, 2), 7),
        );
        assert_eq!((first.runs, first.probes_hit), (1, Some(7)));
        assert_eq!(first.phase, Some(CampaignPhase::Collecting));
        assert_eq!(first.last_growth, first.last_run);
        assert_eq!(first.next_run.as_deref(), Some("2023-11-14T22:23:20Z"));
        assert_eq!(
            condition(&first, "Ready").unwrap().message,
            "all 2 pods answered"
        );
        let second = after(&live(json!({}), &first), &ran(10, (2, 2), 7));
        assert_eq!((second.runs, &second.last_growth), (2, &first.last_growth));
        assert_eq!(second.growth, first.growth);
        // The run that was stored, but not told, is told by the next one.
        let third = after(&live(json!({}), &second), &ran(20, (2, 2), 9));
        assert_eq!(third.growth.len(), 2);
        assert_eq!(third.last_growth, third.last_run);
    }

    #[test]
    fn a_partial_run_is_never_called_complete() {
        let partial = after(
            &live(json!({}), &CampaignStatus::default()),
            &ran(0, (1, 9), 7),
        );
        let ready = condition(&partial, "Ready").unwrap();
        assert_eq!(
            (ready.status, ready.reason.as_str()),
            (ConditionStatus::False, "Partial")
        );
        assert!(
            ready.message.starts_with("1 of 9 pods answered: pets-b: "),
            "{ready:?}"
        );
        assert!(ready.message.ends_with("; and 3 more"), "{ready:?}");
        let end = json!({ "until": { "time": "2023-11-14T22:00:00Z" } });
        let ended = after(&live(end, &CampaignStatus::default()), &ran(0, (1, 2), 7));
        assert_eq!(ended.phase, Some(CampaignPhase::Finished));
        assert_eq!(ended.next_run, None);
        let ready = condition(&ended, "Ready").unwrap();
        assert!(
            ready
                .message
                .ends_with("in the last run 1 of 2 pods answered"),
            "{ready:?}"
        );
    }

    #[test]
    fn a_problem_keeps_what_was_collected_and_is_told_once() {
        let first = after(
            &live(json!({}), &CampaignStatus::default()),
            &ran(0, (2, 2), 7),
        );
        let before = live(json!({}), &first);
        let problem = Problem::passing("NoEndpoints", "there is no pod");
        let told = with_problem(&before, &problem, "t1");
        assert_eq!((told.probes_hit, told.runs), (Some(7), 1));
        assert_eq!(told.phase, Some(CampaignPhase::Pending));
        assert_eq!(with_problem(&live(json!({}), &told), &problem, "t2"), told);
        let stalled = Problem::stalled("InvalidSpec", "no");
        let told = with_problem(&before, &stalled, "t1");
        assert_eq!(told.phase, Some(CampaignPhase::Failed));
        assert!(condition(&told, "Stalled").is_some());
    }

    #[test]
    fn mismatches_are_told_until_a_run_has_none() {
        let mut with = ran(0, (2, 2), 7);
        with.mismatches = vec!["class a/B has 3 probes here".into()];
        let told = after(&live(json!({}), &CampaignStatus::default()), &with);
        assert!(condition(&told, "ClassMismatch").is_some());
        let paused = suspended(&live(json!({}), &told), "t1");
        assert_eq!(paused.phase, Some(CampaignPhase::Suspended));
        assert!(condition(&paused, "ClassMismatch").is_some());
        let next = after(&live(json!({}), &paused), &ran(10, (2, 2), 7));
        assert!(condition(&next, "ClassMismatch").is_none());
    }
}
