//! One Target by itself: its agent, what it brings about beside that, and its status.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Done;
use super::execute::Execution;
use super::rollout::Insight;
use super::survey::{id_of, target_needs};
use super::targets::{Facts, TargetReport, report_targets};
use crate::api::names::{API_VERSION, TARGET};
use crate::cluster::{Cluster, ClusterError, Kind, Kinds};
use crate::plan::{
    AgentImages, AgentRecord, Agents, Inputs, Known, Live, Plan, PruneRules, Step, build,
    deployment_of, give_up_agents, index,
};
use crate::render::{Composed, Target};

/// What holds for all Targets.
#[derive(Clone, Copy, Debug)]
pub struct Terms<'a> {
    /// Domain of the cluster's Services.
    pub cluster_domain: &'a str,
    /// What may bring the agent.
    pub images: &'a AgentImages,
}

/// What was done for a Target.
#[derive(Debug)]
pub struct Served {
    /// What was to be done: steps for its agent, its Service and its NetworkPolicy, where there is anything to be done.
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

/// Puts a Target's agent where it belongs, makes what the Target brings about as it is to be, and writes its status when it
/// is another than before.
///
/// `adjust` may take steps back before they are done; `insight` is what was found out the last time.
///
/// # Errors
/// When the server cannot be asked.
pub async fn serve(
    cluster: &Cluster,
    target: Target,
    insight: Insight,
    terms: Terms<'_>,
    now: &str,
    adjust: impl FnOnce(&mut Plan),
) -> Result<Served, ClusterError> {
    let versions: BTreeSet<String> = ["v1", "apps/v1", API_VERSION].map(str::to_owned).into();
    let mut kinds = cluster.kinds(&versions).await?;
    let others = others(cluster, &kinds, &target).await?;
    let mut known = Known::default();
    for live in carriers(cluster, &target.namespace).await? {
        known
            .carriers
            .insert(id_of(&Kind::deployment(), &live), live);
    }
    known.targets.insert(target.id(), target.clone());
    target_needs(cluster, &mut kinds, &mut known).await?;
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
        agents: Some(Agents {
            images: terms.images,
            others: &others,
        }),
        prune: PruneRules::nothing(),
    });
    adjust(&mut plan);
    let done = execute(cluster, &plan, &mut kinds).await?;
    let facts = Facts {
        cluster,
        kinds: &kinds,
        index: &index,
        plan: &plan,
        done: &done,
        cluster_domain: terms.cluster_domain,
        agent_image: &terms.images.default,
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

/// Takes the agent of a Target that is gone out of the Deployments that still carry it.
///
/// That the Target is gone is asked of the server, and not of a watch that may be behind.
///
/// # Errors
/// When the server cannot be asked.
pub async fn clear_away(
    cluster: &Cluster,
    namespace: &str,
    target: &str,
) -> Result<Served, ClusterError> {
    let mut carriers = carriers(cluster, namespace).await?;
    let is_its =
        |live: &Arc<Live>| AgentRecord::of(live).is_some_and(|it| it.target.name == target);
    carriers.retain(is_its);
    let mut plan = Plan::default();
    if !carriers.is_empty() && is_gone(cluster, namespace, target).await? {
        plan = give_up_agents(&carriers, target);
    }
    let versions = BTreeSet::from(["apps/v1".to_owned()]);
    let mut kinds = match plan.steps.is_empty() {
        true => Kinds::default(),
        false => cluster.kinds(&versions).await?,
    };
    Ok(Served {
        done: execute(cluster, &plan, &mut kinds).await?,
        plan,
        insight: Insight::default(),
        report: None,
    })
}

/// Finds the Deployments that carry an agent. Who may not see any has put none there.
async fn carriers(cluster: &Cluster, namespace: &str) -> Result<Vec<Arc<Live>>, ClusterError> {
    let namespaces = BTreeSet::from([namespace.to_owned()]);
    match cluster.carriers_in(&namespaces).await {
        Err(ClusterError::Forbidden(_)) => Ok(Vec::new()),
        answer => answer,
    }
}

/// Tells whether a Target is not there, or is being deleted.
async fn is_gone(cluster: &Cluster, namespace: &str, target: &str) -> Result<bool, ClusterError> {
    // By a list, which a controller may do anyway.
    match cluster
        .list_metadata(&Kind::target(), Some(namespace), None)
        .await
    {
        Ok(targets) => {
            let mut targets = targets.iter();
            Ok(!targets.any(|it| it.name == target && it.deletion_timestamp.is_none()))
        }
        // With its definition, all are gone.
        Err(ClusterError::NotFound(_)) => Ok(true),
        Err(error) => Err(error),
    }
}

async fn execute(
    cluster: &Cluster,
    plan: &Plan,
    kinds: &mut Kinds,
) -> Result<Vec<Done>, ClusterError> {
    let observe = |_: &Step, _: &Done| {};
    let execution = Execution {
        cluster,
        plan,
        concurrency: 1,
        waiting: None,
        compare: false,
        observe: &observe,
    };
    execution.run(kinds).await
}
