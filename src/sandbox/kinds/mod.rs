//! What the built-in kinds do to their objects: defaults, rules, and what may not change.

use serde_json::Value;

use super::error::{ApiError, Cause};
use super::state::State;
use super::types::Kind;

/// Adds defaults.
pub fn default(_kind: &Kind, _object: &mut Value) {}

/// Brings a new object into the form that it is kept in: no status, addresses given out, generated fields.
///
/// # Errors
/// Such as an address that is taken.
pub fn prepare_create(
    _state: &mut State,
    _kind: &Kind,
    _object: &mut Value,
) -> Result<(), ApiError> {
    Ok(())
}

/// Carries over what an update may not touch, but for `metadata` and `status`, which all kinds treat alike.
pub fn prepare_update(_kind: &Kind, _new: &mut Value, _old: &Value) {}

/// What is wrong with a new object.
pub fn validate_create(_kind: &Kind, _object: &Value) -> Vec<Cause> {
    Vec::new()
}

/// What is wrong with a changed object.
pub fn validate_update(_kind: &Kind, _new: &Value, _old: &Value) -> Vec<Cause> {
    Vec::new()
}
