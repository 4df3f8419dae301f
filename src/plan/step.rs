//! The plan: what is to be done, to what, why, and where it comes from.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;
use serde_json::Value;

use super::agent::AgentWish;
use super::approval::Approval;
use crate::api::ObjectId;
use crate::load::Origin;
use crate::render::{NotInjected, Target};

/// What is to be done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// It is not there yet.
    Create,
    /// It is there, but not as wanted.
    Configure,
    /// It is as wanted.
    Unchanged,
    /// It has left the source.
    Delete,
    /// It has left the source, or somebody said to leave it alone, and it stays as it is.
    Keep,
    /// It ought to be changed, but that would harm somebody.
    Refuse,
}

impl Action {
    /// Tells whether the cluster differs from what the source asks for.
    pub fn is_difference(self) -> bool {
        matches!(
            self,
            Self::Create | Self::Configure | Self::Delete | Self::Refuse
        )
    }

    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Configure => "configure",
            Self::Unchanged => "unchanged",
            Self::Delete => "delete",
            Self::Keep => "keep",
            Self::Refuse => "refuse",
        }
    }

    /// Tells whether executing it sends a write.
    pub fn is_write(self) -> bool {
        matches!(self, Self::Create | Self::Configure | Self::Delete)
    }
}

/// A field that somebody else owns and that we would take.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Conflict {
    /// The field manager that owns it.
    pub manager: String,
    /// The field, as the API server prints it: `.spec.replicas`.
    pub field: String,
}

/// Which live object a step was planned for; a write to any other one must fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expected {
    /// uid.
    pub uid: String,
    /// `resourceVersion`.
    pub resource_version: String,
}

/// What a step sends, if anything.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Nothing.
    None,
    /// A delete, because the Target that owns it wants it no more.
    Delete,
    /// A delete, because it has left the source. Done only when everything else went well.
    Prune,
    /// An apply request.
    Apply {
        /// The object to send.
        object: Arc<Value>,
        /// Whether fields of other managers are taken.
        force: bool,
    },
    /// The Service of a Target: what nobody else may own goes too. The owner reference is added when it is sent,
    /// since the Target's uid may not exist before.
    Child {
        /// The Service to send, without its owner reference.
        object: Value,
        /// The Target that owns it.
        target: ObjectId,
        /// Fields of others that are to go, as a JSON merge patch on the live object.
        purge: Option<Value>,
    },
    /// The agent, into a Deployment or out of it. What is sent is made of the Deployment as it then is.
    Agent {
        /// What its Target wants.
        wish: AgentWish,
        /// Why it is refused, if it is.
        refusal: Option<NotInjected>,
    },
}

/// One object of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    /// Which object.
    pub id: ObjectId,
    /// Its `apiVersion`; empty for what has left the source, whose version nobody says.
    pub api_version: String,
    /// What is to be done.
    pub action: Action,
    /// Why, in a sentence for people.
    pub reason: String,
    /// Where it comes from; absent for what is not in the source.
    pub origin: Option<Origin>,
    /// Place in the order: steps of a lower batch are done before those of a higher one.
    pub batch: usize,
    /// Its sync wave.
    pub wave: i32,
    /// Objects that must be there first.
    pub needs: Vec<ObjectId>,
    /// The Target whose Service this is, if it is one.
    pub owner: Option<ObjectId>,
    /// Fields that others own and that we would take.
    pub conflicts: Vec<Conflict>,
    /// Whether others have changed what we had applied.
    pub drift: bool,
    /// The live object, when there is one.
    pub expected: Option<Expected>,
    /// How it stands with the approval that pruning it takes, if it takes one.
    pub approval: Option<Approval>,
    /// What is sent.
    pub body: Body,
    /// Unified diff of live against the server's dry run; secrets are masked. Filled in by a preview.
    pub diff: Option<String>,
}

impl Step {
    /// Makes a step that sends nothing and is known by its name only; the rest is filled in.
    pub(super) fn new(id: ObjectId, action: Action, reason: impl Into<String>) -> Self {
        Self {
            id,
            api_version: String::new(),
            action,
            reason: reason.into(),
            origin: None,
            batch: 0,
            wave: 0,
            needs: Vec::new(),
            owner: None,
            conflicts: Vec::new(),
            drift: false,
            expected: None,
            approval: None,
            body: Body::None,
            diff: None,
        }
    }
}

/// Everything that one run would do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Plan {
    /// The steps, in order.
    pub steps: Vec<Step>,
    /// Why nothing is pruned although pruning was asked for and objects have left the source, if so.
    pub prune_refused: Option<String>,
    /// Targets as they will be.
    pub targets: Vec<Target>,
    /// Targets that cannot be read, and why: they get no Service, and keep the one they have.
    pub unreadable: BTreeMap<ObjectId, String>,
}

impl Plan {
    /// Tells whether the cluster differs from what the source asks for.
    pub fn has_differences(&self) -> bool {
        let mut steps = self.steps.iter();
        steps.any(|step| step.action.is_difference() || step.approval.is_some())
    }

    /// The steps that wait until somebody approves the prunes of this revision.
    pub fn waiting(&self) -> impl Iterator<Item = &Step> {
        let steps = self.steps.iter();
        steps.filter(|step| step.approval == Some(Approval::Needed))
    }

    /// Counts the steps of an action.
    pub fn count(&self, action: Action) -> usize {
        self.steps
            .iter()
            .filter(|step| step.action == action)
            .count()
    }
}
