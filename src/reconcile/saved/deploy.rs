//! An earlier revision, applied to what stands in for a cluster.

use std::collections::BTreeSet;

use super::StandIn;
use crate::api::names::{API_VERSION, SYNC, TARGET};
use crate::cluster::ClusterError;
use crate::load::{Diagnostic, Loaded, Snapshot};
use crate::policy::Asked;
use crate::reconcile::{Settings, install_kinds, now, plan_loaded, sync};

/// Applies a revision as it stands, and tells what is wrong with it. Nothing holds it back that people, policies or other
/// managers say: it is taken to be there.
///
/// # Errors
/// When that cannot be tried at all.
pub async fn deploy(
    stand_in: &StandIn,
    snapshot: &Snapshot,
    loaded: Loaded,
    settings: &Settings,
) -> Result<Vec<Diagnostic>, ClusterError> {
    let cluster = &stand_in.cluster;
    let settings = Settings {
        force_conflicts: true,
        allow_empty: true,
        prune_limits: Vec::new(),
        approved_prune: Some(snapshot.revision.clone()),
        policies: Asked::default().into(),
        ..settings.clone()
    };
    let ours = cluster
        .kinds(&BTreeSet::from([API_VERSION.to_owned()]))
        .await?;
    if [SYNC, TARGET]
        .iter()
        .any(|kind| ours.get(API_VERSION, kind).is_none())
    {
        install_kinds(cluster).await?;
    }
    let planned = plan_loaded(cluster.into(), snapshot, loaded, &settings).await?;
    let mut faults = planned.diagnostics.clone();
    let now = now().to_string();
    let (planned, report) = sync(cluster.into(), planned, &settings, &now, &|_, _| {}).await?;
    for (step, done) in planned.plan.steps.iter().zip(&report.done) {
        if let Some(origin) = step.origin.as_ref().filter(|_| !done.outcome.is_good()) {
            let message = format!("{}: {}", step.id, done.message);
            faults.push(Diagnostic::error_at(origin, message));
        }
    }
    Ok(faults)
}
