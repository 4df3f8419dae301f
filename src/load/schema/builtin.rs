//! The kinds that Kubernetes itself serves: a table that `generate.py` writes.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use serde::Deserialize;

use super::shape::{Inner, Shape};
use crate::api::{GroupKind, Scope};

/// A type's fields, each with the code of its type; see `generate.py` for the codes.
pub(super) type Fields = BTreeMap<&'static str, &'static str>;

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'static"))]
struct Table {
    metadata: usize,
    types: Vec<Fields>,
    kinds: BTreeMap<&'static str, Kind>,
}

#[derive(Deserialize)]
struct Kind {
    scope: &'static str,
    #[serde(default)]
    plural: Option<&'static str>,
    versions: BTreeMap<&'static str, usize>,
}

/// The table, parsed when it is first needed (a millisecond or two): most commands never do.
fn table() -> Option<&'static Table> {
    static TABLE: OnceLock<Option<Table>> = OnceLock::new();
    TABLE
        .get_or_init(|| serde_json::from_str(include_str!("builtin.json")).ok())
        .as_ref()
}

fn kind(group: &str, kind: &str) -> Option<&'static Kind> {
    table()?.kinds.get(format!("{group}/{kind}").as_str())
}

/// Whether objects of a built-in kind live in namespaces; nothing for a kind that is not built in.
pub fn builtin_scope(group_kind: &GroupKind) -> Option<Scope> {
    kind(&group_kind.group, &group_kind.kind).map(|kind| match kind.scope {
        "C" => Scope::Cluster,
        _ => Scope::Namespaced,
    })
}

/// The resource that objects of a built-in kind are addressed by, as in `/api/v1/pods`; nothing for a kind that is not
/// built in, and for those that are sent to objects of another, such as Eviction.
pub(super) fn builtin_plural(group_kind: &GroupKind) -> Option<&'static str> {
    kind(&group_kind.group, &group_kind.kind)?.plural
}

/// The fields of a built-in kind in one of its versions.
pub(super) fn fields_of(group: &str, version: &str, kind_name: &str) -> Option<&'static Fields> {
    let index = kind(group, kind_name)?.versions.get(version)?;
    table()?.types.get(*index)
}

/// The kinds of a group; none when the group is not Kubernetes' own.
pub(super) fn kinds_of(group: &str) -> impl Iterator<Item = &'static str> {
    let prefix = format!("{group}/");
    let kinds = table().into_iter().flat_map(|table| table.kinds.keys());
    kinds.filter_map(move |name| name.strip_prefix(prefix.as_str()))
}

/// The versions that a built-in kind is known in.
pub(super) fn versions_of(group: &str, kind_name: &str) -> impl Iterator<Item = &'static str> {
    let known = kind(group, kind_name).into_iter();
    known.flat_map(|kind| kind.versions.keys().copied())
}

/// The fields of `metadata`, the same for every kind.
pub(super) fn metadata() -> Option<&'static Fields> {
    let table = table()?;
    table.types.get(table.metadata)
}

