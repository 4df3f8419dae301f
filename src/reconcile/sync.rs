//! From a plan to the cluster: the parent first, then the steps, then what there is to tell.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use serde_json::json;
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::parent::{keep_inventory, other_source, read_parent};
use super::targets::{Facts as TargetFacts, TargetReport, report_targets};
use super::wait::{Unhealthy, wait_until_current};
use super::{Done, Inventory, Outcome, Planned, Settings, execute, record};
use crate::api::ObjectId;
use crate::api::names::API_VERSION;
use crate::cluster::{Cluster, ClusterError, Kind};
use crate::load::Severity;
use crate::plan::{Action, Body, Live, Step, index};
use crate::render::{Desired, Target, digest};

/// More runs than these at once would wait for each other anyway.
const TRIES: u32 = 10;

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
}

/// Executes a plan and writes what became of it.
///
/// # Errors
/// When the server cannot be asked, or the apply set's parent cannot be written: then no member is touched.
pub async fn sync(
    cluster: &Cluster,
    mut planned: Planned,
    settings: &Settings,
    now: &str,
    observe: &(dyn Fn(&Step, &Done) + Sync),
) -> Result<(Planned, Report), ClusterError> {
    let mut report = Report::default();
    let sync_kind = planned.survey.kinds.get(API_VERSION, "Sync").cloned();
    let sync_kind = sync_kind
        .ok_or_else(|| ClusterError::NotFound(format!("the kind Sync of {API_VERSION}")))?;
    make_own_namespace(cluster, &planned, settings).await?;

    let mut settings = settings.clone();
    // What the set was written from is remembered until somebody says that another source takes over.
    if let Some(other) = other_source(planned.survey.parent.as_ref(), &settings) {
        settings.source = other.to_owned();
    }
    let settings = &settings;
    let wanted = inventory(&planned, &report);
    let (most, written) = widen(cluster, &sync_kind, &mut planned, settings, &wanted).await?;

    let targets: BTreeMap<ObjectId, Target> = planned
        .plan
        .targets
        .iter()
        .map(|t| (t.id(), t.clone()))
        .collect();
    let deadline = settings.wait.map(|wait| Instant::now() + wait);
    report.done = execute::execute(
        cluster,
        &planned.plan,
        &mut planned.survey.kinds,
        &targets,
        settings.concurrency,
        deadline,
        observe,
    )
    .await?;
    for (step, done) in planned.plan.steps.iter().zip(&report.done) {
        if done.outcome == Outcome::Deleted {
            planned.survey.known.deployments.remove(&step.id);
        }
    }
    if let Err(error) =
        tend_targets(cluster, &mut planned, settings, deadline, now, &mut report).await
    {
        report
            .trouble
            .push(format!("the status of Targets is not up to date: {error}"));
    }

    let least = inventory(&planned, &report);
    // Members that we may not see are members all the same: nothing is taken off the list then.
    let all_seen = planned.survey.known.unseen.is_empty();
    let fewer = least.group_kinds != most.group_kinds || least.namespaces != most.namespaces;
    if all_seen && fewer {
        let parent = match &written {
            Some(live) => Some(json!({ "metadata": { "resourceVersion": live.resource_version } })),
            None => planned.survey.parent.clone(),
        };
        match keep_inventory(cluster, &sync_kind, parent.as_ref(), settings, &least).await {
            // Another run has added to it since; a list that names too much does no harm.
            Ok(_) | Err(ClusterError::Changed(_)) => {}
            Err(error) => return Err(error),
        }
    }
    let generation = planned
        .survey
        .parent
        .as_ref()
        .and_then(|p| p.pointer("/metadata/generation")?.as_i64());
    let trouble = trouble(&planned, &report);
    let previous = record::previous(planned.survey.parent.as_ref());
    let status = record::record(
        &record::Facts {
            revision: &planned.revision,
            digest: &rendered_digest(&planned.survey.desired),
            total: planned.survey.desired.len(),
            done: &report.done,
            trouble: trouble.as_deref(),
            generation: written.and_then(|live| live.generation).or(generation),
            now,
        },
        &previous,
    );
    if status != previous {
        let body = serde_json::to_value(&status).unwrap_or_default();
        cluster
            .apply_status(&sync_kind, &settings.namespace, &settings.name, &body)
            .await?;
    }
    Ok((planned, report))
}

