//! Before a Namespace or a definition is pruned: what would go with it that is not ours?

use std::collections::BTreeSet;

use futures_util::future::try_join_all;

use crate::cluster::{Cluster, ClusterError, Kind};
use crate::plan::{Action, Body, Live, Plan, Step, judge_contents, takes_others_along};
use crate::render::Scope;

/// Refuses the prunes that would take along what is not a member of the set.
///
/// # Errors
/// When the server cannot be asked.
pub async fn guard_contents(
    cluster: &Cluster,
    plan: &mut Plan,
    applyset: &str,
) -> Result<(), ClusterError> {
    let risky = |step: &&mut Step| {
        step.action == Action::Delete
            && step.body == Body::Prune
            && takes_others_along(&step.id.group_kind)
    };
    let mut steps: Vec<&mut Step> = plan.steps.iter_mut().filter(risky).collect();
    if steps.is_empty() {
        return Ok(());
    }
    let kinds = cluster.preferred_kinds(|_| true).await?;
    for step in &mut steps {
        let strangers = if step.id.group_kind.kind == "Namespace" {
            let kinds = kinds
                .iter()
                .filter(|kind| kind.scope == Scope::Namespaced && kind.listable);
            strangers(cluster, kinds, Some(&step.id.name), applyset).await?
        } else {
            // `<plural>.<group>`
            let (plural, group) = step.id.name.split_once('.').unwrap_or((&step.id.name, ""));
            let kinds = kinds
                .iter()
                .filter(|kind| kind.resource.plural == plural && kind.resource.group == group);
            strangers(cluster, kinds, None, applyset).await?
        };
        if let Err(why) = judge_contents(&strangers) {
            step.action = Action::Refuse;
            step.reason = why;
            step.body = Body::None;
        }
    }
    Ok(())
}

async fn strangers(
    cluster: &Cluster,
    kinds: impl Iterator<Item = &Kind>,
    namespace: Option<&str>,
    applyset: &str,
) -> Result<BTreeSet<String>, ClusterError> {
    let lists = try_join_all(kinds.map(|kind| async move {
        let items = cluster.list_metadata(kind, namespace, None).await?;
        Ok::<_, ClusterError>(
            items
                .into_iter()
                .map(|live| (kind, live))
                .collect::<Vec<_>>(),
        )
    }))
    .await?;
    let items: Vec<(&Kind, Live)> = lists.into_iter().flatten().collect();
    Ok(items
        .iter()
        .filter(|(kind, live)| live.applyset() != Some(applyset) && !comes_by_itself(kind, live))
        .map(|(kind, live)| format!("{} {}", kind.resource.kind, live.name))
        .collect())
}

/// What Kubernetes makes in every namespace, and what some other object owns and will take along anyway.
fn comes_by_itself(kind: &Kind, live: &Live) -> bool {
    let token = || {
        live.annotations
            .get("kubernetes.io/service-account.name")
            .is_some_and(|name| name == "default")
    };
    !live.owner_references.is_empty()
        || match kind.resource.kind.as_str() {
            "ServiceAccount" => live.name == "default",
            "ConfigMap" => live.name == "kube-root-ca.crt",
            "Secret" => token(),
            "Event" | "Endpoints" | "EndpointSlice" => true,
            _ => false,
        }
}
