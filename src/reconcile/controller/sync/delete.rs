//! The end of a Sync: its members go with it, or are let go.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::time::Instant;
use tracing::{info, warn};

use super::live::LiveSync;
use super::memory::{Applied, Memory};
use super::spec;
use crate::api::names::MEMBERS_FINALIZER;
use crate::cluster::{ClusterError, Kind, NamespaceState};
use crate::load::Snapshot;
use crate::plan::{Action, Live, Step};
use crate::reconcile::controller::context::Context;
use crate::reconcile::execute::Execution;
use crate::reconcile::inventory::Inventory;
use crate::reconcile::parent::read_parent;
use crate::reconcile::survey::members_of;
use crate::reconcile::wait::Waiting;
use crate::reconcile::{Access, Done, Planned, Settings, make_plan};

/// How far the deletion of a Sync is.
#[derive(Debug, PartialEq, Eq)]
pub enum Deletion {
    /// It goes now, and leaves these members behind: each, and why.
    Ended(Vec<String>),
    /// Some of its members are still there.
    GoesOn,
}

/// Deletes the members of a Sync in reverse order, and lets the Sync go when they are gone.
///
/// What does not go in the Sync's timeout is given up: the rest is deleted without waiting for it, and it belongs to
/// nobody then. A Sync whose own namespace is going does not wait at all, so that it never holds that up.
///
/// # Errors
/// As the server answers.
pub async fn delete(
    access: Access<'_>,
    live: &LiveSync,
    settings: &Settings,
    memory: &mut Memory,
    namespace_goes: bool,
    context: &Context,
) -> Result<Deletion, ClusterError> {
    let since = *memory.going_since.get_or_insert_with(Instant::now);
    let timeout = live.spec.as_ref().map(spec::timeout).unwrap_or_default();
    let left_to_wait = timeout.saturating_sub(since.elapsed());
    let gives_up = namespace_goes || left_to_wait.is_zero();
    let settings = Settings {
        prune: true,
        allow_empty: true,
        prune_limit: None,
        wait: Some(left_to_wait).filter(|_| !gives_up),
        ..settings.clone()
    };
    let left = match take_along(access, live, &settings, context).await {
        // What stands in the way of the deletion for ever must not keep the Sync for ever.
        Err(error) if gives_up && error != ClusterError::NotOurs => vec![error.to_string()],
        left => left?,
    };
    if !left.is_empty() && !gives_up {
        return Ok(Deletion::GoesOn);
    }
    match release(access, &live.inventory, &settings).await {
        // The rights over a namespace end with it.
        Err(error) if gives_up && error != ClusterError::NotOurs => {
            warn!("members may keep the label of their set: {error}");
        }
        released => released?,
    }
    let_go(access, &settings).await?;
    Ok(Deletion::Ended(left))
}

/// Deletes all members that may go, and says which of them are still there, and why.
async fn take_along(
    access: Access<'_>,
    live: &LiveSync,
    settings: &Settings,
    context: &Context,
) -> Result<Vec<String>, ClusterError> {
    let mut planned = make_plan(access, &nothing(live), settings).await?;
    let waiting = settings.wait.map(|wait| Waiting {
        deadline: Instant::now() + wait,
        give_way: settings.give_way.clone(),
        on_targets: false,
    });
    let observe = |step: &Step, done: &Done| {
        context.note_written(step, done);
        info!(object = %step.id, "{}: {}", done.outcome.word(), done.message);
    };
    let execution = Execution {
        cluster: access.members,
        plan: &planned.plan,
        concurrency: settings.concurrency,
        waiting: waiting.as_ref(),
        compare: false,
        observe: &observe,
    };
    let done = execution.run(&mut planned.survey.kinds).await?;
    let steps = planned.plan.steps.iter().zip(&done);
    let failed = steps.filter(|(_, done)| !done.outcome.is_good());
    let mut left: Vec<String> = failed
        .map(|(step, done)| format!("{}: {}", step.id, done.message))
        .collect();
    if left.is_empty() {
        left = still_there(&make_plan(access, &nothing(live), settings).await?);
    }
    Ok(left)
}

