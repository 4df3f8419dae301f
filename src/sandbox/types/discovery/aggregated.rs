//! All of discovery in one document.

use serde_json::{Value, json};

use super::resource::{Resource, resources_of};
use super::{names, ordered_versions};
use crate::types::Registry;

/// The `APIGroupDiscoveryList` at `/api` (`legacy`) or `/apis`, in version `v2` or `v2beta1`.
pub fn aggregated(kinds: &Registry, legacy: bool, version: &str) -> Value {
    let groups = names(kinds)
        .into_iter()
        .filter(|name| name.is_empty() == legacy);
    let items: Vec<Value> = groups.map(|name| group(kinds, name)).collect();
    json!({
        "kind": "APIGroupDiscoveryList", "apiVersion": format!("apidiscovery.k8s.io/{version}"), "metadata": {},
        "items": items,
    })
}

fn group(kinds: &Registry, name: &str) -> Value {
    let version = |version| {
        let found = resources_of(kinds, name, version);
        let resources: Vec<Value> = found.iter().map(Resource::discovered).collect();
        json!({ "version": version, "resources": resources, "freshness": "Current" })
    };
    let versions: Vec<Value> = ordered_versions(kinds, name)
        .into_iter()
        .map(version)
        .collect();
    let metadata = match name {
        "" => json!({ "creationTimestamp": null }),
        name => json!({ "name": name, "creationTimestamp": null }),
    };
    json!({ "metadata": metadata, "versions": versions })
}