/// Decodes the type of a field.
pub(super) fn field(code: &'static str) -> Shape<'static> {
    shape(code.strip_prefix('!').unwrap_or(code))
}

/// Decodes a type. What is inside of a list or a map is decoded when it is needed, so that nothing is allocated here.
pub(super) fn shape(code: &'static str) -> Shape<'static> {
    match code.split_at_checked(1) {
        Some(("[", items)) => Shape::List(Inner::Code(items)),
        Some(("{", values)) => Shape::Map(Inner::Code(values)),
        _ => match code {
            "s" | "t" => Shape::Text,
            "y" => Shape::Bytes,
            "b" => Shape::Bool,
            "i" => Shape::Int32,
            "l" => Shape::Int64,
            "n" => Shape::Number,
            "q" => Shape::Quantity,
            "I" => Shape::IntOrString,
            _ => {
                let fields = code.parse().ok().and_then(|i: usize| table()?.types.get(i));
                fields.map_or(Shape::Any, Shape::Builtin)
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_whole() {
        let table = table().unwrap();
        assert!(include_str!("builtin.json").len() < 600_000);
        let index_is_known = |code: &str| {
            let code = code.trim_start_matches(['!', '[', '{']);
            code.parse()
                .map_or("stybilnqI*".contains(code), |i: usize| {
                    i < table.types.len()
                })
        };
        for fields in &table.types {
            for (field, code) in fields {
                assert!(index_is_known(code), "{field}: {code}");
            }
        }
        for (name, kind) in &table.kinds {
            for index in kind.versions.values() {
                let fields = &table.types[*index];
                assert_eq!(fields.get("kind"), Some(&"s"), "{name}");
                assert_eq!(
                    fields["metadata"].trim_start_matches('!'),
                    table.metadata.to_string(),
                    "{name}"
                );
            }
        }
        assert!(metadata().unwrap().contains_key("labels"));
    }

    #[test]
    fn removed_and_new_versions_are_known() {
        let known = [
            ("", "v1", "Pod"),
            ("", "v1", "Secret"),
            ("apps", "v1", "Deployment"),
            ("batch", "v1beta1", "CronJob"),
            ("batch", "v1", "CronJob"),
            ("policy", "v1beta1", "PodSecurityPolicy"),
            ("policy", "v1", "PodDisruptionBudget"),
            ("extensions", "v1beta1", "Ingress"),
            ("networking.k8s.io", "v1", "Ingress"),
            ("autoscaling", "v2beta2", "HorizontalPodAutoscaler"),
            ("autoscaling", "v2", "HorizontalPodAutoscaler"),
            ("apiextensions.k8s.io", "v1", "CustomResourceDefinition"),
            (
                "apiextensions.k8s.io",
                "v1beta1",
                "CustomResourceDefinition",
            ),
            ("rbac.authorization.k8s.io", "v1", "ClusterRole"),
            ("apiregistration.k8s.io", "v1", "APIService"),
            ("discovery.k8s.io", "v1", "EndpointSlice"),
            (
                "admissionregistration.k8s.io",
                "v1",
                "ValidatingAdmissionPolicy",
            ),
            ("resource.k8s.io", "v1", "ResourceClaim"),
        ];
        for (group, version, kind) in known {
            assert!(
                fields_of(group, version, kind).is_some(),
                "{group}/{version} {kind}"
            );
        }
        assert!(fields_of("apps", "v9", "Deployment").is_none());
    }

    #[test]
    fn scopes_are_known_without_a_version() {
        let cases = [
            ("", "Namespace", Some(Scope::Cluster)),
            ("", "Service", Some(Scope::Namespaced)),
            ("apps", "Deployment", Some(Scope::Namespaced)),
            (
                "rbac.authorization.k8s.io",
                "ClusterRole",
                Some(Scope::Cluster),
            ),
            ("", "PersistentVolume", Some(Scope::Cluster)),
            (
                "apiextensions.k8s.io",
                "CustomResourceDefinition",
                Some(Scope::Cluster),
            ),
            ("example.org", "Service", None),
        ];
        for (group, kind, expected) in cases {
            assert_eq!(
                builtin_scope(&GroupKind::new(group, kind)),
                expected,
                "{group} {kind}"
            );
        }
    }

    #[test]
    fn plurals_are_those_of_the_url() {
        let cases = [
            ("", "Endpoints", Some("endpoints")),
            (
                "networking.k8s.io",
                "NetworkPolicy",
                Some("networkpolicies"),
            ),
            ("extensions", "Ingress", Some("ingresses")),
            ("policy", "PodSecurityPolicy", Some("podsecuritypolicies")),
            ("policy", "Eviction", None),
            ("example.org", "Endpoints", None),
        ];
        for (group, kind, expected) in cases {
            let plural = builtin_plural(&GroupKind::new(group, kind));
            assert_eq!(plural, expected, "{group} {kind}");
        }
    }
}
