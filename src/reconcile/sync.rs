//! From a plan to the cluster: the parent first, then the steps, then what there is to tell.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;
use tokio::time::Instant;

use super::approval::spend;
use super::execute::Execution;
use super::inventory::Inventory;
use super::parent::{keep_inventory, other_source, read_parent};
use super::targets::{Facts as TargetFacts, TargetReport, report_targets};
use super::wait::{Unhealthy, Waiting, wait_until_current};
use super::{Access, Done, Insight, Outcome, Planned, Settings, Survey, Waits, record};
use crate::api::ObjectId;
use crate::api::digest::sha256;
use crate::api::names::{API_VERSION, SYNC};
use crate::api::sync::SyncStatus;
use crate::api::target::TargetStatus;
use crate::cluster::{Cluster, ClusterError, Kind};
use crate::load::Severity;
use crate::plan::{Action, Body, Live, Step, index};
use crate::render::{Desired, Target};

/// More runs than these at once would wait for each other anyway.
const TRIES: u32 = 10;

/// Between two looks at the rollout behind Targets.
const LOOK_AGAIN: Duration = Duration::from_secs(1);

/// What a sync did.
#[derive(Debug, Default)]
pub struct Report {
    /// What became of each step of the plan.
    pub done: Vec<Done>,
    /// Targets and their status.
    pub targets: Vec<TargetReport>,
    /// Objects that did not become healthy in time.
    pub unhealthy: Vec<Unhealthy>,
    /// What else went wrong.
    pub trouble: Vec<String>,
    /// What the Sync's status says now.
    pub status: SyncStatus,
}

/// Tells whether the cluster looks like the source after a run.
pub fn is_good(planned: &Planned, report: &Report) -> bool {
    !planned.has_errors()
        && planned.plan.prune_refused.is_none()
        && report.done.iter().all(|done| done.outcome.is_good())
        && report.unhealthy.is_empty()
        && report.trouble.is_empty()
}

/// Executes a plan and writes what became of it.
///
/// # Errors
/// When the server cannot be asked, or the apply set's parent cannot be written: then no member is touched.
pub async fn sync(
    access: Access<'_>,
    mut planned: Planned,
    settings: &Settings,
    now: &str,
    observe: &(dyn Fn(&Step, &Done) + Sync),
) -> Result<(Planned, Report), ClusterError> {
    let kind = planned.survey.kinds.get(API_VERSION, SYNC).cloned();
    let kind = kind.ok_or_else(|| {
        ClusterError::NotFound(format!(
            "the cluster does not know the kind {SYNC} of {API_VERSION}"
        ))
    })?;
    make_own_namespace(access.members, &planned, settings).await?;
    let mut settings = settings.clone();
    // What the set was written from is remembered until somebody says that another source takes over.
    if let Some(other) = other_source(planned.survey.parent.as_ref(), &settings) {
        settings.source = other.to_owned();
    }
    let settings = &settings;
    let (most, written) = widen(access.sync, &kind, &mut planned, settings).await?;

    let deadline = settings.wait.map(|wait| Instant::now() + wait);
    let waiting = deadline.map(|deadline| Waiting {
        deadline,
        give_way: settings.give_way.clone(),
        on_targets: !settings.serve_targets,
    });
    let execution = Execution {
        cluster: access.members,
        plan: &planned.plan,
        concurrency: settings.concurrency,
        waiting: waiting.as_ref(),
        compare: settings.compares,
        observe,
    };
    let kinds = &mut planned.survey.kinds;
    let mut report = Report {
        done: execution.run(kinds).await?,
        ..Report::default()
    };
    let run = Run {
        access,
        settings,
        waiting: waiting.as_ref(),
        now,
    };
    for (step, done) in planned.plan.steps.iter().zip(&report.done) {
        if done.outcome == Outcome::Deleted {
            planned.survey.known.deployments.remove(&step.id);
        }
    }
    if let Err(error) = tend_targets(&run, &mut planned, &mut report).await {
        report
            .trouble
            .push(format!("the status of Targets is not up to date: {error}"));
    }

    if let Err(error) = narrow(&run, &kind, &planned, &report.done, &most, written.as_ref()).await {
        report
            .trouble
            .push(format!("the inventory names more than there is: {error}"));
    }
    if let Err(error) = spend(access, &kind, &planned, &report.done, settings).await {
        report.trouble.push(format!(
            "the approval of these prunes was used and is still there: {error}"
        ));
    }
    let generation = written.and_then(|live| live.generation);
    let previous = record::previous(planned.survey.parent.as_ref());
    report.status = status(&run, &planned, &report, &previous, generation);
    if settings.writes_status
        && report.status != previous
        && let Err(error) = write_status(&run, &kind, &report.status).await
    {
        report
            .trouble
            .push(format!("the status of the Sync is not up to date: {error}"));
    }
    Ok((planned, report))
}

