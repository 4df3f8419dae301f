//! The Sync as the parent of its apply set: written before its members, so that none is ever unknown.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Inventory, Settings};
use crate::api::GroupKind;
use crate::api::names::{
    API_VERSION, APPLYSET_GROUP_KINDS, APPLYSET_ID, APPLYSET_NAMESPACES, APPLYSET_TOOLING, SOURCE,
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
    let (kinds, namespaces) = (
        group_kinds(&inventory.group_kinds),
        own_excluded(&inventory.namespaces, settings),
    );
    let text = |pointer: &str| parent.and_then(|parent| parent.pointer(pointer)?.as_str());
    let metadata = |map: &str, key: &str| {
        parent.and_then(|parent| parent.get("metadata")?.get(map)?.get(key)?.as_str())
    };
    let annotations = [
        (APPLYSET_GROUP_KINDS, kinds.as_str()),
        (APPLYSET_NAMESPACES, namespaces.as_str()),
        (SOURCE, settings.source.as_str()),
    ];
    let applyset = settings.applyset();
    let labelled = metadata("labels", APPLYSET_ID) == Some(&applyset);
    if labelled
        && annotations
            .iter()
            .all(|(key, value)| metadata("annotations", key) == Some(*value))
    {
        return Ok(None);
    }
    let mut object = json!({
        "apiVersion": API_VERSION,
        "kind": "Sync",
        "metadata": {
            "name": settings.name,
            "namespace": settings.namespace,
            "labels": { APPLYSET_ID: applyset },
            "annotations": {
                APPLYSET_TOOLING: format!("{TOOL}/v{}", env!("CARGO_PKG_VERSION")),
                APPLYSET_GROUP_KINDS: kinds,
                APPLYSET_NAMESPACES: namespaces,
                SOURCE: settings.source,
            },
        },
        "spec": {},
    });
    let version = text("/metadata/resourceVersion").map(|version| json!(version));
    let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
    if let (Some(version), Some(metadata)) = (version, metadata) {
        metadata.insert("resourceVersion".into(), version);
    }
    match cluster.apply_inventory(kind, &object).await {
        Ok(live) => Ok(Some(live)),
        Err(ClusterError::NotFound(message)) => Err(ClusterError::NotFound(format!(
            "Sync {}/{} cannot be kept: {message}; create the namespace, add it to the source, or choose another with -n",
            settings.namespace, settings.name
        ))),
        Err(error) => Err(error),
    }
}

/// Reads the parent as it is now.
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

fn group_kinds(kinds: &BTreeSet<GroupKind>) -> String {
    let mut kinds: Vec<String> = kinds.iter().map(ToString::to_string).collect();
    kinds.sort_unstable();
    kinds.join(",")
}

fn own_excluded(namespaces: &BTreeSet<String>, settings: &Settings) -> String {
    let others: Vec<&str> = namespaces
        .iter()
        .map(String::as_str)
        .filter(|n| *n != settings.namespace)
        .collect();
    others.join(",")
}
