//! What a request is about: a kind, and what is done with its objects.

use std::sync::Arc;

use http::Method;

use super::body::Format;
use super::path::Place;
use super::subresource;
use crate::error::ApiError;
use crate::request::Verb;
use crate::types::{Kind, Registry};

/// Finds the kind at a place.
///
/// # Errors
/// 404 when there is none, or none with such a subresource.
pub fn kind(kinds: &Registry, place: &Place) -> Result<Arc<Kind>, ApiError> {
    let kind = kinds.at(&place.group, &place.version, &place.plural);
    let kind = kind.ok_or_else(ApiError::no_such_path)?;
    let needs_namespace = kind.namespaced && place.name.is_some();
    if (place.namespace.is_some() && !kind.namespaced)
        || (place.namespace.is_none() && needs_namespace)
    {
        return Err(ApiError::no_such_path());
    }
    Ok(kind.clone())
}

/// What is done, and how its body is to be read.
///
/// # Errors
/// 404 for subresources that there are not, 405 for what is not done with a place, 501 for what only a real cluster does.
pub fn verb(
    method: &Method,
    kind: &Kind,
    place: &Place,
    is_watch: bool,
    format: Option<Format>,
) -> Result<Verb, ApiError> {
    if let Some(name) = &place.subresource {
        subresource::check(kind, name, method)?;
    } else if subresource::is_only_created(kind) && method != Method::POST {
        return Err(not_allowed());
    }
    let is_one = place.name.is_some();
    // Writes to many need to know where.
    let is_anywhere = kind.namespaced && place.namespace.is_none();
    match (method.as_str(), is_one) {
        ("GET", true) => Ok(Verb::Get),
        ("GET", false) if is_watch => Ok(Verb::Watch),
        ("GET", false) => Ok(Verb::List),
        ("POST", false) if !is_anywhere => Ok(Verb::Create),
        ("POST", true) if place.subresource.is_some() => Ok(Verb::Create),
        ("PUT", true) => Ok(Verb::Update),
        ("PATCH", true) => match format {
            Some(Format::Patch(patch)) => Ok(Verb::Patch(patch)),
            _ => Err(not_allowed()),
        },
        ("DELETE", true) => Ok(Verb::Delete),
        ("DELETE", false) if !is_anywhere => Ok(Verb::DeleteCollection),
        _ => Err(not_allowed()),
    }
}

/// 405.
pub fn not_allowed() -> ApiError {
    ApiError::new(
        405,
        "MethodNotAllowed",
        "the server does not allow this method on the requested resource",
    )
}
