//! What the API server answered, sorted by what can be done about it.

use kube::core::Status;
use thiserror::Error;

use crate::api::names::AGENT_MANAGER;
use crate::plan::Conflict;

/// Why a request did not do what it should.
#[derive(Clone, Debug, PartialEq, Error)]
pub enum ClusterError {
    /// Other managers own fields that we would take.
    #[error("{}", describe(.0))]
    FieldConflict(Vec<Conflict>),
    /// The object is not the one the request was made for: it changed in between.
    #[error("it changed in the meantime: {0}")]
    Changed(String),
    /// There is no such object, or no such kind.
    #[error("{0}")]
    NotFound(String),
    /// What the request goes on from is too old: it must be started anew.
    #[error("it is too old to go on from: {0}")]
    Expired(String),
    /// Others write now what this was to write.
    #[error("another replica looks after it now")]
    NotOurs,
    /// We are not allowed to.
    #[error("not allowed: {0}")]
    Forbidden(String),
    /// The server will never accept this request.
    #[error("{0}")]
    Invalid(String),
    /// It may work later.
    #[error("the API server did not answer as expected: {0}")]
    Unavailable(String),
    /// There was no answer at all.
    #[error("the API server cannot be reached: {0}")]
    Unreachable(String),
    /// The connection cannot even be tried.
    #[error("{0}")]
    Config(String),
}

fn describe(conflicts: &[Conflict]) -> String {
    let mut told: Vec<String> = conflicts
        .iter()
        .take(3)
        .map(|c| format!("{} owns {}", c.manager, c.field))
        .collect();
    if conflicts.len() > told.len() {
        told.push(format!("{} more", conflicts.len() - told.len()));
    }
    told.join(", ")
}

impl ClusterError {
    /// Tells whether trying again may help.
    pub fn is_transient(&self) -> bool {
        matches!(
            self,
            Self::Unavailable(_) | Self::Unreachable(_) | Self::Expired(_)
        )
    }

    /// Tells whether all that stands in the way of an apply is the agent that we have put into a Deployment ourselves.
    pub fn is_about_our_agent(&self) -> bool {
        match self {
            Self::FieldConflict(conflicts) => {
                conflicts.iter().all(|it| it.manager == AGENT_MANAGER)
            }
            _ => false,
        }
    }

    /// The same error without anything a Secret may have put into it: the server quotes what it refuses
    /// (GHSA-274v-mgcv-cm8j).
    #[must_use]
    pub fn without_values(self) -> Self {
        let hidden = || {
            "the server's words are withheld, since they may quote the Secret's values".to_owned()
        };
        match self {
            Self::Invalid(_) => Self::Invalid(format!("the Secret is not valid ({})", hidden())),
            Self::Forbidden(_) => Self::Forbidden(hidden()),
            Self::Unavailable(_) | Self::Unreachable(_) => Self::Unavailable(hidden()),
            other => other,
        }
    }
}

impl From<kube::Error> for ClusterError {
    fn from(error: kube::Error) -> Self {
        match error {
            kube::Error::Api(status) => (*status).into(),
            kube::Error::BuildRequest(error) => Self::Invalid(error.to_string()),
            other => Self::Unreachable(chain(&other)),
        }
    }
}

impl From<Status> for ClusterError {
    fn from(status: Status) -> Self {
        let Status {
            code,
            message,
            reason,
            details,
            ..
        } = status;
        let message = cut(message);
        let causes = details.map(|details| details.causes).unwrap_or_default();
        match code {
            409 => {
                let conflicts: Vec<Conflict> = causes
                    .iter()
                    .filter(|cause| cause.reason == "FieldManagerConflict")
                    .map(|cause| Conflict {
                        manager: manager(&cause.message),
                        field: cause.field.clone(),
                    })
                    .collect();
                if conflicts.is_empty() {
                    ClusterError::Changed(message)
                } else {
                    ClusterError::FieldConflict(conflicts)
                }
            }
            404 => ClusterError::NotFound(message),
            410 => ClusterError::Expired(message),
            401 | 403 => ClusterError::Forbidden(message),
            // v1.20 answers a field that no schema declares with 500 and an empty reason; trying again never helps.
            500 if reason.is_empty() || message.contains("failed to create typed patch object") => {
                ClusterError::Invalid(message)
            }
            408 | 429 | 500.. => ClusterError::Unavailable(message),
            _ => ClusterError::Invalid(message),
        }
    }
}

/// The most characters of an answer that are told: a server may quote the whole object.
const LONGEST: usize = 2000;

fn cut(message: String) -> String {
    match message.char_indices().nth(LONGEST) {
        Some((end, _)) => {
            message.chars().take(LONGEST).collect::<String>()
                + " … ("
                + &(message.len() - end).to_string()
                + " more bytes)"
        }
        None => message,
    }
}

/// Reads the manager out of `conflict with "kubectl" using apps/v1 at 2026-01-01T00:00:00Z`.
fn manager(message: &str) -> String {
    message.split('"').nth(1).unwrap_or(message).to_owned()
}

fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn error(status: serde_json::Value) -> ClusterError {
        serde_json::from_value::<Status>(status).unwrap().into()
    }

    #[test]
    fn conflicts_name_field_and_manager() {
        let conflict = error(json!({
            "code": 409, "reason": "Conflict", "message": "Apply failed with 1 conflict",
            "details": { "causes": [{
                "reason": "FieldManagerConflict", "message": "conflict with \"kubectl\" using apps/v1", "field": ".spec.replicas",
            }] },
        }));
        assert_eq!(conflict.to_string(), "kubectl owns .spec.replicas");
        let changed =
            error(json!({ "code": 409, "reason": "Conflict", "message": "uid mismatch" }));
        assert!(matches!(changed, ClusterError::Changed(_)));
    }

    #[test]
    fn what_will_never_work_is_not_tried_again() {
        let undeclared = json!({ "code": 500, "message": "failed to create typed patch object: .spec.bogus: field not declared in schema" });
        assert!(!error(undeclared).is_transient());
        assert!(!error(json!({ "code": 422, "reason": "Invalid", "message": "m" })).is_transient());
        for code in [429, 503, 504] {
            assert!(error(json!({ "code": code, "reason": "r", "message": "m" })).is_transient());
        }
        assert!(
            error(json!({ "code": 500, "reason": "InternalError", "message": "m" })).is_transient()
        );
    }
}
