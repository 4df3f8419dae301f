//! Tokens for ServiceAccounts (`kubectl create token`).

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::review::{answered, spec};
use super::tokens::{Account, ISSUER};
use crate::error::{ApiError, Cause};
use crate::request::Request;
use crate::state::State;
use crate::store::Key;

/// Seconds that a token is good for when nobody says.
const USUAL: i64 = 3600;
/// The shortest that can be asked for.
const SHORTEST: i64 = 600;
/// The longest that can be asked for.
const LONGEST: i64 = 1 << 32;

/// Answers a TokenRequest.
///
/// # Errors
/// 404 without the account, 422 for a time that is too short or too long.
pub fn token_request(state: &State, request: &Request) -> Result<Value, ApiError> {
    let name = request.name.as_deref().unwrap_or_default();
    let namespace = request.namespace.as_deref().unwrap_or_default();
    let account = state.store.get(&Key {
        resource: "serviceaccounts".into(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    });
    let account = account.ok_or_else(|| ApiError::not_found("", "serviceaccounts", name))?;
    let uid = account.pointer("/metadata/uid").and_then(Value::as_str);
    let account = Account {
        namespace,
        name,
        uid: uid.unwrap_or_default(),
    };

    let mut spec = spec(request);
    let audiences = spec.get("audiences").and_then(Value::as_array);
    let audiences = audiences.into_iter().flatten().filter_map(Value::as_str);
    let mut audiences: Vec<String> = audiences.map(str::to_owned).collect();
    if audiences.is_empty() {
        audiences.push(ISSUER.to_owned());
    }
    let seconds = spec.get("expirationSeconds").and_then(Value::as_i64);
    let seconds = seconds.unwrap_or(USUAL);
    if seconds < SHORTEST {
        return Err(invalid(
            seconds,
            "may not specify a duration less than 10 minutes",
        ));
    }
    if seconds > LONGEST {
        return Err(invalid(
            seconds,
            "may not specify a duration larger than 2^32 seconds",
        ));
    }

    let now = Timestamp::now();
    let until = now + SignedDuration::from_secs(seconds);
    let token = state.auth.tokens.issue(account, &audiences, now, until);
    if let Some(spec) = spec.as_object_mut() {
        spec.insert("audiences".to_owned(), audiences.into());
        spec.insert("expirationSeconds".to_owned(), seconds.into());
        spec.entry("boundObjectRef").or_insert(Value::Null);
    }
    let until = until.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
    let status = json!({ "token": token, "expirationTimestamp": until });
    let mut answer = answered(request, spec, status);
    // The path is one of ServiceAccounts.
    if let Some(answer) = answer.as_object_mut() {
        answer.insert("kind".to_owned(), "TokenRequest".into());
        answer.insert("apiVersion".to_owned(), "authentication.k8s.io/v1".into());
    }
    Ok(answer)
}

fn invalid(seconds: i64, why: &str) -> ApiError {
    let cause = Cause {
        reason: "FieldValueInvalid",
        message: format!("Invalid value: {seconds}: {why}"),
        field: "spec.expirationSeconds".to_owned(),
    };
    ApiError::invalid("authentication.k8s.io", "TokenRequest", "", vec![cause])
}
