//! Lists.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::Selection;
use super::options::{self, Wanted};
use super::page::Place;
use crate::error::ApiError;
use crate::request::Request;
use crate::state::State;
use crate::store::Key;

/// Objects as they are, or were, at one moment.
#[derive(Clone, Debug)]
pub struct List {
    /// The objects.
    pub items: Vec<Arc<Value>>,
    /// The version of that moment.
    pub version: u64,
    /// What to send to get the rest.
    pub next: Option<String>,
    /// How many the rest are; unknown where some are selected.
    pub remaining: Option<usize>,
}

/// Reads many objects.
///
/// # Errors
/// 400 and 422 for parameters, 410 for a moment that is forgotten, 504 for one that is yet to come.
pub fn list(state: &State, request: &Request) -> Result<List, ApiError> {
    options::check(request, false)?;
    let selection = Selection::of(request)?;
    let limit = usize::try_from(options::number(request, "limit")?).unwrap_or(0);
    let from = match request.parameter("continue") {
        None | Some("") => None,
        Some(token) => Some(Place::read(token)?),
    };
    let version = match &from {
        Some(place) => Some(place.version),
        None => version(state, request, limit)?,
    };
    let objects = objects(state, request, version, from.as_ref())?;
    let mut matching = objects
        .into_iter()
        .filter(|(_, object)| selection.matches(object));
    let mut page: Vec<(Key, Arc<Value>)> = match limit {
        0 => matching.by_ref().collect(),
        limit => matching.by_ref().take(limit).collect(),
    };
    let rest = matching.count();
    let version = version.unwrap_or_else(|| state.store.version());
    let last = page.last_mut().filter(|_| rest > 0);
    let next = last.map(|(key, _)| {
        let place = Place {
            version,
            namespace: std::mem::take(&mut key.namespace),
            name: std::mem::take(&mut key.name),
        };
        place.token()
    });
    Ok(List {
        items: page.into_iter().map(|(_, object)| object).collect(),
        version,
        remaining: (next.is_some() && selection.is_everything()).then_some(rest),
        next,
    })
}

/// The version that must be shown; `None` for the newest.
fn version(state: &State, request: &Request, limit: usize) -> Result<Option<u64>, ApiError> {
    let wanted = options::wanted_version(state, request)?;
    let exactly = match (request.parameter("resourceVersionMatch"), wanted) {
        (Some("Exact"), Wanted::NotOlderThan(version)) => Some(version),
        // What a limit has meant from before there was a word for it.
        (None | Some(""), Wanted::NotOlderThan(version)) if limit > 0 => Some(version),
        _ => None,
    };
    Ok(exactly.filter(|version| *version != state.store.version()))
}

/// The objects at a version, after a place.
fn objects(
    state: &State,
    request: &Request,
    version: Option<u64>,
    from: Option<&Place>,
) -> Result<Vec<(Key, Arc<Value>)>, ApiError> {
    let resource: Arc<str> = request.kind.resource().into();
    let namespace = request.namespace.as_deref();
    let is_after = |key: &Key| {
        from.is_none_or(|from| {
            (key.namespace.as_str(), key.name.as_str()) > (&from.namespace, &from.name)
        })
    };
    let now = state
        .store
        .list(&resource, namespace)
        .filter(|(key, _)| is_after(key));
    let Some(version) = version.filter(|version| *version != state.store.version()) else {
        return Ok(now
            .map(|(key, object)| (key.clone(), object.clone()))
            .collect());
    };
    let changes = state.store.since(version).ok_or_else(|| too_old(from))?;
    let mut then: BTreeMap<Key, Arc<Value>> = now
        .map(|(key, object)| (key.clone(), object.clone()))
        .collect();
    let changes: Vec<_> = changes
        .filter(|change| {
            change.key.resource == resource
                && namespace.is_none_or(|namespace| change.key.namespace == namespace)
                && is_after(&change.key)
        })
        .collect();
    // Undone from the last to the first.
    for change in changes.into_iter().rev() {
        match &change.before {
            Some(before) => then.insert(change.key.clone(), before.clone()),
            None => then.remove(&change.key),
        };
    }
    Ok(then.into_iter().collect())
}

fn too_old(from: Option<&Place>) -> ApiError {
    let message = if from.is_some() {
        "The provided continue parameter is too old to display a consistent list result. You must start a new list without the continue parameter."
    } else {
        "The resourceVersion for the provided list is too old."
    };
    ApiError::new(410, "Expired", message)
}
