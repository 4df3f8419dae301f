//! One run from a snapshot to the cluster: survey, plan, and, when asked, the writes.

use std::collections::{BTreeMap, BTreeSet};

use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::parent::{check_tooling, keep_inventory};
use super::targets::{Facts as TargetFacts, TargetReport, report_targets};
use super::wait::{Unhealthy, wait_until_current};
use super::{Done, Inventory, Outcome, Settings, Survey, execute, guard_contents, record, survey};
use crate::api::names::API_VERSION;
use crate::api::{ObjectId, crds};
use crate::cluster::{Cluster, ClusterError};
use crate::load::{Diagnostic, Limits, Severity, Snapshot, add_excerpts, load};
use crate::plan::{Action, Body, Inputs, Plan, PruneRules, Step, build, index, targets};
use crate::render::{Desired, Target, digest};

/// A plan and all that it was made from.
pub struct Planned {
    /// What would be done.
    pub plan: Plan,
    /// What the cluster has and the source asks for.
    pub survey: Survey,
    /// All that is wrong with the source.
    pub diagnostics: Vec<Diagnostic>,
    /// The revision that was read.
    pub revision: String,
    targets: Vec<Target>,
}

impl Planned {
    /// Tells whether the source has errors.
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }
}

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

/// Makes the plan of a snapshot. Reads only.
///
/// # Errors
/// When the server cannot be asked.
pub async fn make_plan(
    cluster: &Cluster,
    snapshot: &Snapshot,
    settings: &Settings,
) -> Result<Planned, ClusterError> {
    let loaded = load(snapshot, &Limits::default());
    let survey = survey(cluster, &loaded.documents, settings).await?;
    check_tooling(survey.parent.as_ref())?;
    let mut diagnostics = snapshot.diagnostics.clone();
    diagnostics.extend(loaded.diagnostics);
    let mut found = survey.diagnostics.clone();
    add_excerpts(&mut found, snapshot);
    diagnostics.extend(found);
    let applyset = settings.applyset();
    let inputs = Inputs {
        desired: &survey.desired,
        index: &index(&survey.desired),
        known: &survey.known,
        applyset: &applyset,
        force_conflicts: settings.force_conflicts,
        prune: PruneRules {
            enabled: settings.prune,
            complete: !diagnostics.iter().any(|d| d.severity == Severity::Error),
            unseen: survey.known.unseen.first().map(String::as_str),
            empty: survey.desired.is_empty(),
            allow_empty: settings.allow_empty,
            limit: settings.prune_limit.as_ref(),
            own_namespace: &settings.namespace,
            members: survey.known.members.len(),
        },
    };
    let mut plan = build(&inputs);
    let (targets, _) = targets(&inputs);
    guard_contents(cluster, &mut plan, &applyset).await?;
    Ok(Planned {
        plan,
        survey,
        diagnostics,
        revision: snapshot.revision.clone(),
        targets,
    })
}

/// Installs our own kinds and returns their names.
///
/// # Errors
/// As the server answers, for instance when we may not.
pub async fn install_kinds(cluster: &Cluster) -> Result<Vec<String>, ClusterError> {
    let versions = BTreeSet::from(["apiextensions.k8s.io/v1".to_owned()]);
    let kinds = cluster.kinds(&versions).await?;
    let kind = kinds
        .get("apiextensions.k8s.io/v1", "CustomResourceDefinition")
        .ok_or_else(|| {
            ClusterError::NotFound("the API server has no apiextensions.k8s.io/v1".into())
        })?;
    let crds = crds().map_err(|error| ClusterError::Invalid(error.to_string()))?;
    let mut installed = Vec::new();
    for crd in &crds {
        let live = cluster.apply(kind, crd, false).await?;
        installed.push(live.name);
    }
    for name in &installed {
        execute::established(cluster, &kinds, name).await;
    }
    Ok(installed)
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

    let before = Inventory::read(planned.survey.parent.as_ref());
    let wanted = inventory(&planned, &report);
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
    let parent = planned.survey.parent.as_ref();
    let written = keep_inventory(cluster, &sync_kind, parent, settings, &most).await?;

    let targets: BTreeMap<ObjectId, Target> = planned
        .targets
        .iter()
        .map(|t| (t.id(), t.clone()))
        .collect();
    report.done = execute::execute(
        cluster,
        &planned.plan,
        &mut planned.survey.kinds,
        &targets,
        settings,
        observe,
    )
    .await?;
    for (step, done) in planned.plan.steps.iter().zip(&report.done) {
        if done.outcome == Outcome::Deleted {
            planned.survey.known.deployments.remove(&step.id);
        }
    }
    if let Err(error) = tend_targets(cluster, &mut planned, settings, now, &mut report).await {
        report
            .trouble
            .push(format!("the status of Targets is not up to date: {error}"));
    }

    let least = inventory(&planned, &report);
    if least.group_kinds != most.group_kinds || least.namespaces != most.namespaces {
        keep_inventory(cluster, &sync_kind, None, settings, &least).await?;
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

/// Waits if asked to, and writes the status of Targets.
async fn tend_targets(
    cluster: &Cluster,
    planned: &mut Planned,
    settings: &Settings,
    now: &str,
    report: &mut Report,
) -> Result<(), ClusterError> {
    let Planned {
        plan,
        survey,
        targets,
        ..
    } = planned;
    let deadline = settings.wait.map(|wait| Instant::now() + wait);
    if let Some(deadline) = deadline {
        let good: BTreeSet<&ObjectId> = plan
            .steps
            .iter()
            .zip(&report.done)
            .filter(|(_, done)| done.outcome.is_good())
            .map(|(s, _)| &s.id)
            .collect();
        let objects: Vec<&Desired> = survey
            .desired
            .iter()
            .filter(|d| good.contains(&d.id))
            .collect();
        report.unhealthy = wait_until_current(cluster, &survey.kinds, &objects, deadline).await?;
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
            report_targets(&facts, targets, &mut survey.known, deadline.is_some()).await?;
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
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
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
                .map(|u| format!("{} is not healthy: {:?}", u.id, u.health))
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
