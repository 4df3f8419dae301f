//! Conditions after kstatus: `Ready` always, `Reconciling` and `Stalled` only while true.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Value of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not hold.
    False,
    /// It cannot be told.
    Unknown,
}

impl From<bool> for ConditionStatus {
    fn from(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

/// One aspect of an object's state, as in `metav1.Condition`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Condition {
    /// Aspect, unique in the list.
    #[serde(rename = "type")]
    #[schemars(length(min = 1, max = 316))]
    pub type_: String,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// One word in CamelCase, for programs.
    #[schemars(
        length(min = 1, max = 1024),
        regex(pattern = r"^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$")
    )]
    pub reason: String,
    /// One sentence, for people. Stable: it holds no times and no durations.
    #[schemars(length(max = 32768))]
    pub message: String,
    /// Generation of the spec this was judged by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub observed_generation: Option<i64>,
    /// When `status` last changed (RFC 3339, seconds).
    #[schemars(extend("format" = "date-time"))]
    pub last_transition_time: String,
}

/// What is true now, before it is known since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Condition type.
    pub type_: &'static str,
    /// Whether it holds.
    pub status: ConditionStatus,
    /// One word, for programs.
    pub reason: &'static str,
    /// One sentence, for people.
    pub message: String,
}

/// Turns findings into conditions; the transition time moves only where a status flipped.
pub fn conditions(
    findings: Vec<Finding>,
    previous: &[Condition],
    generation: Option<i64>,
    now: &str,
) -> Vec<Condition> {
    findings
        .into_iter()
        .map(
            |Finding {
                 type_,
                 status,
                 reason,
                 message,
             }| {
                let since = previous
                    .iter()
                    .find(|c| c.type_ == type_ && c.status == status)
                    .map_or(now, |c| c.last_transition_time.as_str());
                Condition {
                    type_: type_.to_owned(),
                    status,
                    reason: reason.to_owned(),
                    message,
                    observed_generation: generation,
                    last_transition_time: since.to_owned(),
                }
            },
        )
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ready(status: ConditionStatus, reason: &'static str) -> Vec<Finding> {
        vec![Finding {
            type_: "Ready",
            status,
            reason,
            message: String::new(),
        }]
    }

    #[test]
    fn the_time_moves_only_when_the_status_flips() {
        let first = conditions(ready(ConditionStatus::True, "A"), &[], Some(1), "t1");
        let same = conditions(ready(ConditionStatus::True, "B"), &first, Some(2), "t2");
        let flipped = conditions(ready(ConditionStatus::False, "B"), &same, Some(2), "t3");
        let times: Vec<_> = [&first, &same, &flipped]
            .iter()
            .map(|c| c[0].last_transition_time.as_str())
            .collect();
        assert_eq!(times, ["t1", "t1", "t3"]);
        assert_eq!(same[0].observed_generation, Some(2));
    }
}
