//! Before a Namespace or a definition is pruned: what would go with it that the plan does not delete by itself?

use std::collections::BTreeSet;
use std::time::Duration;

use futures_util::future::join_all;

use crate::api::{GroupKind, ObjectId, Scope};
use crate::cluster::{Cluster, ClusterError, Kind, Kinds};
use crate::plan::{
    Action, Approval, Body, Health, Live, Plan, Step, health, judge_contents, takes_others_along,
};

/// Longer than any API that works needs to name its kinds.
const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// Refuses the prunes that would take along what is to stay: objects of others, and members that are wanted or kept.
///
/// # Errors
/// When the server cannot be asked.
pub async fn guard_contents(cluster: &Cluster, plan: &mut Plan) -> Result<(), ClusterError> {
    if !plan.steps.iter().any(takes_along) {
        return Ok(());
    }
    let going = going(plan);
    let look = Look::at(cluster).await?;
    for step in plan.steps.iter_mut().filter(|step| takes_along(step)) {
        if let Err(why) = judge_contents(&look.staying(cluster, &step.id, &going).await) {
            step.action = Action::Refuse;
            step.reason = why;
            step.approval = None;
            step.body = Body::None;
        }
    }
    Ok(())
}

/// Looks once more, right before the delete: applying and waiting may have taken minutes since the plan was made.
///
/// # Errors
/// Why it must not go, or when the server cannot be asked.
pub async fn look_again(
    cluster: &Cluster,
    step: &Step,
    going: &BTreeSet<String>,
) -> Result<(), ClusterError> {
    if !takes_along(step) {
        return Ok(());
    }
    let staying = Look::at(cluster)
        .await?
        .staying(cluster, &step.id, going)
        .await;
    judge_contents(&staying).map_err(ClusterError::Changed)
}

/// Asks for all that would go along with an object, whatever becomes of it.
///
/// # Errors
/// When the server cannot be asked.
pub async fn look_into(cluster: &Cluster, id: &ObjectId) -> Result<(), ClusterError> {
    let look = Look::at(cluster).await?;
    look.staying(cluster, id, &BTreeSet::new()).await;
    Ok(())
}

/// The uids of all that a plan deletes. Where something waits for an approval, what waits with it counts: it is approved
/// together.
pub fn going(plan: &Plan) -> BTreeSet<String> {
    let going = plan.steps.iter();
    going
        .filter(|step| step.action == Action::Delete || waits(step))
        .filter_map(|step| Some(step.expected.as_ref()?.uid.clone()))
        .collect()
}

fn takes_along(step: &Step) -> bool {
    let goes = step.action == Action::Delete && step.body == Body::Prune;
    (goes || waits(step)) && takes_others_along(&step.id.group_kind)
}

fn waits(step: &Step) -> bool {
    step.action == Action::Keep && step.approval == Some(Approval::Needed)
}

/// What a cluster serves at a moment.
struct Look {
    kinds: Kinds,
    /// What namespaces may hold of APIs that do not answer.
    hidden: BTreeSet<String>,
}

impl Look {
    async fn at(cluster: &Cluster) -> Result<Self, ClusterError> {
        let (kinds, silent) = cluster.all_kinds(ANSWER_WITHIN).await?;
        let down = unavailable_apis(cluster, &kinds).await?;
        let hidden = silent.into_iter().chain(down);
        let hidden = hidden.map(|api| format!("what {api} holds, which cannot be seen now"));
        Ok(Self {
            kinds,
            hidden: hidden.collect(),
        })
    }

    async fn staying(
        &self,
        cluster: &Cluster,
        id: &ObjectId,
        going: &BTreeSet<String>,
    ) -> BTreeSet<String> {
        let name = id.name.as_str();
        if id.group_kind.is_namespace() {
            let inside = self
                .kinds
                .each()
                .filter(|kind| kind.scope == Scope::Namespaced);
            let mut inside = staying(cluster, inside, Some(name), going).await;
            inside.extend(self.hidden.iter().cloned());
            return inside;
        }
        // `<plural>.<group>`
        let (plural, group) = name.split_once('.').unwrap_or((name, ""));
        let defined = self
            .kinds
            .each()
            .filter(|kind| kind.resource.plural == plural && kind.resource.group == group);
        staying(cluster, defined, None, going).await
    }
}

