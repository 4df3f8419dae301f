//! `resourceVersion` and what goes with it.

use crate::error::{ApiError, Cause};
use crate::request::Request;
use crate::state::State;

/// Which state is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// The newest.
    Newest,
    /// Any, however old (`0`).
    Any,
    /// This one, or one after it.
    NotOlderThan(u64),
}

/// Which state a request asks for.
///
/// # Errors
/// 500 for what is no version, 504 for a version that is yet to come; both as the API server has them.
pub fn wanted_version(state: &State, request: &Request) -> Result<Wanted, ApiError> {
    let wanted = match request.parameter("resourceVersion").unwrap_or_default() {
        "" => return Ok(Wanted::Newest),
        "0" => return Ok(Wanted::Any),
        text => version(text)?,
    };
    let current = state.store.version();
    if wanted > current {
        return Err(too_large(wanted, current));
    }
    Ok(Wanted::NotOlderThan(wanted))
}

/// Reads a resource version.
///
/// # Errors
/// 500, as the API server has it.
pub fn version(text: &str) -> Result<u64, ApiError> {
    text.parse().map_err(|_| {
        let message = format!(
            "resourceVersion: Invalid value: {text:?}: strconv.ParseUint: parsing {text:?}: invalid syntax"
        );
        ApiError::new(500, "", message)
    })
}

fn too_large(wanted: u64, current: u64) -> ApiError {
    let message = format!("Timeout: Too large resource version: {wanted}, current: {current}");
    let mut error = ApiError::new(504, "Timeout", message).about("", "", "");
    if let Some(details) = &mut error.details {
        details.retry_after = Some(1);
        details.causes = vec![Cause {
            reason: "ResourceVersionTooLarge",
            message: "Too large resource version".to_owned(),
            field: String::new(),
        }];
    }
    error
}

/// A number in a parameter; 0 when there is none.
///
/// # Errors
/// 400 for what is no number.
pub fn number(request: &Request, name: &str) -> Result<i64, ApiError> {
    match request.parameter(name) {
        None | Some("") => Ok(0),
        Some(text) => text.parse().map_err(|_| {
            ApiError::bad_request(format!(
                "strconv.ParseInt: parsing {text:?}: invalid syntax"
            ))
        }),
    }
}

/// Looks at the parameters of lists and watches that depend on each other.
///
/// # Errors
/// 422 with all that is wrong.
pub fn check(request: &Request, is_watch: bool) -> Result<(), ApiError> {
    let given = |name| request.parameter(name).filter(|value| !value.is_empty());
    let matching = given("resourceVersionMatch");
    let initial = given("sendInitialEvents");
    let mut causes = Vec::new();
    let mut forbid = |field: &str, why: &str| {
        causes.push(Cause {
            reason: "FieldValueForbidden",
            message: format!("Forbidden: {why}"),
            field: field.to_owned(),
        });
    };
    if is_watch {
        if initial.is_some() && matching != Some("NotOlderThan") {
            forbid(
                "resourceVersionMatch",
                "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan",
            );
        }
        if initial.is_none() && matching.is_some() {
            forbid(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided",
            );
        }
    } else {
        if initial.is_some() {
            forbid(
                "sendInitialEvents",
                "sendInitialEvents is forbidden for list",
            );
        }
        if matching.is_some() && given("resourceVersion").is_none() {
            forbid(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden unless resourceVersion is provided",
            );
        }
        if matching.is_some() && given("continue").is_some() {
            forbid(
                "resourceVersionMatch",
                "resourceVersionMatch is forbidden when continue is provided",
            );
        }
        if matching == Some("Exact") && given("resourceVersion") == Some("0") {
            forbid(
                "resourceVersionMatch",
                "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"",
            );
        }
    }
    let supported: &[&str] = if is_watch {
        &["NotOlderThan", ""]
    } else {
        &["Exact", "NotOlderThan", ""]
    };
    if let Some(other) = matching.filter(|word| !supported.contains(word)) {
        let supported: Vec<String> = supported.iter().map(|word| format!("{word:?}")).collect();
        let supported = supported.join(", ");
        causes.push(Cause {
            reason: "FieldValueNotSupported",
            message: format!("Unsupported value: {other:?}: supported values: {supported}"),
            field: "resourceVersionMatch".to_owned(),
        });
    }
    if causes.is_empty() {
        return Ok(());
    }
    Err(ApiError::invalid("meta.k8s.io", "ListOptions", "", causes))
}
