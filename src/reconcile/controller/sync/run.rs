//! One run of a Sync: the pipeline of the one-shot commands, with the memory of earlier runs.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::time::Instant;
use tracing::{debug, info, warn};

use super::live::LiveSync;
use super::memory::{Applied, Entry, Memory};
use crate::api::ObjectId;
use crate::api::sync::{DriftPolicy, SyncStatus};
use crate::cluster::ClusterError;
use crate::load::Severity;
use crate::metrics::Metrics;
use crate::plan::{Action, Body, Index, Step, drift_of, hold_back, index};
use crate::reconcile::controller::context::Context;
use crate::reconcile::{
    Access, Done, Outcome, Planned, Report, Settings, comes_back_changed, is_good, now,
    rendered_digest, sync,
};

/// So many objects are named in an Event; it has room for 1 kB.
const NAMED: usize = 5;

/// What a run did.
pub struct Ran {
    /// The plan and what it was made from.
    pub planned: Planned,
    /// What became of it.
    pub report: Report,
    /// Whether something that was applied came back changed: the next look tells whether by chance, and the one after that
    /// leaves it and says so.
    pub look_again: bool,
}

impl Ran {
    /// What was changed, in numbers; empty when nothing was.
    pub fn changes(&self) -> String {
        let outcomes = [Outcome::Created, Outcome::Configured, Outcome::Deleted];
        let counts = outcomes.map(|outcome| {
            let done = self.report.done.iter();
            (done.filter(|done| done.outcome == outcome).count(), outcome)
        });
        let told: Vec<String> = counts
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, outcome)| format!("{count} {}", outcome.word()))
            .collect();
        told.join(", ")
    }

    /// What people want to know of by name, if it came about: reason and message of an Event.
    pub fn feats(&self) -> impl Iterator<Item = (&'static str, String)> {
        let repaired = |step: &Step, done: &Done| step.drift && done.live.is_some();
        let pruned =
            |step: &Step, done: &Done| step.body == Body::Prune && done.outcome == Outcome::Deleted;
        let repaired = self.named(repaired).map(|objects| {
            let message = format!("others had changed {objects}: as in the source again");
            ("DriftCorrected", message)
        });
        let pruned = self.named(pruned).map(|objects| {
            let message = format!("deleted {objects}: no longer in the source");
            ("Pruned", message)
        });
        repaired.into_iter().chain(pruned)
    }

    /// Names objects, the first few of them; nothing when there are none.
    fn named(&self, which: impl Fn(&Step, &Done) -> bool) -> Option<String> {
        let steps = self.planned.plan.steps.iter().zip(&self.report.done);
        let ids: Vec<String> = steps
            .filter(|(step, done)| which(step, done))
            .map(|(step, _)| step.id.to_string())
            .collect();
        let (named, rest) = ids.split_at(ids.len().min(NAMED));
        match (named, rest.len()) {
            ([], _) => None,
            (named, 0) => Some(named.join(", ")),
            (named, more) => Some(format!("{} and {more} more", named.join(", "))),
        }
    }

    /// Why the cluster does not look like the source, in the words of the status.
    pub fn failure(&self) -> &str {
        said(&self.report.status, "Ready").unwrap_or_default()
    }

    /// What waits for an approval, unless that was said before.
    pub fn newly_waits(&self, before: &SyncStatus) -> Option<String> {
        let waits = said(&self.report.status, "PruneWaits");
        let news = waits.filter(|_| waits != said(before, "PruneWaits"));
        // In one line, as logs have it.
        news.map(|waits| waits.split_whitespace().collect::<Vec<_>>().join(" "))
    }

    /// Tells whether the cluster looks like the source now, as far as that was asked for.
    pub fn is_good(&self) -> bool {
        is_good(&self.planned, &self.report)
    }
}

/// The message of a condition.
fn said<'a>(status: &'a SyncStatus, type_: &str) -> Option<&'a str> {
    let mut conditions = status.conditions.iter();
    let found = conditions.find(|condition| condition.type_ == type_);
    found.map(|condition| condition.message.as_str())
}

