//! What is served, as discovery tells it: plainly, a document for each group and version, or all at once.

mod aggregated;
mod resource;

use std::collections::BTreeSet;

use serde_json::{Value, json};

pub use self::aggregated::aggregated;
use self::resource::{Resource, resources_of};
use super::Registry;

/// The `APIVersions` at `/api`.
pub fn versions() -> Value {
    json!({ "kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [] })
}

/// The `APIGroupList` at `/apis`.
pub fn groups(kinds: &Registry) -> Value {
    let groups: Vec<Value> = names(kinds)
        .into_iter()
        .filter(|name| !name.is_empty())
        .map(|name| api_group(kinds, name))
        .collect();
    json!({ "kind": "APIGroupList", "apiVersion": "v1", "groups": groups })
}

/// The `APIGroup` at `/apis/{group}`; `None` when there is none.
pub fn group(kinds: &Registry, group: &str) -> Option<Value> {
    if group.is_empty() || !names(kinds).contains(group) {
        return None;
    }
    let mut document = api_group(kinds, group);
    let fields = document.as_object_mut()?;
    fields.insert("kind".to_owned(), "APIGroup".into());
    fields.insert("apiVersion".to_owned(), "v1".into());
    Some(document)
}

/// The `APIResourceList` at `/apis/{group}/{version}`, or at `/api/v1` for the empty group; `None` when there is none.
pub fn resources(kinds: &Registry, group: &str, version: &str) -> Option<Value> {
    let found = resources_of(kinds, group, version);
    if found.is_empty() {
        return None;
    }
    let listed: Vec<Value> = found.iter().flat_map(Resource::listed).collect();
    Some(json!({
        "kind": "APIResourceList", "apiVersion": "v1", "groupVersion": group_version(group, version), "resources": listed,
    }))
}

fn api_group(kinds: &Registry, group: &str) -> Value {
    let versions: Vec<Value> = ordered_versions(kinds, group)
        .into_iter()
        .map(|version| json!({ "groupVersion": group_version(group, version), "version": version }))
        .collect();
    let preferred = versions.first().cloned();
    json!({ "name": group, "versions": versions, "preferredVersion": preferred })
}

fn names(kinds: &Registry) -> BTreeSet<&str> {
    kinds.all().map(|kind| kind.group.as_str()).collect()
}

fn group_version(group: &str, version: &str) -> String {
    match group {
        "" => version.to_owned(),
        group => format!("{group}/{version}"),
    }
}

/// The versions of a group, the one that clients should use first: stable ones before betas before alphas, and newer before
/// older ones.
fn ordered_versions<'a>(kinds: &'a Registry, group: &str) -> Vec<&'a str> {
    let of_group = kinds.in_group(group);
    let versions: BTreeSet<&str> = of_group.map(|kind| kind.version.as_str()).collect();
    let mut versions: Vec<&str> = versions.into_iter().collect();
    versions.sort_by_key(|version| std::cmp::Reverse(priority(version)));
    versions
}

/// `(stability, major, minor)`; other names than Kubernetes' come last, by their names.
fn priority(version: &str) -> (u8, u32, u32) {
    let parsed = || {
        let rest = version.strip_prefix('v')?;
        let end = rest
            .find(|it: char| !it.is_ascii_digit())
            .unwrap_or(rest.len());
        let (major, rest) = rest.split_at_checked(end)?;
        let major = major.parse().ok()?;
        if rest.is_empty() {
            return Some((3, major, 0));
        }
        let (stability, minor) = match rest.strip_prefix("beta") {
            Some(minor) => (2, minor),
            None => (1, rest.strip_prefix("alpha")?),
        };
        Some((stability, major, minor.parse().ok()?))
    };
    parsed().unwrap_or_default()
}

#[cfg(test)]
mod tests;
