//! Who asks, and whether they may: tokens, impersonation, RBAC, reviews of both, and the audit log.

mod attributes;
pub mod audit;
mod bootstrap;
mod escalation;
mod impersonation;
mod owners;
mod rbac;
mod review;
mod rules_review;
mod token_request;
mod tokens;

#[cfg(test)]
mod tests;

use http::{HeaderMap, header};
use serde_json::Value;

use super::error::ApiError;
use super::request::{Request, User, Verb};
use super::state::State;

pub use self::attributes::{Attributes, Target};
pub use self::bootstrap::seed;
pub use self::rbac::{Decision, aggregate};
pub use self::review::review;
pub use self::tokens::Tokens;

/// Group of those whose name is known.
pub const AUTHENTICATED: &str = "system:authenticated";
/// Group of those whose name is not.
pub const UNAUTHENTICATED: &str = "system:unauthenticated";
/// Name of those who say none.
pub const ANONYMOUS: &str = "system:anonymous";
/// Group of those who may do everything.
pub const MASTERS: &str = "system:masters";

/// What is known of users and their rights.
#[derive(Debug, Default)]
pub struct Auth {
    /// Whether rights are asked for; if not, everybody who is known may do everything.
    pub enforced: bool,
    /// Who has which token.
    pub tokens: Tokens,
    policy: rbac::Cache,
}

/// Who sends a request, or whom its sender impersonates.
///
/// # Errors
/// 401 for an unknown token, 403 for an impersonation that is not allowed.
pub fn authenticate(state: &State, headers: &HeaderMap) -> Result<User, ApiError> {
    let sender = match bearer(headers) {
        Some(token) => state
            .auth
            .tokens
            .user(token, &state.store)
            .ok_or_else(unauthorized)?,
        None => User {
            name: ANONYMOUS.to_owned(),
            groups: vec![UNAUTHENTICATED.to_owned()],
            ..User::default()
        },
    };
    impersonation::impersonate(state, sender, headers)
}

/// Whether somebody who changes an object may also make it, since it is not there.
///
/// # Errors
/// 403. The API server says no more of it than that.
pub fn authorize_creation(state: &State, request: &Request) -> Result<(), ApiError> {
    let attributes = Attributes {
        verb: Verb::Create.word(),
        ..Attributes::of(request)
    };
    if decide(state, &request.user, &attributes).allowed {
        return Ok(());
    }
    let name = request.name.as_deref().unwrap_or_default();
    let (group, plural) = (&request.kind.group, &request.kind.plural);
    Err(ApiError::forbidden(group, plural, name, ""))
}

/// Whether somebody may write what an object says of rights and of owners; `before` is what is there.
///
/// # Errors
/// 403, or 404 for a role that is not there.
pub fn check(
    state: &State,
    request: &Request,
    object: &Value,
    before: Option<&Value>,
) -> Result<(), ApiError> {
    owners::check(state, request, object, before)?;
    escalation::check(state, request, object, before)
}

/// Whether somebody may do anything, be it with objects or with paths that are about none.
///
/// # Errors
/// 403, worded as the API server words it.
pub fn require(state: &State, user: &User, attributes: &Attributes<'_>) -> Result<(), ApiError> {
    match decide(state, user, attributes).allowed {
        true => Ok(()),
        false => Err(attributes.forbidden(user)),
    }
}

/// The same, with the reason.
pub fn decide(state: &State, user: &User, attributes: &Attributes<'_>) -> Decision {
    if !state.auth.enforced || user.groups.iter().any(|group| group == MASTERS) {
        return Decision::always();
    }
    state
        .auth
        .policy
        .current(&state.store)
        .decide(user, attributes)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.trim().split_once(' ')?;
    let token = token.trim();
    (scheme.eq_ignore_ascii_case("bearer") && !token.is_empty()).then_some(token)
}

fn unauthorized() -> ApiError {
    ApiError::new(401, "Unauthorized", "Unauthorized")
}

/// A random UUID.
pub(super) fn uuid() -> String {
    let bits = fastrand::u128(..) & !(0xf << 76) & !(0x3 << 62) | 0x4 << 76 | 0x2 << 62;
    let hex = format!("{bits:032x}");
    let part = |from: usize, to: usize| hex.get(from..to).unwrap_or_default().to_owned();
    [
        part(0, 8),
        part(8, 12),
        part(12, 16),
        part(16, 20),
        part(20, 32),
    ]
    .join("-")
}
