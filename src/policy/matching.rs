//! Whether a policy or a binding is about an object, as `k8s.io/apiserver/pkg/admission/plugin/policy/matching` decides it.

use super::model::{Match, Rule};
use super::selector::{Labels, NAME_LABEL, Selector};
use super::subject::{Old, Subject, Surroundings, labels_of};
use crate::api::split_api_version;

/// Resources that were served in a second group, with the one that they are in now.
const MOVED: [(&str, &str, &str); 7] = [
    ("extensions", "apps", "deployments"),
    ("extensions", "apps", "daemonsets"),
    ("extensions", "apps", "replicasets"),
    ("extensions", "networking.k8s.io", "ingresses"),
    ("extensions", "networking.k8s.io", "networkpolicies"),
    ("extensions", "policy", "podsecuritypolicies"),
    ("", "events.k8s.io", "events"),
];

/// Tells whether an object is meant.
///
/// # Errors
/// When that depends on a namespace of which nothing is known: what is missing.
pub fn is_meant(
    it: &Match,
    subject: &Subject<'_>,
    around: &Surroundings<'_>,
) -> Result<bool, String> {
    let matches = |rule: &Rule| is_ruled(rule, subject, it.exact);
    if !it.rules.is_empty() && !it.rules.iter().any(matches) || it.excluded.iter().any(matches) {
        return Ok(false);
    }
    let own = it.objects.selects(&labels_of(subject.object));
    let old = match &subject.old {
        Old::Present { labels, .. } => it.objects.selects(labels),
        Old::Absent => false,
    };
    if !own && !old {
        return Ok(false);
    }
    is_in(&it.namespaces, subject, around)
}

/// Tells whether the rules alone leave an object to a policy.
pub fn may_be_meant(it: &Match, subject: &Subject<'_>) -> bool {
    it.rules
        .iter()
        .any(|rule| is_ruled(rule, subject, it.exact))
}

fn is_in(
    selector: &Selector,
    subject: &Subject<'_>,
    around: &Surroundings<'_>,
) -> Result<bool, String> {
    let id = subject.id;
    if selector.is_empty() {
        return Ok(true);
    }
    if id.group_kind.is_namespace() {
        return Ok(selector.selects(&namespace_labels(&id.name, subject.object)));
    }
    // What lives in no namespace is never left out by a selector of namespaces.
    let Some(namespace) = &id.namespace else {
        return Ok(true);
    };
    if let Some(object) = around.namespaces.get(namespace) {
        return Ok(selector.selects(&namespace_labels(namespace, object)));
    }
    if selector.needs_name_only() {
        let labels = Labels::from([(NAME_LABEL.to_owned(), namespace.clone())]);
        return Ok(selector.selects(&labels));
    }
    Err(unknown_namespace(namespace))
}

/// Says that nothing is known of a namespace.
pub fn unknown_namespace(name: &str) -> String {
    format!(
        "nothing is known of namespace {name}: it is not in the source, and not in a cluster that was asked"
    )
}

/// The labels of a namespace, with the one that the API server adds.
pub fn namespace_labels(name: &str, object: &serde_json::Value) -> Labels {
    let mut labels = labels_of(object);
    labels.insert(NAME_LABEL.to_owned(), name.to_owned());
    labels
}

fn is_ruled(rule: &Rule, subject: &Subject<'_>, exact: bool) -> bool {
    let listed = |list: &[String], value: &str| list.iter().any(|it| it == "*" || it == value);
    let (group, version) = split_api_version(subject.api_version);
    let resource = subject.resource.as_str();
    let named = if exact {
        listed(&rule.groups, group)
            && listed(&rule.versions, version)
            && names_resource(rule, resource)
    } else {
        // Every version of it is the same object; the server would convert it to one that the rule names.
        let moved = MOVED.iter().filter(|(_, _, moved)| *moved == resource);
        let others = moved.flat_map(|(old, new, _)| match group {
            it if it == *old => Some(*new),
            it if it == *new => Some(*old),
            _ => None,
        });
        let mut groups = std::iter::once(group).chain(others);
        groups.any(|group| listed(&rule.groups, group)) && names_resource(rule, resource)
    };
    let is_namespace = subject.id.group_kind.is_namespace();
    let scope = match rule.scope.as_deref() {
        Some("Namespaced") => !is_namespace && subject.id.namespace.is_some(),
        Some("Cluster") => is_namespace || subject.id.namespace.is_none(),
        _ => true,
    };
    named
        && scope
        && listed(&rule.operations, subject.operation())
        && (rule.names.is_empty() || rule.names.contains(&subject.id.name))
}

/// Whether a rule names a resource itself, and not only subresources of it.
fn names_resource(rule: &Rule, resource: &str) -> bool {
    rule.resources.iter().any(|it| {
        let (name, sub) = it.split_once('/').unwrap_or((it, ""));
        (name == "*" || name == resource) && (sub.is_empty() || sub == "*")
    })
}