/// Names members that are to go and are still there, or may be.
fn still_there(planned: &Planned) -> Vec<String> {
    let Planned { plan, survey, .. } = planned;
    let to_go = plan.steps.iter().filter(|s| s.action == Action::Delete);
    let to_go = to_go.map(|step| format!("{}: {}", step.id, step.reason));
    let members = survey.known.members.iter();
    let going = members.filter(|(_, live)| live.deletion_timestamp.is_some());
    let going = going.map(|(id, _)| format!("{id}: something holds up its deletion"));
    let unseen = survey.known.unseen.values().cloned();
    to_go.chain(going).chain(unseen).collect()
}

/// Takes the finalizer off, so that the Sync may go; also one that a backup has brought back as somebody else's.
///
/// # Errors
/// As the server answers.
pub async fn let_go(access: Access<'_>, settings: &Settings) -> Result<(), ClusterError> {
    let kind = Kind::sync();
    let Some(sync) = read_parent(access.sync, &kind, settings).await? else {
        return Ok(());
    };
    let Ok(live) = Live::from_object(&sync) else {
        return Ok(());
    };
    let finalizers = sync
        .pointer("/metadata/finalizers")
        .and_then(Value::as_array);
    let others = finalizers.into_iter().flatten();
    let others: Vec<&Value> = others.filter(|it| *it != MEMBERS_FINALIZER).collect();
    let patch = json!({ "metadata": { "finalizers": others } });
    let (namespace, name) = (Some(settings.namespace.as_str()), &settings.name);
    let expected = live.expected();
    let purged = access.sync.purge(&kind, namespace, name, patch, &expected);
    match purged.await {
        Err(ClusterError::NotFound(_)) => Ok(()),
        answer => answer,
    }
}

/// Where members may be that a Sync leaves behind: what it said when it was last looked at, and what was applied since.
pub fn reach(last: &LiveSync, applied: Option<&Applied>) -> Inventory {
    let applied = applied
        .into_iter()
        .flat_map(|applied| applied.objects.keys());
    last.inventory.union(&Inventory::of(applied))
}

/// Lets go of what a Sync leaves behind: its members belong to nobody then. What is in a namespace that is going is left
/// as it is.
///
/// # Errors
/// When the server cannot be asked. A member that cannot be let go is no error: it is told.
pub async fn release(
    access: Access<'_>,
    inventory: &Inventory,
    settings: &Settings,
) -> Result<(), ClusterError> {
    let (kinds, known) = members_of(access.members, inventory, settings).await?;
    for why in known.unseen.values() {
        warn!("members may keep the label of their set: {why}");
    }
    let namespaces: BTreeSet<&String> = known
        .members
        .keys()
        .filter_map(|id| id.namespace.as_ref())
        .collect();
    let mut going = BTreeSet::new();
    for namespace in namespaces {
        if access.sync.namespace_state(namespace).await? == Some(NamespaceState::Terminating) {
            going.insert(namespace);
        }
    }
    let mut released = 0;
    for (id, member) in &known.members {
        let Some(kind) = kinds.any_version(&id.group_kind) else {
            continue;
        };
        if id.namespace.as_ref().is_some_and(|it| going.contains(it)) {
            continue;
        }
        match access.members.release(kind, member).await {
            Ok(()) => released += 1,
            // Gone, or changed by somebody since: then it is not ours to touch.
            Err(ClusterError::NotFound(_) | ClusterError::Changed(_)) => {}
            Err(ClusterError::NotOurs) => return Err(ClusterError::NotOurs),
            Err(error) => warn!(object = %id, "it keeps the label of its set: {error}"),
        }
    }
    if released > 0 {
        info!("{released} members were let go");
    }
    Ok(())
}

/// A source that asks for nothing.
fn nothing(live: &LiveSync) -> Snapshot {
    let revision = live.status.last_attempted_revision.clone();
    Snapshot {
        revision: revision.unwrap_or_default(),
        files: Vec::new(),
        diagnostics: Vec::new(),
    }
}