/// Makes the cluster look like a snapshot.
///
/// # Errors
/// When the server cannot be asked, or the Sync cannot be written: then no member was touched.
pub async fn run(
    access: Access<'_>,
    live: &LiveSync,
    mut planned: Planned,
    settings: &Settings,
    (entry, memory): (&Entry, &mut Memory),
    context: &Context,
) -> Result<Ran, ClusterError> {
    tell_diagnostics(&planned);
    let desired = index(&planned.survey.desired);
    let before = entry.applied.get();
    // After a restart the status is all that is remembered: the same manifests were all applied.
    let all_applied = before.is_none()
        && live.is_ready()
        && live.status.rendered_digest.as_deref()
            == Some(&*rendered_digest(&planned.survey.desired));
    let was_applied = |step: &Step| {
        all_applied
            || before.as_ref().is_some_and(|before| {
                let known = before.objects.get(&step.id).map(|(_, digest)| digest);
                known.is_some() && known == digest_of(&desired, &step.id)
            })
    };
    let detect = live
        .spec
        .as_ref()
        .is_ok_and(|spec| spec.drift == Some(DriftPolicy::Detect));
    let start = Instant::now();
    let held = |step: &Step| {
        if detect {
            return Some("it is left so (drift: Detect)".to_owned());
        }
        let digest = digest_of(&desired, &step.id)?;
        memory
            .fights
            .holds(&step.id, digest, start)
            .map(str::to_owned)
    };
    hold_back(&mut planned.plan, was_applied, held);
    for step in planned.plan.steps.iter().filter(|step| step.drift) {
        context.metrics.drifted(&step.id.group_kind);
    }
    // Nothing in the cluster tells of it: to us belongs what a webhook has made of our apply.
    let steps = planned.plan.steps.iter_mut();
    for step in steps.filter(|step| step.action == Action::Unchanged) {
        if let Some((digest, fields)) = memory.rewritten.get(&step.id)
            && digest_of(&desired, &step.id) == Some(digest)
        {
            step.drift = true;
            step.reason = comes_back_changed(fields);
        }
    }
    let tell = |step: &Step, done: &Done| {
        context.note_written(step, done);
        tell(step, done, &context.metrics);
    };
    let (planned, report) = sync(access, planned, settings, &now().to_string(), &tell).await?;

    let desired = index(&planned.survey.desired);
    let applyset = settings.applyset();
    let (mut objects, mut look_again) = (BTreeMap::new(), false);
    for (step, done) in planned.plan.steps.iter().zip(&report.done) {
        let Some(desired) = desired.get(&step.id) else {
            continue;
        };
        let rewritten = match (&step.body, &done.live) {
            (Body::Apply { object, .. }, Some(live)) => {
                drift_of(object, &desired.digest, live, &applyset)
            }
            _ => None,
        };
        let repaired = step.drift && done.live.is_some();
        let (id, digest) = (&step.id, &desired.digest);
        memory
            .fights
            .note(id, digest, repaired, rewritten.is_some(), start);
        if let Some(how) = rewritten {
            warn!(object = %id, "what was applied came back changed ({how})");
            look_again = true;
        }
        match &done.rewritten {
            Some(fields) => {
                let known = (digest.clone(), fields.clone());
                memory.rewritten.insert(id.clone(), known);
            }
            None if done.live.is_some() => drop(memory.rewritten.remove(id)),
            None => {}
        }
        if done.outcome.is_good() {
            let object = match &step.body {
                Body::Apply { object, .. } => object,
                _ => &desired.object,
            };
            let body = object.to_string().into_boxed_str();
            objects.insert(id.clone(), (body, digest.clone()));
        }
    }
    memory.fights.retain(|id| desired.contains_key(id));
    memory.rewritten.retain(|id, _| desired.contains_key(id));
    let applied = Applied { applyset, objects };
    entry.applied.set(Some(Arc::new(applied)));
    Ok(Ran {
        planned,
        report,
        look_again,
    })
}

fn digest_of<'a>(desired: &'a Index<'_>, id: &ObjectId) -> Option<&'a String> {
    desired.get(id).map(|desired| &desired.digest)
}

fn tell_diagnostics(planned: &Planned) {
    for diagnostic in &planned.diagnostics {
        let place = diagnostic
            .position
            .map_or(String::new(), |at| format!(":{}:{}", at.line, at.column));
        let (file, message) = (&diagnostic.file, &diagnostic.message);
        match diagnostic.severity {
            Severity::Error => warn!("{file}{place}: {message}"),
            Severity::Warning => info!("{file}{place}: {message}"),
        }
    }
    let verdicts = planned.policies.verdicts.iter();
    for noted in verdicts.filter(|it| it.diagnostic().is_none()) {
        debug!("{}", noted.sentence());
    }
}

fn tell(step: &Step, done: &Done, metrics: &Metrics) {
    metrics.applied(done.outcome);
    let (object, message) = (&step.id, &done.message);
    match done.outcome {
        Outcome::Unchanged | Outcome::Kept => {}
        Outcome::Created | Outcome::Configured => {
            info!(%object, drift = step.drift, "{}: {message}", done.outcome.word());
        }
        Outcome::Deleted => {
            if step.body == Body::Prune {
                metrics.pruned();
            }
            info!(%object, "deleted: {message}");
        }
        Outcome::Refused | Outcome::Failed | Outcome::Skipped => {
            warn!(%object, "{}: {message}", done.outcome.word());
        }
    }
}
