//! Before a Namespace or a definition is pruned: what would go with it that the plan does not delete by itself?

use std::collections::BTreeSet;

use futures_util::future::try_join_all;

use crate::cluster::{Cluster, ClusterError, Kind};
use crate::plan::{Action, Body, Live, Plan, Step, judge_contents, takes_others_along};
use crate::render::Scope;

/// Refuses the prunes that would take along what is to stay: objects of others, and members that are wanted or kept.
///
/// # Errors
/// When the server cannot be asked.
pub async fn guard_contents(cluster: &Cluster, plan: &mut Plan) -> Result<(), ClusterError> {
    let prunes = |step: &Step| step.action == Action::Delete && step.body == Body::Prune;
    let risky = |step: &Step| prunes(step) && takes_others_along(&step.id.group_kind);
    if !plan.steps.iter().any(risky) {
        return Ok(());
    }
    let going: BTreeSet<String> = plan
        .steps
        .iter()
        .filter(|step| step.action == Action::Delete)
        .filter_map(|step| Some(step.expected.as_ref()?.uid.clone()))
        .collect();
    let kinds = cluster.kinds_of_groups(|_| true).await?;
    for step in plan.steps.iter_mut().filter(|step| risky(step)) {
        let staying = if step.id.group_kind.kind == "Namespace" {
            let inside = kinds.each().filter(|kind| kind.scope == Scope::Namespaced);
            staying(cluster, inside, Some(&step.id.name), &going).await?
        } else {
            // `<plural>.<group>`
            let (plural, group) = step.id.name.split_once('.').unwrap_or((&step.id.name, ""));
            let defined = kinds
                .each()
                .filter(|kind| kind.resource.plural == plural && kind.resource.group == group);
            staying(cluster, defined, None, &going).await?
        };
        if let Err(why) = judge_contents(&staying) {
            step.action = Action::Refuse;
            step.reason = why;
            step.body = Body::None;
        }
    }
    Ok(())
}

/// Names what would go along, or might: a kind that we may not look at counts as one.
async fn staying(
    cluster: &Cluster,
    kinds: impl Iterator<Item = &Kind>,
    namespace: Option<&str>,
    going: &BTreeSet<String>,
) -> Result<BTreeSet<String>, ClusterError> {
    let lists = kinds.filter(|kind| kind.listable).map(|kind| async move {
        match cluster.list_metadata(kind, namespace, None).await {
            Ok(items) => Ok((kind, Ok(items))),
            Err(ClusterError::Forbidden(_)) => Ok((kind, Err("objects that we may not list"))),
            // A kind that its server cannot list now, or not at all, such as some of an aggregated API.
            Err(ClusterError::NotFound(_) | ClusterError::Invalid(_)) => Ok((kind, Ok(Vec::new()))),
            Err(error) => Err(error),
        }
    });
    let mut named = BTreeSet::new();
    let mut items: Vec<(&Kind, Live)> = Vec::new();
    for (kind, answer) in try_join_all(lists).await? {
        match answer {
            Ok(found) => items.extend(found.into_iter().map(|live| (kind, live))),
            Err(why) => drop(named.insert(format!("{} {why}", kind.resource.kind))),
        }
    }
    let here: BTreeSet<&str> = items.iter().map(|(_, live)| live.uid.as_str()).collect();
    let services: BTreeSet<&str> = items
        .iter()
        .filter(|(kind, _)| kind.resource.kind == "Service" && kind.resource.group.is_empty())
        .map(|(_, live)| live.name.as_str())
        .collect();
    // What an object in here owns, goes when that goes; the owner itself is judged.
    let owned = |live: &Live| {
        live.owner_references
            .iter()
            .any(|o| here.contains(o.uid.as_str()))
    };
    let stays = items.iter().filter(|(kind, live)| {
        !going.contains(&live.uid) && !owned(live) && !comes_by_itself(kind, live, &services)
    });
    named.extend(stays.map(|(kind, live)| format!("{} {}", kind.resource.kind, live.name)));
    Ok(named)
}

/// What Kubernetes makes in every namespace.
fn comes_by_itself(kind: &Kind, live: &Live, services: &BTreeSet<&str>) -> bool {
    let token = || {
        let name = live.annotations.get("kubernetes.io/service-account.name");
        name.is_some_and(|name| name == "default")
    };
    match kind.resource.kind.as_str() {
        "ServiceAccount" => live.name == "default",
        "ConfigMap" => live.name == "kube-root-ca.crt",
        "Secret" => token(),
        "Endpoints" => services.contains(live.name.as_str()),
        "Event" => true,
        _ => false,
    }
}
