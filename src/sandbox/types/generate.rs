//! The table of the built-in kinds, made of an API server's answers. `types/generate` runs it.

use serde_json::{Value, json};

use super::{capture, table};

/// Versions that are served under what they have become since. Both are, as nobody can tell their objects apart.
const RENAMED: &[(&str, &str)] = &[
    ("autoscaling/v2beta2", "autoscaling/v2"),
    ("batch/v1beta1", "batch/v1"),
    ("discovery.k8s.io/v1beta1", "discovery.k8s.io/v1"),
    ("policy/v1beta1", "policy/v1"),
];

/// Betas that are served as they are, for want of a better version.
const KEPT: &[&str] = &["flowcontrol.apiserver.k8s.io/v1beta1"];

/// Kinds that are not served, and why.
const LEFT_OUT: &[(&str, &str)] = &[
    // Deprecated for years, and about parts of a control plane that the sandbox does not have.
    ("v1", "componentstatuses"),
    // Of another shape than v2, with which it shares objects.
    ("autoscaling/v1", "horizontalpodautoscalers"),
    // Gone since 1.25, and never in v1.
    ("policy/v1", "podsecuritypolicies"),
    ("policy/v1beta1", "podsecuritypolicies"),
];

/// The table, as it is in `built_in.json`.
pub fn table(openapi_v2: &Value, resource_lists: &[Value]) -> Vec<u8> {
    let mut lists: Vec<Value> = resource_lists.iter().flat_map(served).collect();
    lists.push(newer());
    table::to_bytes(&capture::registry(openapi_v2, &lists))
}

/// What has come since: the question who one is (`kubectl auth whoami`).
fn newer() -> Value {
    json!({
        "groupVersion": "authentication.k8s.io/v1",
        "resources": [{ "name": "selfsubjectreviews", "namespaced": false, "kind": "SelfSubjectReview" }],
    })
}

/// The lists that are made of one.
fn served(list: &Value) -> Vec<Value> {
    let version = list["groupVersion"].as_str().unwrap_or_default();
    let renamed = RENAMED.iter().find(|(old, _)| *old == version);
    let kept = renamed.is_some() || KEPT.contains(&version) || !version.contains("beta");
    let versions = renamed
        .map(|(_, new)| *new)
        .into_iter()
        .chain(kept.then_some(version));
    match is_built_in(version) {
        true => versions.map(|version| under(list, version)).collect(),
        false => Vec::new(),
    }
}

/// Groups with other names are those of CustomResourceDefinitions.
fn is_built_in(version: &str) -> bool {
    let group = version.split('/').next().unwrap_or(version);
    !group.contains('.') || group.ends_with(".k8s.io")
}

/// A list under another version, without what is left out.
fn under(list: &Value, version: &str) -> Value {
    let resources = list["resources"].as_array();
    let resources: Vec<&Value> = resources
        .into_iter()
        .flatten()
        .filter(|resource| {
            let name = resource["name"].as_str().unwrap_or_default();
            let plural = name.split('/').next().unwrap_or(name);
            !LEFT_OUT.contains(&(version, plural))
        })
        .collect();
    json!({ "groupVersion": version, "resources": resources })
}
