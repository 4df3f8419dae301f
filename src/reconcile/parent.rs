//! The Sync as the parent of its apply set: written before its members, so that none is ever unknown.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Settings;
use super::inventory::Inventory;
use crate::api::names::{
    API_VERSION, APPLYSET_ID, APPLYSET_TOOLING, MEMBERS_FINALIZER, SOURCE, SYNC,
};
use crate::cluster::{Cluster, ClusterError, Kind};
use crate::plan::Live;

const TOOL: &str = "covergence";

/// Checks that a live parent is ours to keep.
///
/// # Errors
/// When another tool keeps this apply set.
pub fn check_tooling(parent: Option<&Value>) -> Result<(), ClusterError> {
    let annotations = parent.and_then(|parent| parent.pointer("/metadata/annotations"));
    let tooling = annotations
        .and_then(|a| a.get(APPLYSET_TOOLING))
        .and_then(Value::as_str);
    match tooling {
        Some(other) if other.split('/').next() != Some(TOOL) => Err(ClusterError::Invalid(
            format!("this apply set is kept by {other}; choose another --name"),
        )),
        _ => Ok(()),
    }
}

/// Tells what other source a parent was last written from, when nobody said that this one is meant to follow it.
pub fn other_source<'a>(parent: Option<&'a Value>, settings: &Settings) -> Option<&'a str> {
    let annotations = parent?.pointer("/metadata/annotations")?;
    let source = annotations.get(SOURCE)?.as_str()?;
    (!settings.named && source != settings.source).then_some(source)
}

/// Writes what the set may hold, unless the parent says just that already.
///
/// The write fails with [`ClusterError::Changed`] when the parent is no longer the one that was read: another run may
/// have added to it, and what that run applied must not be forgotten.
///
/// # Errors
/// As the server answers.
pub async fn keep_inventory(
    cluster: &Cluster,
    kind: &Kind,
    parent: Option<&Value>,
    settings: &Settings,
    inventory: &Inventory,
) -> Result<Option<Live>, ClusterError> {
    let applyset = settings.applyset();
    let mut annotations = BTreeMap::from(inventory.annotations(&settings.namespace));
    annotations.insert(SOURCE, settings.source.clone());
    let metadata = parent.and_then(|parent| parent.get("metadata"));
    let says = |map: &str, key: &str, value: &str| {
        metadata.and_then(|m| m.get(map)?.get(key)?.as_str()) == Some(value)
    };
    let finalizers = metadata.and_then(|m| m.get("finalizers")?.as_array());
    let has_ours = finalizers.is_some_and(|all| all.iter().any(|it| it == MEMBERS_FINALIZER));
    if says("labels", APPLYSET_ID, &applyset)
        && has_ours == settings.outlives_members
        && annotations
            .iter()
            .all(|(key, value)| says("annotations", key, value))
    {
        return Ok(None);
    }
    let tooling = format!("{TOOL}/v{}", env!("CARGO_PKG_VERSION"));
    annotations.insert(APPLYSET_TOOLING, tooling);
    let mut identity = json!({
        "name": settings.name,
        "namespace": settings.namespace,
        "labels": { APPLYSET_ID: applyset },
        "annotations": annotations,
    });
    let version = metadata.and_then(|m| m.get("resourceVersion"));
    if let Some(identity) = identity.as_object_mut() {
        identity.extend(version.map(|version| ("resourceVersion".into(), version.clone())));
        if settings.outlives_members {
            identity.insert("finalizers".into(), json!([MEMBERS_FINALIZER]));
        }
    }
    let object = json!({
        "apiVersion": API_VERSION,
        "kind": SYNC,
        "metadata": identity,
        "spec": {},
    });
    match cluster.apply_inventory(kind, &object).await {
        Ok(live) => Ok(Some(live)),
        Err(ClusterError::NotFound(message)) => Err(ClusterError::NotFound(format!(
            "Sync {}/{} cannot be kept: {message}; create the namespace, add it to the source, or choose another with -n",
            settings.namespace, settings.name
        ))),
        Err(error) => Err(error),
    }
}

/// Reads the parent as it is now: from the server, since what a watch has told was no longer so.
///
/// # Errors
/// As the server answers.
pub async fn read_parent(
    cluster: &Cluster,
    kind: &Kind,
    settings: &Settings,
) -> Result<Option<Value>, ClusterError> {
    cluster
        .get(kind, Some(&settings.namespace), &settings.name)
        .await
}
