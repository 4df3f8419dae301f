//! References from one object of a source to another, but for those of pods.

use super::finding::Finding;
use super::index::Index;
use super::named::named;
use super::read::{each, field, integer, items, text};
use crate::api::names;
use crate::load::{Document, Node};

/// Checks the references of an object.
pub(super) fn check<'n>(document: &'n Document, index: &Index<'n>, out: &mut Vec<Finding<'n>>) {
    let root = &document.root;
    let namespace = index.namespace(document);
    let id = &document.id.group_kind;
    match (id.group.as_str(), id.kind.as_str()) {
        (names::GROUP, names::TARGET) => {
            each(root, "spec.deploymentRef.name", &mut |name| {
                named(name, "Deployment", namespace, index, out);
            });
        }
        (names::GROUP, names::CAMPAIGN) => {
            each(root, "spec.targetRef.name", &mut |name| {
                named(name, names::TARGET, namespace, index, out);
            });
        }
        ("autoscaling", "HorizontalPodAutoscaler") => {
            each(root, "spec.scaleTargetRef", &mut |target| {
                let kind = text(target, "kind").unwrap_or_default();
                let scalable = [
                    "Deployment",
                    "StatefulSet",
                    "ReplicaSet",
                    "ReplicationController",
                ];
                if let Some(name) = field(target, "name").filter(|_| scalable.contains(&kind)) {
                    named(name, kind, namespace, index, out);
                }
            })
        }
        ("networking.k8s.io", "Ingress") => {
            for path in [
                "spec.defaultBackend.service",
                "spec.rules[].http.paths[].backend.service",
            ] {
                each(root, path, &mut |service| {
                    backend(service, namespace, index, out)
                });
            }
        }
        ("rbac.authorization.k8s.io", "RoleBinding") => {
            each(root, "roleRef", &mut |role| match text(role, "kind") {
                Some("Role") => role_named(role, "Role", namespace, index, out),
                _ => role_named(role, "ClusterRole", "", index, out),
            })
        }
        ("rbac.authorization.k8s.io", "ClusterRoleBinding") => {
            each(root, "roleRef", &mut |role| {
                role_named(role, "ClusterRole", "", index, out)
            });
        }
        ("apps", "StatefulSet") => each(root, "spec.serviceName", &mut |name| {
            named(name, "Service", namespace, index, out);
        }),
        _ => {}
    }
}

fn role_named<'n>(
    role: &'n Node,
    kind: &str,
    namespace: &str,
    index: &Index<'n>,
    out: &mut Vec<Finding<'n>>,
) {
    // Every cluster has these.
    let own = |name: &str| {
        matches!(name, "admin" | "cluster-admin" | "edit" | "view") || name.starts_with("system:")
    };
    if let Some(name) = field(role, "name").filter(|name| !name.as_str().is_some_and(own)) {
        named(name, kind, namespace, index, out);
    }
}

/// The Service of an Ingress, and its port.
fn backend<'n>(service: &'n Node, namespace: &str, index: &Index<'n>, out: &mut Vec<Finding<'n>>) {
    let Some(document) =
        field(service, "name").and_then(|name| named(name, "Service", namespace, index, out))
    else {
        return;
    };
    let Some(port) = field(service, "port") else {
        return;
    };
    let ports = document
        .root
        .get("spec")
        .map(|spec| items(spec, "ports"))
        .unwrap_or_default();
    let (at, known) = match (text(port, "name"), field(port, "number")) {
        (Some(name), _) => (
            field(port, "name"),
            ports.iter().any(|port| text(port, "name") == Some(name)),
        ),
        (None, number) => {
            let wanted = number.and_then(integer);
            let has = |port: &Node| field(port, "port").and_then(integer) == wanted;
            (number, ports.iter().any(has))
        }
    };
    let Some(at) = at.filter(|_| !known) else {
        return;
    };
    let listed = ports.iter().filter_map(|port| {
        let number = field(port, "port").and_then(integer)?;
        Some(match text(port, "name") {
            Some(name) => format!("{number} (`{name}`)"),
            None => number.to_string(),
        })
    });
    let listed: Vec<String> = listed.take(5).collect();
    let says = format!(
        "is no port of Service `{}` ({})",
        document.id.name, document.origin
    );
    out.push(Finding::warning(at, says).hint(format!("it has {}", listed.join(", "))));
}
