//! Creations, changes and deletions.

mod apply;
mod body;
mod change;
mod collection;
mod create;
mod definitions;
mod delete;
mod finalizers;
mod key;
mod lifecycle;
mod managed;
mod metadata;
mod names;
mod options;
mod owners;
mod patch;
mod pods;
mod rules;
mod scale;
mod update;

use std::sync::Arc;

use serde_json::Value;

pub use self::apply::{Merged, finish, merge, merges};

use self::key::Write;
pub use self::key::now;
use super::error::ApiError;
use super::request::{PatchType, Request, Verb};
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
pub fn write(state: &mut State, request: &Request) -> Result<Written, ApiError> {
    options::check(request)?;
    let mut write = Write::new(request);
    let (code, object) = match (request.verb, request.subresource.as_deref()) {
        (Verb::Create, None) => create::create(state, &mut write),
        (Verb::Create, Some("binding")) => pods::bind(state, &mut write),
        (Verb::Create, Some("eviction")) => pods::evict(state, &mut write),
        (Verb::Update | Verb::Patch(_), Some("scale")) => scale::change(state, &mut write),
        (Verb::Update, None | Some("status" | "finalize")) => update::update(state, &mut write),
        (Verb::Patch(PatchType::Apply), None | Some("status")) => apply::apply(state, &mut write),
        (Verb::Patch(kind), None | Some("status")) => patch::patch(state, &mut write, kind),
        (Verb::Delete, None) => delete::delete(state, &mut write),
        (Verb::DeleteCollection, None) => collection::delete(state, &mut write),
        _ => Err(ApiError::no_such_path()),
    }?;
    Ok(write.written(code, object))
}

#[cfg(test)]
mod tests;
