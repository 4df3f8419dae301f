//! The unit of one Target: its agent, its Service and its status, whoever made it.

use std::sync::Arc;
use std::time::Instant;

use tracing::{Instrument, error_span, info, warn};

use super::agent::{deployment, tell_of_agent, told_of_agent};
use super::context::Context;
use super::name::Name;
use super::queue::{Again, Job};
use crate::api::condition::{Condition, ConditionStatus};
use crate::api::names::TARGET;
use crate::api::target::{Phase, TargetStatus};
use crate::cluster::{Cluster, ClusterError, EventType, NamespaceState};
use crate::plan::{Body, Plan, child_id, hold_back};
use crate::reconcile::{Outcome, Served, Terms, clear_away, now, serve};
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
        context.tended.forget_failures(name);
        context.tended.forget_rollout(name);
        return None;
    }
    let cluster = context.guarded(&context.cluster, name.target_shard());
    let begin = Instant::now();
    let found = find(context, &cluster, name).await;
    let its = match &found {
        Ok(Found::There(target)) => vec![child_id(target), target.deployment_id()],
        _ => Vec::new(),
    };
    let looked = match found {
        Ok(Found::There(target)) => tend(context, &cluster, name, *target).await,
        Ok(gone_or_left) => {
            context.tended.forget_rollout(name);
            match gone_or_left {
                Found::Gone => clear_up(context, &cluster, name).await,
                _ => Ok(true),
            }
        }
        Err(error) => Err(error),
    };
    context.metrics.target_reconciled(begin.elapsed());
    match looked {
        Ok(true) => {
            context.tended.forget_failures(name);
            context.tended.next_look(name, &its)
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

/// How a Target is.
enum Found {
    /// It is to be served.
    There(Box<Target>),
    /// It is gone, or going.
    Gone,
    /// Nothing is written for it: it cannot be read, or its namespace is going and takes everything along.
    LeftAlone,
}

async fn find(context: &Context, cluster: &Cluster, name: &Name) -> Result<Found, ClusterError> {
    let namespace = cluster.namespace_state(&name.namespace).await?;
    if namespace != Some(NamespaceState::Active) {
        return Ok(Found::LeftAlone);
    }
    let Some(seen) = cluster.target(&name.namespace, &name.name).await? else {
        return Ok(Found::Gone);
    };
    let target = match &seen.target {
        Ok(target) => target,
        Err(why) => {
            warn!("it is not served: {why}");
            let about = name.reference(TARGET, &seen.metadata.uid);
            let recorder = &context.recorder;
            recorder.record(&about, EventType::Warning, "InvalidSpec", why);
            return Ok(Found::LeftAlone);
        }
    };
    let going = target.live.as_ref().is_some_and(|live| live.terminating);
    Ok(match going {
        true => Found::Gone,
        false => Found::There(Box::new(target.clone())),
    })
}

/// Takes the agent of a Target that is gone out of Deployments.
async fn clear_up(context: &Context, cluster: &Cluster, name: &Name) -> Result<bool, ClusterError> {
    let cleared = clear_away(cluster, &name.namespace, &name.name).await?;
    let mut good = true;
    for (step, done) in cleared.plan.steps.iter().zip(&cleared.done) {
        // The Target is there no more to be told of.
        good &= tell_of_agent(context, &deployment(step), step, done, None);
    }
    Ok(good)
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
    let told = told_of_agent(&target);
    let said = context.configured.said();
    let terms = Terms {
        cluster_domain: &said.defaults.cluster_domain,
        images: &said.defaults.agent_images,
    };
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
    } = serve(cluster, target, insight, terms, &now, peace).await?;
    context.tended.keep_insight(name, insight);
    let mut good = plan.unreadable.is_empty();
    for (id, why) in &plan.unreadable {
        warn!(object = %id, "it gets no Service: {why}");
    }
    for (step, done) in plan.steps.iter().zip(&done) {
        if matches!(step.body, Body::Agent { .. }) || step.id.group_kind.kind == "Deployment" {
            good &= tell_of_agent(context, &about, step, done, told.as_deref());
            continue;
        }
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
