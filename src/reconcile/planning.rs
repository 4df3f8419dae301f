//! From a snapshot to a plan. Reads only, but for the installation of our own kinds.

use std::collections::BTreeSet;

use super::approval::PruneApproval;
use super::compute::compute;
use super::contents::guard_contents;
use super::parent::{check_tooling, other_source};
use super::policies::{Judge, Judged};
use super::survey::survey;
use super::{Access, Settings, Survey, execute};
use crate::api::{GroupKind, ObjectId, crds};
use crate::cluster::{Cluster, ClusterError};
use crate::load::{Diagnostic, Loaded, Severity, Snapshot, add_excerpts, keep_most, load};
use crate::plan::{
    Inputs, Plan, PruneRules, build, compose_agents, hold_denied, index, withhold_prunes,
};
use crate::policy::{Gathered, Report, gather};
use crate::render::{Desired, Target};

/// A plan and all that it was made from.
pub struct Planned {
    /// What would be done.
    pub plan: Plan,
    /// What the cluster has and the source asks for.
    pub survey: Survey,
    /// What policies say of it.
    pub policies: Report,
    /// All that is wrong with the source.
    pub diagnostics: Vec<Diagnostic>,
    /// The revision that was read.
    pub revision: String,
    /// What people have said about its prunes.
    pub approval: PruneApproval,
}

impl Planned {
    /// Tells whether the source has errors.
    pub fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }
}

/// Makes the plan of a snapshot. Reads only.
///
/// # Errors
/// When the server cannot be asked.
pub async fn make_plan(
    access: Access<'_>,
    snapshot: &Snapshot,
    settings: &Settings,
) -> Result<Planned, ClusterError> {
    let loaded = compute(|| load(snapshot, &settings.limits));
    plan_loaded(access, snapshot, loaded, settings).await
}

/// Makes the plan of a snapshot that is parsed already. Reads only.
///
/// # Errors
/// When the server cannot be asked.
pub async fn plan_loaded(
    access: Access<'_>,
    snapshot: &Snapshot,
    loaded: Loaded,
    settings: &Settings,
) -> Result<Planned, ClusterError> {
    let Gathered {
        documents,
        diagnostics: faults,
        policies,
    } = compute(|| {
        let (asked, namespace) = (&settings.policies, &settings.target_namespace);
        gather(loaded, snapshot, asked, &settings.limits, namespace)
    });
    let mut survey = survey(access, &documents, settings).await?;
    survey.known.reverted = reverted(access.sync, &survey, settings).await?;
    check_tooling(survey.parent.as_ref())?;
    let mut diagnostics = snapshot.diagnostics.clone();
    diagnostics.extend(faults);
    diagnostics.extend(policies.diagnostics.iter().cloned());
    let judge = Judge::new(access.members, &policies, settings, &documents);
    let Judged {
        mut report,
        mut denied,
    } = judge_composed(&judge, &mut survey, settings).await?;
    survey.known.denied = denied.clone();
    let mut found = keep_most(survey.diagnostics.iter().cloned(), settings.limits.faults);
    add_excerpts(&mut found, snapshot);
    diagnostics.extend(found);
    let applyset = settings.applyset();
    let approval = PruneApproval::of(survey.parent.as_ref(), settings, &snapshot.revision);
    let inputs = Inputs {
        desired: &survey.desired,
        index: &index(&survey.desired),
        known: &survey.known,
        applyset: &applyset,
        force_conflicts: settings.force_conflicts,
        serve_targets: settings.serve_targets,
        // Targets of a Sync are served each by itself in a controller, and nobody else puts agents anywhere.
        agents: None,
        prune: PruneRules {
            enabled: settings.prune,
            complete: !diagnostics.iter().any(|d| d.severity == Severity::Error),
            unseen: survey.known.unseen.values().next().map(String::as_str),
            other_source: other_source(survey.parent.as_ref(), settings),
            empty: survey.desired.is_empty(),
            allow_empty: settings.allow_empty,
            limits: &settings.prune_limits,
            approved: approval.given,
            own_namespace: &settings.namespace,
            home: settings.home.as_deref(),
        },
    };
    let mut plan = compute(|| build(&inputs));
    guard_contents(access.members, &mut plan).await?;
    let of_children = judge.children(&survey, &plan).await?;
    report.extend(of_children.report);
    denied.extend(of_children.denied);
    if !denied.is_empty() {
        hold_denied(&mut plan, &denied);
        withhold_prunes(&mut plan, denied.len());
    }
    let mut verdicts = keep_most(report.diagnostics(), settings.limits.faults);
    settings.policies.add_excerpts(&mut verdicts, snapshot);
    diagnostics.extend(verdicts);
    Ok(Planned {
        plan,
        survey,
        policies: report,
        diagnostics,
        revision: snapshot.revision.clone(),
        approval,
    })
}

