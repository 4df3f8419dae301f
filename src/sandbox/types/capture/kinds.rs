//! What is served, from lists of resources.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use super::corrections::Definitions;
use super::shape::{Shapes, strings, text};
use crate::merge::Schema;
use crate::types::{Kind, Origin, Registry, Scale, parts};

/// Kinds of Kubernetes whose `metadata.generation` counts changes of their specs.
const WITH_GENERATION: &[&str] = &[
    "CronJob",
    "CustomResourceDefinition",
    "DaemonSet",
    "Deployment",
    "EndpointSlice",
    "FlowSchema",
    "Ingress",
    "IngressClass",
    "Job",
    "MutatingWebhookConfiguration",
    "NetworkPolicy",
    "PodDisruptionBudget",
    "PriorityClass",
    "PriorityLevelConfiguration",
    "ReplicaSet",
    "ReplicationController",
    "StatefulSet",
    "ValidatingWebhookConfiguration",
];

/// The kinds of some lists; all share one schema.
pub fn registry(definitions: &Definitions, lists: &[Value]) -> Registry {
    let names = names(definitions);
    let mut shapes = Shapes::new(definitions);
    let mut found = Vec::new();
    let served = served(lists);
    for (&(group, version, plural), resource) in &served {
        if plural.contains('/') {
            continue;
        }
        let gvk = (group, version, text(resource, "kind"));
        let name = names.get(&gvk).copied();
        let root = shapes.definition(name.unwrap_or("unknown"));
        let has = |part: &str| {
            let part = format!("{plural}/{part}");
            served.contains_key(&(group, version, part.as_str()))
        };
        found.push((kind(resource, gvk, name, has), root));
    }
    for part in parts::DEFINITIONS {
        if definitions.types.contains_key(*part) {
            shapes.definition(part);
        }
    }
    let schema = Arc::new(shapes.finish());
    let mut registry = Registry::default();
    for (mut kind, root) in found {
        (kind.schema, kind.root) = (schema.clone(), root);
        registry.add(kind);
    }
    registry
}

/// Resources by group, version and plural, and their parts, such as `deployments/status`.
fn served(lists: &[Value]) -> BTreeMap<(&str, &str, &str), &Value> {
    let mut found = BTreeMap::new();
    for list in lists {
        let (group, version) = split(text(list, "groupVersion"));
        let resources = list.get("resources").and_then(Value::as_array);
        for resource in resources.into_iter().flatten() {
            found.insert((group, version, text(resource, "name")), resource);
        }
    }
    found
}

type Gvk<'a> = (&'a str, &'a str, &'a str);

/// The definitions' names by the kinds that they define. Those of many kinds (`DeleteOptions`) are of none.
fn names(definitions: &Definitions) -> BTreeMap<Gvk<'_>, &str> {
    let mut names = BTreeMap::new();
    for (name, definition) in &definitions.types {
        let kinds = definition
            .get("x-kubernetes-group-version-kind")
            .and_then(Value::as_array);
        if let Some([kind]) = kinds.map(Vec::as_slice) {
            let gvk = (
                text(kind, "group"),
                text(kind, "version"),
                text(kind, "kind"),
            );
            names.insert(gvk, name.as_str());
        }
    }
    names
}

fn kind(
    resource: &Value,
    (group, version, kind): Gvk<'_>,
    definition: Option<&str>,
    has: impl Fn(&str) -> bool,
) -> Kind {
    let plural = text(resource, "name");
    let built_in = definition.is_some_and(|name| name.starts_with("io.k8s."));
    let singular = match text(resource, "singularName") {
        "" => kind.to_lowercase(),
        singular => singular.to_owned(),
    };
    let owned = |name| strings(resource, name).map(str::to_owned).collect();
    Kind {
        group: group.to_owned(),
        version: version.to_owned(),
        kind: kind.to_owned(),
        list_kind: format!("{kind}List"),
        plural: plural.to_owned(),
        singular,
        short_names: owned("shortNames"),
        categories: owned("categories"),
        namespaced: resource.get("namespaced").and_then(Value::as_bool) == Some(true),
        status: has("status"),
        scale: has("scale").then(|| Scale {
            spec_replicas: ".spec.replicas".to_owned(),
            status_replicas: ".status.replicas".to_owned(),
            label_selector: Some(".spec.selector".to_owned()),
        }),
        generation: !built_in || WITH_GENERATION.contains(&kind),
        origin: match (built_in, group) {
            (true, _) => Origin::BuiltIn,
            (false, group) => Origin::Custom(format!("{plural}.{group}")),
        },
        schema: Arc::new(Schema::default()),
        root: Schema::place(0),
        validation: None,
        columns: Vec::new(),
    }
}

fn split(group_version: &str) -> (&str, &str) {
    group_version
        .rsplit_once('/')
        .unwrap_or(("", group_version))
}
