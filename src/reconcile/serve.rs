//! One Target by itself: its Service and its status.

use std::collections::BTreeSet;

use super::Done;
use super::execute::Execution;
use super::rollout::Insight;
use super::survey::target_needs;
use super::targets::{Facts, TargetReport, report_targets};
use crate::api::names::{API_VERSION, TARGET};
use crate::cluster::{Cluster, ClusterError, Kinds};
use crate::plan::{Inputs, Known, Plan, PruneRules, Step, build, deployment_of, index};
use crate::render::{AgentImage, Composed, Target};

/// What was done for a Target.
#[derive(Debug)]
pub struct Served {
    /// What was to be done: a step for its Service, or none.
    pub plan: Plan,
    /// What became of that.
    pub done: Vec<Done>,
    /// What was found out of its rollout, for the next time.
    pub insight: Insight,
    /// Its status, and why it could not be written, if so; nothing when the Target is going.
    pub report: Option<(TargetReport, Option<ClusterError>)>,
}

/// Finds the Targets that refer to the same Deployment, where its agent may be another one's.
async fn others(
    cluster: &Cluster,
    kinds: &Kinds,
    target: &Target,
) -> Result<Vec<Target>, ClusterError> {
    let kind = kinds.get(API_VERSION, TARGET);
    let Some(kind) = kind.filter(|_| target.wants_agent()) else {
        return Ok(Vec::new());
    };
    let namespace = BTreeSet::from([target.namespace.clone()]);
    let seen = cluster.targets_in(kind, &namespace).await?;
    let targets = seen.iter().filter_map(|seen| seen.target.as_ref().ok());
    let others = targets.filter(|it| it.is_beside(target));
    Ok(others.cloned().collect())
}

/// Makes the Service of a Target as it is to be, and writes the Target's status when it is another than before.
///
/// `adjust` may take steps back before they are done; `insight` is what was found out the last time.
///
/// # Errors
/// When the server cannot be asked.
pub async fn serve(
    cluster: &Cluster,
    target: Target,
    insight: Insight,
    cluster_domain: &str,
    agent_image: &AgentImage,
    now: &str,
    adjust: impl FnOnce(&mut Plan),
) -> Result<Served, ClusterError> {
    let versions: BTreeSet<String> = ["v1", "apps/v1", API_VERSION].map(str::to_owned).into();
    let mut kinds = cluster.kinds(&versions).await?;
    let others = others(cluster, &kinds, &target).await?;
    let mut known = Known::default();
    known.targets.insert(target.id(), target.clone());
    target_needs(cluster, &kinds, &mut known).await?;
    let index = index(&[]);
    let deployment = deployment_of(&target, &index, &known);
    let insight = insight.of(cluster, &target, deployment.as_ref()).await?;
    let mut plan = build(&Inputs {
        desired: &[],
        index: &index,
        known: &known,
        applyset: "",
        force_conflicts: false,
        serve_targets: true,
        prune: PruneRules::nothing(),
    });
    adjust(&mut plan);
    let observe = |_: &Step, _: &Done| {};
    let execution = Execution {
        cluster,
        plan: &plan,
        concurrency: 1,
        waiting: None,
        compare: false,
        observe: &observe,
    };
    let done = execution.run(&mut kinds).await?;
    let facts = Facts {
        cluster,
        kinds: &kinds,
        index: &index,
        plan: &plan,
        done: &done,
        cluster_domain,
        agent_image,
        composed: &Composed::new(),
        insight: &insight,
        others: &others,
        concurrency: 1,
        now,
    };
    let mut reports = report_targets(&facts, &plan.targets, &mut known, false).await?;
    Ok(Served {
        report: reports.pop(),
        plan,
        done,
        insight,
    })
}
