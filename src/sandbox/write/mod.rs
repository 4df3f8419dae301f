//! Creations, changes and deletions.

use std::sync::Arc;

use serde_json::Value;

use super::error::ApiError;
use super::request::Request;
use super::state::State;

/// What became of a write.
#[derive(Clone, Debug)]
pub struct Written {
    /// HTTP status: 200, 201 or 202.
    pub code: u16,
    /// The object, or a `Status`.
    pub object: Arc<Value>,
    /// What is told in `Warning` headers.
    pub warnings: Vec<String>,
}

/// Does what a request with a writing verb asks for.
///
/// # Errors
/// As the API server refuses it.
pub fn write(_state: &mut State, _request: &Request) -> Result<Written, ApiError> {
    Err(ApiError::not_implemented("writes"))
}
