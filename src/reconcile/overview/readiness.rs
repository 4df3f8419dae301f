//! Whether an object of ours is ready, and why not.

use serde::Serialize;
use serde_json::Value;

use crate::api::condition::{Condition, ConditionStatus};

/// One word for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Ready {
    /// It is as its spec wants it.
    True,
    /// It is not.
    False,
    /// Nobody has told yet.
    Unknown,
    /// Nothing is done about it for now, and that is meant.
    Suspended,
}

impl Ready {
    /// The word it is written with.
    pub fn word(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
            Self::Suspended => "Suspended",
        }
    }
}

/// Whether an object is ready, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Readiness {
    /// One word.
    pub ready: Ready,
    /// One word on why, from the condition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// One sentence on why.
    pub message: String,
}

impl Readiness {
    /// Judges a live object by its condition `Ready`, when that speaks of the spec as it is now.
    pub(super) fn judge(object: &Value, conditions: &[Condition], observed: Option<i64>) -> Self {
        let int = |pointer: &str| object.pointer(pointer).and_then(Value::as_i64);
        let unknown = |message: &str| Self {
            ready: Ready::Unknown,
            reason: None,
            message: message.to_owned(),
        };
        if object.pointer("/metadata/deletionTimestamp").is_some() {
            return unknown("it is being deleted");
        }
        let Some(condition) = conditions.iter().find(|c| c.type_ == "Ready") else {
            return unknown("it has no status yet: no controller has looked at it");
        };
        if observed.is_some() && observed < int("/metadata/generation") {
            return unknown("its spec has changed since its status was written");
        }
        Self {
            ready: match condition.status {
                ConditionStatus::True => Ready::True,
                ConditionStatus::False => Ready::False,
                ConditionStatus::Unknown => Ready::Unknown,
            },
            reason: Some(condition.reason.clone()),
            message: condition.message.clone(),
        }
    }

    /// Tells whether there is nothing to look into.
    pub fn is_good(&self) -> bool {
        matches!(self.ready, Ready::True | Ready::Suspended)
    }
}
