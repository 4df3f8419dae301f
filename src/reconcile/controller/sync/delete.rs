//! The end of a Sync: its members go with it, or are let go.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tokio::time::Instant;
use tracing::{info, warn};

use super::live::LiveSync;
use super::memory::{Applied, Memory};
use super::spec;
use crate::api::names::{APPROVE_PRUNE, DELETION, MEMBERS_FINALIZER};
use crate::cluster::{ClusterError, Kind, NamespaceState};
use crate::load::Snapshot;
use crate::plan::{Action, Live, Step, takes_others_along};
use crate::reconcile::controller::context::Context;
use crate::reconcile::execute::Execution;
use crate::reconcile::inventory::Inventory;
use crate::reconcile::parent::read_parent;
use crate::reconcile::survey::members_of;
use crate::reconcile::wait::Waiting;
use crate::reconcile::{Access, Done, Outcome, Planned, Settings, make_plan};

/// How far the deletion of a Sync is.
#[derive(Debug, PartialEq, Eq)]
pub enum Deletion {
    /// It goes now.
    Ended(Behind),
    /// Some of its members are still there.
    GoesOn,
}

/// What a Sync leaves behind that takes its members along: each, and why.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Behind {
    /// Members that did not go.
    pub left: Vec<String>,
    /// Members that go only when that is approved, which nobody has done.
    pub unapproved: Vec<String>,
}

/// Deletes the members of a Sync in reverse order, and lets the Sync go when they are gone.
///
/// What does not go in the Sync's timeout is given up: the rest is deleted without waiting for it, and it belongs to
/// nobody then. A Sync whose own namespace is going does not wait at all, so that it never holds that up. Nor does it wait
/// for an approval: members that go only with one are let go without it.
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
        prune_limits: Vec::new(),
        wait: Some(left_to_wait).filter(|_| !gives_up),
        ..settings.clone()
    };
    let behind = match take_along(access, &settings, context).await {
        // What stands in the way of the deletion for ever must not keep the Sync for ever.
        Err(error) if gives_up && error != ClusterError::NotOurs => Behind {
            left: vec![error.to_string()],
            ..Behind::default()
        },
        behind => behind?,
    };
    if !behind.left.is_empty() && !gives_up {
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
    Ok(Deletion::Ended(behind))
}

/// Deletes all members that may go, and says which of them are still there, and why.
async fn take_along(
    access: Access<'_>,
    settings: &Settings,
    context: &Context,
) -> Result<Behind, ClusterError> {
    let mut planned = make_plan(access, &nothing(), settings).await?;
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
    // What could not go even with an approval is not waited for without one.
    let (unapproved, failed): (Vec<_>, Vec<_>) = failed.partition(|(step, done)| {
        let takes_along = takes_others_along(&step.id.group_kind);
        takes_along && done.outcome == Outcome::Refused && !planned.approval.given
    });
    let unapproved = unapproved.into_iter().map(|(step, _)| step);
    let unapproved = unapproved.chain(planned.plan.waiting());
    let unapproved = unapproved.map(|step| step.id.to_string()).collect();
    let mut left: Vec<String> = failed
        .into_iter()
        .map(|(step, done)| format!("{}: {}", step.id, done.message))
        .collect();
    if left.is_empty() {
        left = still_there(&make_plan(access, &nothing(), settings).await?);
    }
    Ok(Behind { left, unapproved })
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

impl Behind {
    /// Says what needed an approval and had none, if anything did.
    pub fn unapproved(&self) -> Option<String> {
        let told = || {
            let members = self.unapproved.join(", ");
            format!(
                "kept, since a deletion takes them along only with {APPROVE_PRUNE}={DELETION}: {members}"
            )
        };
        (!self.unapproved.is_empty()).then(told)
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
    let (kinds, known) = members_of(access, inventory, settings).await?;
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

/// A source that asks for nothing. What it is approved by is no revision: who approved that something leaves the source
/// has not approved that everything goes.
fn nothing() -> Snapshot {
    Snapshot {
        revision: DELETION.to_owned(),
        files: Vec::new(),
        diagnostics: Vec::new(),
    }
}