/// Makes the parent name all that was there before and all that is to come, whatever other runs write meanwhile.
async fn widen(
    cluster: &Cluster,
    kind: &Kind,
    planned: &mut Planned,
    settings: &Settings,
    wanted: &Inventory,
) -> Result<(Inventory, Option<Live>), ClusterError> {
    let mut tries = 0;
    loop {
        let parent = planned.survey.parent.as_ref();
        let before = Inventory::read(parent);
        let most = Inventory {
            group_kinds: before
                .group_kinds
                .union(&wanted.group_kinds)
                .cloned()
                .collect(),
            namespaces: before
                .namespaces
                .union(&wanted.namespaces)
                .cloned()
                .collect(),
        };
        match keep_inventory(cluster, kind, parent, settings, &most).await {
            Err(ClusterError::Changed(_)) if tries < TRIES => {
                tries += 1;
                planned.survey.parent = read_parent(cluster, kind, settings).await?;
            }
            written => return Ok((most, written?)),
        }
    }
}

/// Waits if asked to, and writes the status of Targets.
async fn tend_targets(
    cluster: &Cluster,
    planned: &mut Planned,
    settings: &Settings,
    deadline: Option<Instant>,
    now: &str,
    report: &mut Report,
) -> Result<(), ClusterError> {
    let Planned { plan, survey, .. } = planned;
    let mut targets = plan.targets.clone();
    if let Some(deadline) = deadline {
        let steps = plan.steps.iter().zip(&report.done);
        let good = |(step, done): &(&Step, &Done)| {
            matches!(step.body, Body::Apply { .. }) && done.outcome.is_good()
        };
        let steps: Vec<&Step> = steps.filter(good).map(|(step, _)| step).collect();
        report.unhealthy = wait_until_current(cluster, &survey.kinds, &steps, deadline).await?;
    }
    let index = index(&survey.desired);
    let facts = TargetFacts {
        cluster,
        kinds: &survey.kinds,
        index: &index,
        plan,
        done: &report.done,
        settings,
        now,
    };
    loop {
        let results =
            report_targets(&facts, &targets, &mut survey.known, deadline.is_some()).await?;
        let settled = results.iter().all(|(report, _)| report.is_settled());
        let waiting = deadline.is_some_and(|deadline| !settled && Instant::now() < deadline);
        for (target, _) in &results {
            let live = targets
                .iter_mut()
                .find(|t| t.namespace == target.namespace && t.name == target.name);
            if let Some(live) = live.and_then(|t| t.live.as_mut()) {
                live.status = target.status.clone();
            }
        }
        if waiting {
            tokio::time::sleep(Duration::from_secs(1)).await;
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

/// The Sync lives in a namespace that may itself come from the source; then it must be there first.
async fn make_own_namespace(
    cluster: &Cluster,
    planned: &Planned,
    settings: &Settings,
) -> Result<(), ClusterError> {
    let step = planned.plan.steps.iter().find(|step| {
        step.id.group_kind.kind == "Namespace"
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
fn inventory(planned: &Planned, report: &Report) -> Inventory {
    let deleted: BTreeSet<&ObjectId> = planned
        .plan
        .steps
        .iter()
        .zip(&report.done)
        .filter(|(_, done)| done.outcome == Outcome::Deleted)
        .map(|(step, _)| &step.id)
        .collect();
    let members = planned
        .survey
        .known
        .members
        .keys()
        .filter(|id| !deleted.contains(id));
    let ids: Vec<&ObjectId> = planned
        .survey
        .desired
        .iter()
        .map(|d| &d.id)
        .chain(members)
        .collect();
    Inventory {
        group_kinds: ids.iter().map(|id| id.group_kind.clone()).collect(),
        namespaces: ids.iter().filter_map(|id| id.namespace.clone()).collect(),
    }
}

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
                .map(|why| format!("nothing was pruned: {why}"))
        })
        .or_else(|| {
            report
                .unhealthy
                .first()
                .map(|u| format!("{} is not healthy: {}", u.id, u.health))
        })
        .or_else(|| report.trouble.first().cloned())
}

fn rendered_digest(desired: &[Desired]) -> String {
    let mut hash = Sha256::new();
    let digests: BTreeMap<&ObjectId, &str> =
        desired.iter().map(|d| (&d.id, d.digest.as_str())).collect();
    for (id, digest) in digests {
        hash.update(format!("{id} {digest}\n"));
    }
    digest(&serde_json::Value::String(
        hash.finalize()
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect(),
    ))
}
