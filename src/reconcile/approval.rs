//! What people have said about the prunes of a revision, and what is told of those that wait for it.

use serde_json::{Value, json};

use super::parent::read_parent;
use super::{Access, Done, Outcome, Planned, Settings};
use crate::api::names::APPROVE_PRUNE;
use crate::cluster::{ClusterError, Kind};
use crate::plan::{Action, Approval, Body, Live, approve_command};

/// So many objects that wait are named; a condition is read by people.
const NAMED: usize = 3;

/// What people have said about the prunes of a revision.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PruneApproval {
    /// Whether they are approved.
    pub given: bool,
    /// Whether it is the Sync's annotation that says so.
    pub annotated: bool,
    /// What is approved instead of this revision, if anything: it approves nothing here.
    pub void: Option<String>,
    /// The command that approves them.
    pub command: String,
}

impl PruneApproval {
    /// Reads what the Sync says, and what this run was told.
    pub(super) fn of(parent: Option<&Value>, settings: &Settings, revision: &str) -> Self {
        let annotation = parent.and_then(approved_in);
        let told = settings.approved_prune.as_deref();
        let annotated = annotation == Some(revision);
        let Settings {
            namespace,
            name,
            kubectl,
            ..
        } = settings;
        Self {
            given: annotated || told == Some(revision),
            annotated,
            void: told
                .or(annotation)
                .filter(|approved| *approved != revision)
                .map(str::to_owned),
            command: approve_command(kubectl, namespace, name, revision),
        }
    }
}

fn approved_in(parent: &Value) -> Option<&str> {
    let annotations = parent.pointer("/metadata/annotations")?;
    annotations.get(APPROVE_PRUNE)?.as_str()
}

/// What waits for an approval.
pub struct Waits {
    /// One word, for programs.
    pub reason: &'static str,
    /// So many objects.
    pub objects: usize,
    /// Which, and on a line of its own, so that it can be copied, how they are approved.
    pub message: String,
}

impl Planned {
    /// Tells what waits for an approval, if anything does.
    pub fn waits(&self) -> Option<Waits> {
        let waiting: Vec<String> = self
            .plan
            .waiting()
            .map(|step| step.id.to_string())
            .collect();
        let (named, more) = waiting.split_at(waiting.len().min(NAMED));
        let named = match more.len() {
            0 => named.join(", "),
            more => format!("{} and {more} more", named.join(", ")),
        };
        let PruneApproval { command, void, .. } = &self.approval;
        let void = void.as_ref().map_or(String::new(), |void| {
            format!(" (an approval of {void} is none of this revision)")
        });
        let by_limit = self
            .plan
            .waiting()
            .any(|step| step.action == Action::Refuse);
        (!waiting.is_empty()).then(|| Waits {
            reason: if by_limit {
                "PruneLimitExceeded"
            } else {
                "ApprovalNeeded"
            },
            objects: waiting.len(),
            message: format!(
                "pruned only when that is approved{void}: {named}; to approve:\n  {command}"
            ),
        })
    }
}

/// Takes an approval off the Sync that has done its work: what comes back under the same revision is to be approved anew.
///
/// # Errors
/// As the server answers.
pub(super) async fn spend(
    access: Access<'_>,
    kind: &Kind,
    planned: &Planned,
    done: &[Done],
    settings: &Settings,
) -> Result<(), ClusterError> {
    let Planned { plan, approval, .. } = planned;
    let steps = plan.steps.iter().zip(done);
    let is_prune = |step: &crate::plan::Step| {
        step.body == Body::Prune || step.approval == Some(Approval::Given)
    };
    let all_gone = steps
        .filter(|(step, _)| is_prune(step))
        .all(|(_, done)| done.outcome == Outcome::Deleted);
    let was_decided = settings.prune && plan.prune_refused.is_none() && !planned.has_errors();
    if !(approval.annotated && was_decided && all_gone) {
        return Ok(());
    }
    let parent = read_parent(access.sync, kind, settings).await?;
    let Some(parent) = parent.filter(|parent| approved_in(parent) == Some(&planned.revision))
    else {
        return Ok(());
    };
    let live = Live::from_object(&parent);
    // What a manifest says comes back at once; who writes it there means it for good.
    let Some(live) = live.ok().filter(|live| !is_applied(live)) else {
        return Ok(());
    };
    let (namespace, name) = (Some(settings.namespace.as_str()), &settings.name);
    let patch = json!({ "metadata": { "annotations": { APPROVE_PRUNE: null } } });
    let expected = live.expected();
    let spent = access.sync.purge(kind, namespace, name, patch, &expected);
    match spent.await {
        // Somebody has just written to it: the next run of this revision looks again.
        Err(ClusterError::NotFound(_) | ClusterError::Changed(_)) => Ok(()),
        answer => answer,
    }
}

/// Tells whether the approval is part of a manifest that somebody applies.
fn is_applied(live: &Live) -> bool {
    let annotation = format!("f:{APPROVE_PRUNE}");
    live.managed_fields.iter().any(|entry| {
        let annotations = || entry.fields.get("f:metadata")?.get("f:annotations");
        entry.operation == "Apply" && annotations().is_some_and(|it| it.get(&annotation).is_some())
    })
}
