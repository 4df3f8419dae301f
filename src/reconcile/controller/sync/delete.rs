//! The end of a Sync: its members go with it, or are let go.

use std::collections::BTreeSet;

use tokio::time::Instant;
use tracing::{info, warn};

use super::live::LiveSync;
use super::memory::{Applied, Memory};
use super::spec;
use crate::api::ObjectId;
use crate::cluster::{Cluster, ClusterError, Kind};
use crate::load::Snapshot;
use crate::plan::{Action, Known};
use crate::reconcile::controller::context::Context;
use crate::reconcile::inventory::Inventory;
use crate::reconcile::parent::{keep_inventory, read_parent};
use crate::reconcile::{Access, Planned, Settings, make_plan, now, sync};

/// How far the deletion of a Sync is.
#[derive(Debug, PartialEq, Eq)]
pub enum Deletion {
    /// Its members are gone, and now it goes too.
    Ended,
    /// Some of its members are still there.
    GoesOn,
}

/// Deletes the members of a Sync in reverse order, and lets the Sync go when they are gone.
///
/// What cannot be deleted in the Sync's timeout is given up: it stays in the cluster, and nothing waits for it for ever.
/// A Sync whose own namespace is going does not wait at all, so that it never holds that up.
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
    let settings = Settings {
        prune: true,
        allow_empty: true,
        prune_limit: None,
        writes_status: false,
        wait: Some(timeout).filter(|_| !namespace_goes),
        ..settings.clone()
    };
    let gives_up = || namespace_goes || since.elapsed() >= timeout;
    let left = match delete_members(access, live, &settings, context).await {
        // What stands in the way of the deletion for ever must not keep the Sync for ever.
        Err(error) if gives_up() && error != ClusterError::NotOurs => vec![error.to_string()],
        left => left?,
    };
    if !left.is_empty() && !gives_up() {
        return Ok(Deletion::GoesOn);
    }
    for what in left {
        warn!("it is left behind: {what}");
    }
    let_go(access, &settings).await?;
    Ok(Deletion::Ended)
}

/// Deletes the members that are there, and says what is left of them.
async fn delete_members(
    access: Access<'_>,
    live: &LiveSync,
    settings: &Settings,
    context: &Context,
) -> Result<Vec<String>, ClusterError> {
    let planned = make_plan(access, &nothing(live), settings).await?;
    if let Some(why) = &planned.plan.prune_refused {
        warn!("members are not deleted: {why}");
    }
    let (planned, report) = sync(
        access,
        planned,
        settings,
        &now().to_string(),
        &|step, done| {
            context.note_written(step, done);
            info!(object = %step.id, "{}: {}", done.outcome.word(), done.message);
        },
    )
    .await?;
    let left: Vec<String> = planned
        .plan
        .steps
        .iter()
        .zip(&report.done)
        .filter(|(_, done)| !done.outcome.is_good())
        .map(|(step, done)| format!("{}: {}", step.id, done.message))
        .collect();
    if !left.is_empty() {
        return Ok(left);
    }
    Ok(still_there(
        &make_plan(access, &nothing(live), settings).await?,
    ))
}

/// Takes the finalizer off, so that the Sync may go.
///
/// # Errors
/// As the server answers.
pub async fn let_go(access: Access<'_>, settings: &Settings) -> Result<(), ClusterError> {
    let settings = Settings {
        outlives_members: false,
        ..settings.clone()
    };
    let kind = Kind::sync();
    let parent = read_parent(access.sync, &kind, &settings).await?;
    if parent.is_none() {
        return Ok(());
    }
    let inventory = Inventory::read(parent.as_ref());
    match keep_inventory(access.sync, &kind, parent.as_ref(), &settings, &inventory).await {
        Ok(_) | Err(ClusterError::NotFound(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Lets go of what a deleted Sync leaves behind: it belongs to nobody then. What the last run applied tells what that is,
/// since the inventory went with the Sync.
///
/// # Errors
/// When the server cannot say what kinds it has.
pub async fn release(cluster: &Cluster, applied: &Applied) -> Result<(), ClusterError> {
    let groups = applied
        .objects
        .keys()
        .map(|id| id.group_kind.group.as_str());
    let groups: BTreeSet<&str> = groups.collect();
    let kinds = cluster
        .kinds_of_groups(|group| groups.contains(group))
        .await?;
    let mut released = 0;
    for id in applied.objects.keys() {
        let Some(kind) = kinds.any_version(&id.group_kind) else {
            continue;
        };
        match release_member(cluster, kind, id, &applied.applyset).await {
            Ok(done) => released += usize::from(done),
            // Gone, or changed by somebody since: then it is not ours to touch.
            Err(ClusterError::NotFound(_) | ClusterError::Changed(_)) => {}
            Err(error) => warn!(object = %id, "it keeps the label of its set: {error}"),
        }
    }
    info!("the Sync is gone; {released} members were let go");
    Ok(())
}

/// Lets go of an object if it is still a member; tells whether it was.
async fn release_member(
    cluster: &Cluster,
    kind: &Kind,
    id: &ObjectId,
    applyset: &str,
) -> Result<bool, ClusterError> {
    let live = cluster
        .get_metadata(kind, id.namespace.as_deref(), &id.name)
        .await?;
    match live.filter(|live| live.applyset() == Some(applyset)) {
        Some(live) => cluster.release(kind, &live).await.map(|()| true),
        None => Ok(false),
    }
}

/// Names the members that are there and are to go, and the kinds of which that cannot be seen.
fn still_there(planned: &Planned) -> Vec<String> {
    let Known {
        members, unseen, ..
    } = &planned.survey.known;
    let steps = planned.plan.steps.iter();
    let going = steps.filter(|step| {
        let member = members.get(&step.id);
        step.action == Action::Delete || member.is_some_and(|it| it.deletion_timestamp.is_some())
    });
    let going = going.map(|step| format!("{}: it is still there", step.id));
    going.chain(unseen.values().cloned()).collect()
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
