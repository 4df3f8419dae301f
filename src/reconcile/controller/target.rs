//! The unit of one Target: its Service and its status, whoever made it.

use std::sync::Arc;
use std::time::Instant;

use tracing::{Instrument, error_span, info, warn};

use super::context::Context;
use super::name::Name;
use super::queue::{Again, Job};
use crate::api::condition::{Condition, ConditionStatus};
use crate::api::names::TARGET;
use crate::api::target::{Phase, TargetStatus};
use crate::cluster::{Cluster, ClusterError, EventType, NamespaceState};
use crate::plan::{Plan, hold_back};
use crate::reconcile::{Outcome, Served, now, serve};
use crate::render::{AGENT_INJECTED, REVERTED, Target};

/// Looks at a Target and does what is to be done.
pub async fn reconcile(context: Arc<Context>, job: Job<Name>) -> Again {
    let name = job.key;
    // Of the highest level, so that every line has its fields, whatever is logged. In the log, `target` is the module that a
    // line comes from.
    let span = error_span!("target", closurejvmtarget = %name);
    look(&context, &name).instrument(span).await
}

async fn look(context: &Context, name: &Name) -> Again {
    if !context.looks_after_target(name) {
        context.tended.forget(name);
        return None;
    }
    let cluster = context.guarded(&context.cluster, name.target_shard());
    let begin = Instant::now();
    let looked = match find(context, &cluster, name).await {
        Ok(Some(target)) => tend(context, &cluster, name, target).await,
        Ok(None) => {
            context.tended.forget(name);
            Ok(true)
        }
        Err(error) => Err(error),
    };
    context.metrics.target_reconciled(begin.elapsed());
    match looked {
        Ok(true) => {
            context.tended.forget_failures(name);
            context.tended.next_look(name)
        }
        // Another replica looks after it now, and tries.
        Err(ClusterError::NotOurs) => None,
        Ok(false) => Some(context.tended.try_again(name)),
        Err(error) => {
            warn!("{error}");
            Some(context.tended.try_again(name))
        }
    }
}

/// Finds the Target, unless it or its namespace is going: nothing is written there.
async fn find(
    context: &Context,
    cluster: &Cluster,
    name: &Name,
) -> Result<Option<Target>, ClusterError> {
    let Some(seen) = cluster.target(&name.namespace, &name.name).await? else {
        return Ok(None);
    };
    let target = match &seen.target {
        Ok(target) => target,
        Err(why) => {
            warn!("it is not served: {why}");
            let about = name.reference(TARGET, &seen.metadata.uid);
            let recorder = &context.recorder;
            recorder.record(&about, EventType::Warning, "InvalidSpec", why);
            return Ok(None);
        }
    };
    let going = target.live.as_ref().is_some_and(|live| live.terminating);
    let namespace = cluster.namespace_state(&name.namespace).await?;
    let going = going || namespace == Some(NamespaceState::Terminating);
    Ok((!going).then(|| target.clone()))
}

/// Does what is to be done; tells whether all of it came about.
async fn tend(
    context: &Context,
    cluster: &Cluster,
    name: &Name,
    target: Target,
) -> Result<bool, ClusterError> {
    let uid = target.live.as_ref().map_or("", |live| &live.uid);
    let about = name.reference(TARGET, uid);
    let said = context.configured.said();
    let (domain, image) = (&said.defaults.cluster_domain, &said.defaults.agent_image);
    let peace = |plan: &mut Plan| {
        hold_back(plan, |_| false, |step| context.tended.holds(&step.id));
        for step in plan.steps.iter().filter(|step| step.drift) {
            context.metrics.drifted(&step.id.group_kind);
        }
    };
    let (id, was_reverted) = (target.id(), target.reverted().is_some());
    let insight = context.tended.insight(name);
    let now = now().to_string();
    let Served {
        plan,
        done,
        insight,
        report,
    } = serve(cluster, target, insight, domain, image, &now, peace).await?;
    context.tended.keep_insight(name, insight);
    let mut good = plan.unreadable.is_empty();
    for (id, why) in &plan.unreadable {
        warn!(object = %id, "it gets no Service: {why}");
    }
    for (step, done) in plan.steps.iter().zip(&done) {
        context.metrics.applied(done.outcome);
        if step.drift && done.live.is_some() {
            context.tended.note_repair(&step.id);
        }
        good &= done.outcome.is_good();
        let message = &done.message;
        let feat = match done.outcome {
            Outcome::Kept if step.drift => {
                warn!(object = %step.id, "{message}");
                let what = format!("{}: {message}", step.id);
                let recorder = &context.recorder;
                recorder.record(&about, EventType::Warning, "DriftDetected", &what);
                continue;
            }
            Outcome::Unchanged | Outcome::Kept => continue,
            Outcome::Refused | Outcome::Failed | Outcome::Skipped => {
                warn!(object = %step.id, "{}: {message}", done.outcome.word());
                continue;
            }
            Outcome::Created | Outcome::Configured if step.drift => "DriftCorrected",
            Outcome::Created | Outcome::Configured => "CoverageServiceApplied",
            Outcome::Deleted => "CoverageServiceDeleted",
        };
        let what = format!("{}: {message}", done.outcome.word());
        info!(object = %step.id, "{what}");
        let what = format!("{} {what}", step.id);
        context
            .recorder
            .record(&about, EventType::Normal, feat, &what);
    }
    let Some((report, written)) = report else {
        return Ok(good);
    };
    if written.is_none() && !was_reverted && is_reverted(&report.status) {
        // What has to be done for that begins with what status says. Nobody is left to be told when this fails.
        let _ = context.written.send(id);
    }
    if let Some(Condition {
        reason, message, ..
    }) = failure(&report.status)
    {
        let recorder = &context.recorder;
        recorder.record(&about, EventType::Warning, reason, message);
    }
    written.map_or(Ok(good), Err)
}

/// Tells whether the agent is taken out again because the rollout failed with it.
fn is_reverted(status: &TargetStatus) -> bool {
    let mut conditions = status.conditions.iter();
    conditions.any(|c| c.type_ == AGENT_INJECTED && c.reason == REVERTED)
}

/// Why a Target is not served, unless that is only a matter of time.
fn failure(status: &TargetStatus) -> Option<&Condition> {
    let failed = matches!(status.phase, Some(Phase::Failed | Phase::Pending));
    let mut conditions = status.conditions.iter();
    conditions.find(|c| failed && c.type_ == "Ready" && c.status == ConditionStatus::False)
}
