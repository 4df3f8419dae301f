//! Before a Namespace or a definition is pruned: what would go with it that is to stay?

use std::collections::BTreeSet;

use futures_util::future::try_join_all;

use crate::api::Scope;
use crate::cluster::{Cluster, ClusterError, Kind, Kinds};
use crate::plan::{Action, Body, Live, Plan, Step, judge_contents, takes_others_along};

/// Refuses the prunes that would take along what this plan does not delete itself: objects of others, and members that
/// the source still asks for or that are kept.
///
/// What cannot be looked at may hold anything, so that its prune is refused as well.
pub async fn guard_contents(cluster: &Cluster, plan: &mut Plan) {
    let doomed: BTreeSet<String> = plan
        .steps
        .iter()
        .filter(|step| step.action == Action::Delete)
        .filter_map(|step| Some(step.expected.as_ref()?.uid.clone()))
        .collect();
    let risky = |step: &&mut Step| {
        step.action == Action::Delete
            && step.body == Body::Prune
            && takes_others_along(&step.id.group_kind)
    };
    let mut steps: Vec<&mut Step> = plan.steps.iter_mut().filter(risky).collect();
    if steps.is_empty() {
        return;
    }
    let kinds = cluster.preferred_kinds(|_| true).await;
    for step in &mut steps {
        let staying = match &kinds {
            Ok(kinds) => staying(cluster, kinds, step, &doomed).await,
            Err(error) => Err(error.clone()),
        };
        let judged = match staying {
            Ok(staying) => judge_contents(&staying),
            Err(error) => Err(format!(
                "it has left the source, but what it holds cannot be looked at: {error}"
            )),
        };
        if let Err(why) = judged {
            step.action = Action::Refuse;
            step.reason = why;
            step.body = Body::None;
        }
    }
}

/// Lists what the Namespace or the definition of a step holds and nobody has asked to delete.
async fn staying(
    cluster: &Cluster,
    kinds: &Kinds,
    step: &Step,
    doomed: &BTreeSet<String>,
) -> Result<BTreeSet<String>, ClusterError> {
    let name = step.id.name.as_str();
    let (namespace, kinds): (Option<&str>, Vec<&Kind>) = if step.id.group_kind.is_namespace() {
        let inside = |kind: &&Kind| kind.scope == Scope::Namespaced && kind.listable;
        (Some(name), kinds.iter().filter(inside).collect())
    } else {
        // A definition is named `<plural>.<group>`.
        let (plural, group) = name.split_once('.').unwrap_or((name, ""));
        let defined = |kind: &&Kind| kind.resource.plural == plural && kind.resource.group == group;
        (None, kinds.iter().filter(defined).collect())
    };
    let lists = try_join_all(
        kinds
            .iter()
            .map(|kind| cluster.list_metadata(kind, namespace, None)),
    )
    .await?;
    Ok(kinds
        .iter()
        .zip(&lists)
        .flat_map(|(kind, items)| items.iter().map(move |live| (*kind, live)))
        .filter(|(kind, live)| !doomed.contains(&live.uid) && !goes_by_itself(kind, live))
        .map(|(kind, live)| format!("{} {}", kind.resource.kind, live.name))
        .collect())
}

/// What Kubernetes makes in every namespace, and what some other object owns and takes along anyway.
fn goes_by_itself(kind: &Kind, live: &Live) -> bool {
    // The token of a ServiceAccount goes with it, and has no owner reference (before v1.24 each account has one).
    let is_token = || {
        live.annotations
            .contains_key("kubernetes.io/service-account.name")
    };
    !live.owner_references.is_empty()
        || match kind.resource.kind.as_str() {
            "ServiceAccount" => live.name == "default",
            "ConfigMap" => live.name == "kube-root-ca.crt",
            "Secret" => is_token(),
            "Event" | "Endpoints" | "EndpointSlice" => true,
            _ => false,
        }
}
