//! Why a Sync or a Campaign has no run.

use crate::api::condition::{ConditionStatus, Finding};

/// Why a Sync or a Campaign has no run, as its condition tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// One word, for programs.
    pub reason: &'static str,
    /// One sentence, for people.
    pub message: String,
    /// Whether only a change of the spec helps.
    pub stalled: bool,
}

impl Problem {
    /// Something that only a change of the spec helps.
    pub fn stalled(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            reason,
            message: message.into(),
            stalled: true,
        }
    }

    /// Something that may pass.
    pub fn passing(reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            stalled: false,
            ..Self::stalled(reason, message)
        }
    }

    /// What conditions say of it: `Ready`, and `Stalled` where it is so.
    pub fn findings(&self) -> Vec<Finding> {
        let finding = |type_, status| Finding {
            type_,
            status,
            reason: self.reason,
            message: self.message.clone(),
        };
        let ready = finding("Ready", ConditionStatus::False);
        let stalled = self
            .stalled
            .then(|| finding("Stalled", ConditionStatus::True));
        [ready].into_iter().chain(stalled).collect()
    }
}