/// Makes the parent name all that was there before and all that is to come, whatever other runs write meanwhile.
async fn widen(
    cluster: &Cluster,
    kind: &Kind,
    planned: &mut Planned,
    settings: &Settings,
) -> Result<(Inventory, Option<Live>), ClusterError> {
    let wanted = inventory(planned, &[]);
    let mut tries = 0;
    loop {
        let parent = planned.survey.parent.as_ref();
        let most = Inventory::read(parent).union(&wanted);
        match keep_inventory(cluster, kind, parent, settings, &most).await {
            Err(ClusterError::Changed(_)) if tries < TRIES => {
                tries += 1;
                planned.survey.parent = read_parent(cluster, kind, settings).await?;
            }
            written => return Ok((most, written?)),
        }
    }
}

/// Takes from the parent what is there no more. `most` is what it says, and `written` its metadata if this run wrote it.
async fn narrow(
    run: &Run<'_>,
    kind: &Kind,
    planned: &Planned,
    done: &[Done],
    most: &Inventory,
    written: Option<&Live>,
) -> Result<(), ClusterError> {
    let least = inventory(planned, done);
    // Members that we may not see are members all the same: nothing is taken off the list then.
    if !planned.survey.known.unseen.is_empty() || least == *most {
        return Ok(());
    }
    let parent = match written {
        Some(live) => Some(json!({ "metadata": { "resourceVersion": live.resource_version } })),
        None => planned.survey.parent.clone(),
    };
    match keep_inventory(run.access.sync, kind, parent.as_ref(), run.settings, &least).await {
        // Another run has added to it since; a list that names too much does no harm.
        Ok(_) | Err(ClusterError::Changed(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// What a run is done with.
struct Run<'a> {
    access: Access<'a>,
    settings: &'a Settings,
    /// How long to wait; without it nothing is waited for.
    waiting: Option<&'a Waiting>,
    /// In RFC 3339 with seconds.
    now: &'a str,
}

/// What there is to say of the Sync after a run. `generation` is the one that this run made.
fn status(
    run: &Run<'_>,
    planned: &Planned,
    report: &Report,
    previous: &SyncStatus,
    generation: Option<i64>,
) -> SyncStatus {
    let survey = &planned.survey;
    let known = || {
        let parent = survey.parent.as_ref()?;
        parent.pointer("/metadata/generation")?.as_i64()
    };
    let digest = rendered_digest(&survey.desired);
    let waits = planned.waits();
    let mut remarks = run.settings.remarks.clone();
    remarks.extend(waits.as_ref().map(|Waits { objects, .. }| match objects {
        1 => "1 prune waits for approval".to_owned(),
        more => format!("{more} prunes wait for approval"),
    }));
    let denial = denial(planned);
    let denied = denial.is_some();
    let trouble = denial.or_else(|| trouble(planned, report));
    let facts = record::Facts {
        revision: &planned.revision,
        digest: &digest,
        total: survey.desired.len(),
        done: &report.done,
        trouble: trouble.as_deref(),
        denied,
        drifted: drifted(planned, &report.done),
        waits,
        remarks: &remarks,
        requested_at: run.settings.requested_at.as_deref(),
        // A spec that was edited meanwhile is not what was done.
        generation: run.settings.generation.or(generation).or_else(known),
        now: run.now,
    };
    record::record(&facts, previous)
}

async fn write_status(run: &Run<'_>, kind: &Kind, status: &SyncStatus) -> Result<(), ClusterError> {
    let Settings {
        namespace, name, ..
    } = run.settings;
    let body = serde_json::to_value(status).unwrap_or_default();
    let cluster = run.access.sync;
    cluster.apply_status(kind, namespace, name, &body).await
}

/// Waits if asked to, and writes the status of Targets.
async fn tend_targets(
    run: &Run<'_>,
    planned: &mut Planned,
    report: &mut Report,
) -> Result<(), ClusterError> {
    let Planned { plan, survey, .. } = planned;
    let mut targets = plan.targets.clone();
    let cluster = run.access.members;
    if let Some(waiting) = run.waiting {
        let steps = plan.steps.iter().zip(&report.done);
        let good = |(step, done): &(&Step, &Done)| {
            matches!(step.body, Body::Apply { .. }) && done.outcome.is_good()
        };
        let steps: Vec<&Step> = steps.filter(good).map(|(step, _)| step).collect();
        report.unhealthy = wait_until_current(cluster, &survey.kinds, &steps, waiting).await;
    }
    if !run.settings.serve_targets {
        return Ok(());
    }
    let index = index(&survey.desired);
    let facts = TargetFacts {
        cluster,
        kinds: &survey.kinds,
        index: &index,
        plan,
        done: &report.done,
        cluster_domain: &run.settings.cluster_domain,
        agent_image: &run.settings.agent_image,
        composed: &survey.composed,
        insight: &Insight::default(),
        others: &plan.targets,
        concurrency: run.settings.concurrency,
        now: run.now,
    };
    loop {
        let fresh = run.waiting.is_some();
        let results = report_targets(&facts, &targets, &mut survey.known, fresh).await?;
        let settled = results.iter().all(|(report, _)| report.is_settled());
        if !settled && run.waiting.is_some_and(|waiting| !waiting.is_over()) {
            remember(&mut targets, results);
            tokio::time::sleep(LOOK_AGAIN).await;
            continue;
        }
        for (target, error) in results {
            if let Some(error) = error {
                report.trouble.push(format!(
                    "write the status of {}/{}: {error}",
                    target.namespace, target.name
                ));
            }
            report.targets.push(target);
        }
        return Ok(());
    }
}

/// Notes the statuses that were written, so that the next look writes only what is new; failed writes are tried again.
fn remember(targets: &mut [Target], results: Vec<(TargetReport, Option<ClusterError>)>) {
    let mut written: BTreeMap<(String, String), TargetStatus> = results
        .into_iter()
        .filter(|(_, error)| error.is_none())
        .map(|(target, _)| ((target.namespace, target.name), target.status))
        .collect();
    for target in targets {
        let place = (target.namespace.clone(), target.name.clone());
        if let (Some(live), Some(status)) = (&mut target.live, written.remove(&place)) {
            live.status = status;
        }
    }
}

/// The Sync lives in a namespace that may itself come from the source; then it must be there first.
async fn make_own_namespace(
    cluster: &Cluster,
    planned: &Planned,
    settings: &Settings,
) -> Result<(), ClusterError> {
    let step = planned.plan.steps.iter().find(|step| {
        step.id.group_kind.is_namespace()
            && step.id.name == settings.namespace
            && step.action == Action::Create
    });
    let (Some(step), Some(kind)) = (step, planned.survey.kinds.get("v1", "Namespace")) else {
        return Ok(());
    };
    if let Body::Apply { object, force } = &step.body {
        cluster.apply(kind, object, *force).await?;
    }
    Ok(())
}

/// What the set holds: all that the source asks for, and what has left it but is still there.
fn inventory(planned: &Planned, done: &[Done]) -> Inventory {
    let deleted: BTreeSet<&ObjectId> = planned
        .plan
        .steps
        .iter()
        .zip(done)
        .filter(|(_, done)| done.outcome == Outcome::Deleted)
        .map(|(step, _)| &step.id)
        .collect();
    let Survey { desired, known, .. } = &planned.survey;
    let members = known.members.keys().filter(|id| !deleted.contains(id));
    Inventory::of(desired.iter().map(|d| &d.id).chain(members))
}

/// Why the cluster does not look like the source, beyond steps that did not come about: the weightiest reason.
fn trouble(planned: &Planned, report: &Report) -> Option<String> {
    let first = planned
        .diagnostics
        .iter()
        .find(|d| d.severity == Severity::Error);
    let source = first.map(|d| {
        let place = d
            .position
            .map_or(String::new(), |p| format!(":{}:{}", p.line, p.column));
        format!(
            "the source has errors, the first at {}{place}: {}",
            d.file, d.message
        )
    });
    source
        .or_else(|| {
            planned
                .plan
                .prune_refused
                .as_ref()
                .map(|why| nothing_was_pruned(planned, why))
        })
        .or_else(|| {
            report
                .unhealthy
                .first()
                .map(|u| format!("{} is not healthy: {}", u.id, u.health))
        })
        .or_else(|| report.trouble.first().cloned())
}

/// What only a limit keeps from going, an approval lets go.
fn nothing_was_pruned(planned: &Planned, why: &str) -> String {
    let how = match planned.waits() {
        Some(_) => "; raise the limit, or approve it (PruneWaits tells how)",
        None => "",
    };
    format!("nothing was pruned: {why}{how}")
}

/// What policies hold back first, if they do and nothing else is wrong with the source.
fn denial(planned: &Planned) -> Option<String> {
    let Planned {
        policies,
        diagnostics,
        ..
    } = planned;
    let mut denials = policies.verdicts.iter().filter(|it| it.denies());
    let first = denials.next()?;
    // Verdicts come after all that could not be read.
    let error = diagnostics.iter().find(|d| d.severity == Severity::Error)?;
    let sentence = first.sentence();
    if error.message != sentence {
        return None;
    }
    let place = first.origin.as_ref();
    let place = place.map_or_else(String::new, |origin| format!(" ({origin})"));
    let more = match denials.count() {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    Some(format!("{sentence}{place}{more}"))
}

/// What others have changed and this run leaves so: three of the objects, and how many more.
fn drifted(planned: &Planned, done: &[Done]) -> Option<String> {
    let left = |(step, done): (&Step, &Done)| match &done.rewritten {
        Some(fields) => Some(format!("{}: {}", step.id, comes_back_changed(fields))),
        None => {
            (step.drift && !step.action.is_write()).then(|| format!("{}: {}", step.id, step.reason))
        }
    };
    let steps = planned.plan.steps.iter().zip(done);
    let all: Vec<String> = steps.filter_map(left).collect();
    let mut told: Vec<String> = all.iter().take(3).cloned().collect();
    if all.len() > told.len() {
        told.push(format!("{} more", all.len() - told.len()));
    }
    (!told.is_empty()).then(|| told.join("; "))
}

/// Says that a webhook has rewritten fields of what was applied.
pub fn comes_back_changed(fields: &str) -> String {
    format!("{fields} comes back changed from an apply: a webhook rewrites it, and it is left so")
}

/// Digest of all that the source asks for, whatever the order of its files.
pub fn rendered_digest(desired: &[Desired]) -> String {
    let mut lines: Vec<String> = desired
        .iter()
        .map(|d| format!("{} {}\n", d.id, d.digest))
        .collect();
    lines.sort_unstable();
    sha256(lines.concat())
}
