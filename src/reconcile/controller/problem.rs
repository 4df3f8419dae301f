//! Why a Sync or a Campaign has no run.

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
}
