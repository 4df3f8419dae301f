//! Deletions of many objects at once.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::delete::{self, Options};
use super::key::Write;
use crate::error::ApiError;
use crate::read::Selection;
use crate::state::State;

/// Deletes what the selectors take, and answers with the list of it as it was.
pub(super) fn delete(
    state: &mut State,
    write: &mut Write<'_>,
) -> Result<(u16, Arc<Value>), ApiError> {
    let options = Options::read(write.request, &write.request.body)?;
    let selection = Selection::of(write.request)?;
    let namespace = write.request.namespace.as_deref();
    let found: Vec<_> = state
        .store
        .list(&write.key.resource, namespace)
        .filter(|(_, object)| selection.matches(object))
        .map(|(key, object)| (key.clone(), object.clone()))
        .collect();
    let version = state.store.version();
    for (key, _) in &found {
        write.key = key.clone();
        delete::one(state, write, &options)?;
    }
    let kind = write.kind;
    let items = found.into_iter().map(|(_, object)| {
        if write.custom() {
            return (*write.at_version(object)).clone();
        }
        // Lists of Kubernetes' own kinds say once what their items are.
        let fields: Option<Map<String, Value>> = object.as_object().map(|fields| {
            let kept = fields
                .iter()
                .filter(|(name, _)| !matches!(name.as_str(), "kind" | "apiVersion"));
            kept.map(|(name, value)| (name.clone(), value.clone()))
                .collect()
        });
        Value::from(fields.unwrap_or_default())
    });
    let items: Vec<Value> = items.collect();
    let list = json!({
        "kind": kind.list_kind, "apiVersion": write.api_version,
        "metadata": { "resourceVersion": version.to_string() }, "items": items,
    });
    Ok((200, Arc::new(list)))
}