/// Finds the source's Targets whose agents were taken out again, as the cluster has them; one that is to be otherwise from now
/// on is none. Those that this run does not serve are the controller's to know.
async fn reverted(
    cluster: &Cluster,
    survey: &Survey,
    settings: &Settings,
) -> Result<BTreeSet<ObjectId>, ClusterError> {
    let Survey { desired, known, .. } = survey;
    let of_kind = desired
        .iter()
        .filter(|it| it.id.group_kind == Target::group_kind());
    let targets = of_kind.filter_map(|it| Target::from_json(&it.object).ok());
    let mut reverted = BTreeSet::new();
    // Of those that never are, nothing need be known.
    for target in targets.filter(Target::may_be_reverted) {
        let is_it = |live: &Target| live.spec == target.spec && live.reverted().is_some();
        let is_it = if settings.serve_targets {
            known.targets.get(&target.id()).is_some_and(is_it)
        } else {
            let seen = cluster.target(&target.namespace, &target.name).await?;
            let live = seen.as_ref().and_then(|seen| seen.target.as_ref().ok());
            live.is_some_and(is_it)
        };
        if is_it {
            reverted.insert(target.id());
        }
    }
    Ok(reverted)
}

/// Puts the agents of Targets into Deployments, and judges all that the source asks for. A Target that is denied gets no
/// agent either.
async fn judge_composed(
    judge: &Judge<'_>,
    survey: &mut Survey,
    settings: &Settings,
) -> Result<Judged, ClusterError> {
    compose(survey, settings);
    let judged = judge.members(survey).await?;
    let is_composed = |id| survey.composed.get(id).is_some_and(Result::is_ok);
    if !judged.denied.keys().any(is_composed) {
        return Ok(judged);
    }
    survey.desired.iter_mut().for_each(Desired::without_agent);
    survey.known.denied = judged.denied;
    compose(survey, settings);
    judge.members(survey).await
}

fn compose(survey: &mut Survey, settings: &Settings) {
    let Survey { desired, known, .. } = survey;
    let (set, image) = (settings.applyset(), &settings.agent_image);
    survey.composed = compute(|| compose_agents(desired, known, &set, image));
}

/// Installs our own kinds and returns their names.
///
/// # Errors
/// As the server answers, for instance when we may not.
pub async fn install_kinds(cluster: &Cluster) -> Result<Vec<String>, ClusterError> {
    let versions = BTreeSet::from(["apiextensions.k8s.io/v1".to_owned()]);
    let kinds = cluster.kinds(&versions).await?;
    let kind = kinds.any_version(&GroupKind::definition()).ok_or_else(|| {
        ClusterError::NotFound("the API server has no apiextensions.k8s.io/v1".into())
    })?;
    let crds = crds().map_err(|error| ClusterError::Invalid(error.to_string()))?;
    let mut installed = Vec::new();
    for crd in &crds {
        match cluster.apply(kind, crd, false).await {
            Ok(live) => installed.push(live.name),
            Err(ClusterError::Forbidden(message)) => {
                return Err(ClusterError::Forbidden(format!(
                    "install our own kinds: {message}; who may can do it once for all: covergence crd | kubectl apply --server-side -f -"
                )));
            }
            Err(error) => return Err(error),
        }
    }
    for name in &installed {
        execute::established(cluster, &kinds, name)
            .await
            .map_err(ClusterError::Unavailable)?;
    }
    Ok(installed)
}