/// Names aggregated APIs that are down. While one is, its kinds may not even be in discovery.
async fn unavailable_apis(cluster: &Cluster, kinds: &Kinds) -> Result<Vec<String>, ClusterError> {
    let services = GroupKind::new("apiregistration.k8s.io", "APIService");
    let Some(kind) = kinds.any_version(&services) else {
        return Ok(Vec::new());
    };
    match cluster.list_objects(kind, None, None).await {
        Ok(services) => Ok(services
            .iter()
            .filter(|service| health(service) != Health::Current)
            .filter_map(|service| Some(service.pointer("/metadata/name")?.as_str()?.to_owned()))
            .collect()),
        Err(ClusterError::Forbidden(_)) => Ok(Vec::new()),
        Err(error) => Err(error),
    }
}

/// Names what would go along, or might: a kind that cannot be listed counts as one.
async fn staying(
    cluster: &Cluster,
    kinds: impl Iterator<Item = &Kind>,
    namespace: Option<&str>,
    going: &BTreeSet<String>,
) -> BTreeSet<String> {
    let lists = kinds
        .filter(|kind| kind.listable)
        .map(|kind| async move { (kind, cluster.list_metadata(kind, namespace, None).await) });
    let mut named = BTreeSet::new();
    let mut items: Vec<(&Kind, Live)> = Vec::new();
    for (kind, answer) in join_all(lists).await {
        match answer {
            Ok(found) => items.extend(found.into_iter().map(|live| (kind, live))),
            // The kind has gone since, and its objects with it.
            Err(ClusterError::NotFound(_)) => {}
            Err(_) => {
                named.insert(format!(
                    "objects of kind {}, which cannot be listed",
                    kind.resource.kind
                ));
            }
        }
    }
    let here: BTreeSet<&str> = items.iter().map(|(_, live)| live.uid.as_str()).collect();
    let named_here = |group_kind: GroupKind| -> BTreeSet<&str> {
        let of_kind = items
            .iter()
            .filter(|(kind, _)| kind.group_kind() == group_kind);
        of_kind.map(|(_, live)| live.name.as_str()).collect()
    };
    let services = named_here(GroupKind::new("", "Service"));
    let accounts = named_here(GroupKind::new("", "ServiceAccount"));
    // What an object in here owns, goes when that goes; the owner itself is judged.
    let owned = |live: &Live| {
        live.owner_references
            .iter()
            .any(|o| here.contains(o.uid.as_str()))
    };
    let stays = items.iter().filter(|(kind, live)| {
        !going.contains(&live.uid)
            && !owned(live)
            && !comes_by_itself(kind, live, &services, &accounts)
    });
    named.extend(stays.map(|(kind, live)| format!("{} {}", kind.resource.kind, live.name)));
    named
}

/// What Kubernetes makes in every namespace, and for the Services and ServiceAccounts in it.
fn comes_by_itself(
    kind: &Kind,
    live: &Live,
    services: &BTreeSet<&str>,
    accounts: &BTreeSet<&str>,
) -> bool {
    // The token of a ServiceAccount goes with it, without an owner reference (before v1.24 each account has one).
    let token = || {
        let account = live.annotations.get("kubernetes.io/service-account.name");
        account.is_some_and(|name| accounts.contains(name))
    };
    match (kind.resource.group.as_str(), kind.resource.kind.as_str()) {
        ("", "ServiceAccount") => live.name == "default",
        ("", "ConfigMap") => live.name == "kube-root-ca.crt",
        ("", "Secret") => token(),
        ("", "Endpoints") => services.contains(live.name.as_str()),
        ("" | "events.k8s.io", "Event") => true,
        _ => false,
    }
}
