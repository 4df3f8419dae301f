//! One kind as discovery tells of it.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::types::{Kind, Registry};

/// What can be done with the objects of most kinds.
const ALL: &[&str] = &[
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
];

/// What can be done with a part of an object.
const PART: &[&str] = &["get", "patch", "update"];

/// Group, version and kind of what a request is answered with.
type Gvk = (&'static str, &'static str, &'static str);

/// Parts that only some kinds have: the kind's resource, the part, its kind, and what can be done with it.
const PARTS: &[(&str, &str, Gvk, &[&str])] = &[
    (
        "namespaces",
        "finalize",
        ("", "v1", "Namespace"),
        &["update"],
    ),
    ("pods", "binding", ("", "v1", "Binding"), &["create"]),
    (
        "pods",
        "eviction",
        ("policy", "v1", "Eviction"),
        &["create"],
    ),
    (
        "serviceaccounts",
        "token",
        ("authentication.k8s.io", "v1", "TokenRequest"),
        &["create"],
    ),
];

/// A kind with its parts.
pub struct Resource<'a> {
    pub kind: &'a Kind,
    pub verbs: &'static [&'static str],
    pub parts: Vec<Part<'a>>,
}

/// A part of a kind's objects that has a path of its own.
pub struct Part<'a> {
    pub name: &'static str,
    pub gvk: (&'a str, &'a str, &'a str),
    pub verbs: &'static [&'static str],
}

/// The kinds of a version.
pub fn resources_of<'a>(kinds: &'a Registry, group: &str, version: &str) -> Vec<Resource<'a>> {
    kinds
        .all()
        .filter(|kind| kind.group == group && kind.version == version)
        .map(resource)
        .collect()
}

fn resource(kind: &Arc<Kind>) -> Resource<'_> {
    let own = (
        kind.group.as_str(),
        kind.version.as_str(),
        kind.kind.as_str(),
    );
    let part = |name, gvk| Part {
        name,
        gvk,
        verbs: PART,
    };
    let mut parts = Vec::new();
    if kind.scale.is_some() {
        parts.push(part("scale", ("autoscaling", "v1", "Scale")));
    }
    if kind.status {
        parts.push(part("status", own));
    }
    let name = kind.resource();
    let special = PARTS.iter().filter(|(resource, ..)| *resource == name);
    parts.extend(special.map(|&(_, name, gvk, verbs)| Part { name, gvk, verbs }));
    parts.sort_by_key(|part| part.name);
    Resource {
        kind,
        verbs: verbs(kind, &name),
        parts,
    }
}

/// Reviews and bindings are questions and orders, which nobody keeps.
fn verbs(kind: &Kind, resource: &str) -> &'static [&'static str] {
    let is_review = matches!(
        kind.group.as_str(),
        "authentication.k8s.io" | "authorization.k8s.io"
    );
    match resource {
        "bindings" => &["create"],
        "namespaces" => &[
            "create", "delete", "get", "list", "patch", "update", "watch",
        ],
        _ if is_review => &["create"],
        _ => ALL,
    }
}

impl Resource<'_> {
    /// As in an `APIResourceList`: the kind itself, then its parts.
    pub fn listed(&self) -> Vec<Value> {
        let Kind {
            kind,
            plural,
            namespaced,
            singular,
            ..
        } = self.kind;
        let mut entry = json!({
            "name": plural, "singularName": singular, "namespaced": namespaced, "kind": kind, "verbs": self.verbs,
        });
        if let Some(entry) = entry.as_object_mut() {
            self.add_names(entry);
        }
        let part = |part: &Part<'_>| {
            let (group, version, kind) = part.gvk;
            let mut entry = json!({
                "name": format!("{plural}/{}", part.name), "singularName": "", "namespaced": namespaced,
                "kind": kind, "verbs": part.verbs,
            });
            let is_own = (group, version) == (&self.kind.group, &self.kind.version);
            if let Some(entry) = entry.as_object_mut().filter(|_| !is_own) {
                entry.insert("group".to_owned(), group.into());
                entry.insert("version".to_owned(), version.into());
            }
            entry
        };
        std::iter::once(entry)
            .chain(self.parts.iter().map(part))
            .collect()
    }

    /// As in an `APIGroupDiscovery`.
    pub fn discovered(&self) -> Value {
        let Kind {
            kind,
            group,
            version,
            plural,
            singular,
            ..
        } = self.kind;
        let scope = match self.kind.namespaced {
            true => "Namespaced",
            false => "Cluster",
        };
        let mut entry = json!({
            "resource": plural, "responseKind": { "group": group, "version": version, "kind": kind },
            "scope": scope, "singularResource": singular, "verbs": self.verbs,
        });
        if let Some(entry) = entry.as_object_mut() {
            self.add_names(entry);
            let parts: Vec<Value> = self.parts.iter().map(Part::discovered).collect();
            if !parts.is_empty() {
                entry.insert("subresources".to_owned(), parts.into());
            }
        }
        entry
    }

    fn add_names(&self, entry: &mut Map<String, Value>) {
        let Kind {
            short_names,
            categories,
            ..
        } = self.kind;
        for (name, list) in [("shortNames", short_names), ("categories", categories)] {
            if !list.is_empty() {
                entry.insert(name.to_owned(), list.as_slice().into());
            }
        }
    }
}

impl Part<'_> {
    fn discovered(&self) -> Value {
        let (group, version, kind) = self.gvk;
        json!({
            "subresource": self.name, "responseKind": { "group": group, "version": version, "kind": kind },
            "verbs": self.verbs,
        })
    }
}
