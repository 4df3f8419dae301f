//! What became of a step.

use serde::Serialize;

use crate::plan::Live;

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It was not there, and is now.
    Created,
    /// It was changed.
    Configured,
    /// Nothing had to be changed.
    Unchanged,
    /// It is gone.
    Deleted,
    /// It was left as it is, as planned.
    Kept,
    /// It was left as it is, because changing it would harm somebody.
    Refused,
    /// The API server would not.
    Failed,
    /// Something it needs did not come about.
    Skipped,
}

impl Outcome {
    /// Tells whether the cluster is now as the step wanted it.
    pub fn is_good(self) -> bool {
        !matches!(self, Self::Refused | Self::Failed | Self::Skipped)
    }

    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Configured => "configured",
            Self::Unchanged => "unchanged",
            Self::Deleted => "deleted",
            Self::Kept => "kept",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

/// What became of a step, and why.
#[derive(Clone, Debug)]
pub struct Done {
    /// What became of it.
    pub outcome: Outcome,
    /// Why; for failures, what the server said.
    pub message: String,
    /// The object's metadata after an apply.
    pub live: Option<Live>,
    /// The fields that came back from an apply with other values, if that was looked at and there are any.
    pub rewritten: Option<String>,
}
