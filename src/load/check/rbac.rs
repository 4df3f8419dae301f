//! Roles and their bindings.

use super::finding::Finding;
use super::read::{empty_list, field, items, text};
use super::rules::{Rule, apply, needed, one_of};
use super::{selector, syntax};
use crate::load::{Document, Node};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Checks a Role or ClusterRole.
pub(super) fn role<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let root = &document.root;
    let namespaced = document.id.group_kind.kind == "Role";
    for rule in items(root, "rules") {
        let none = empty_list(rule, "verbs");
        out.extend(none.map(|list| Finding::error(list, "must have at least one verb")));
        let urls =
            field(rule, "nonResourceURLs").filter(|_| !items(rule, "nonResourceURLs").is_empty());
        if let Some(urls) = urls {
            let others = ["apiGroups", "resources", "resourceNames"];
            if namespaced {
                out.push(
                    Finding::error(urls, "cannot be there in a Role: URLs are in no namespace")
                        .hint("they belong into a ClusterRole"),
                );
            }
            if let Some(other) = others.iter().find(|other| !items(rule, other).is_empty()) {
                let says = format!("cannot stand beside `{other}`");
                out.push(Finding::error(urls, says).hint("make two rules of it"));
            }
            continue;
        }
        let core = "the group of Pods, Services and the like is `\"\"`";
        out.extend(needed(rule, "apiGroups").map(|finding| finding.hint(core)));
        out.extend(needed(rule, "resources"));
    }
    let selectors =
        field(root, "aggregationRule").map(|rule| (rule, items(rule, "clusterRoleSelectors")));
    if let Some((rule, selectors)) = selectors {
        out.extend(needed(rule, "clusterRoleSelectors"));
        for found in selectors {
            selector::syntax(found, out);
        }
    }
}

/// Checks a RoleBinding or ClusterRoleBinding.
pub(super) fn binding<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let namespaced = document.id.group_kind.kind == "RoleBinding";
    if let Some(role) = field(&document.root, "roleRef") {
        let kinds: &[&str] = if namespaced {
            &["Role", "ClusterRole"]
        } else {
            &["ClusterRole"]
        };
        let kind = field(role, "kind")
            .filter(|kind| kind.as_str().is_some_and(|kind| !kinds.contains(&kind)));
        out.extend(kind.map(|kind| Finding::error(kind, one_of(kinds))));
        group(role, GROUP, out);
        let rules = [
            ("name", Rule::Filled),
            ("name", Rule::Text(syntax::path_segment)),
        ];
        apply(role, &rules, out);
    }
    for subject in items(&document.root, "subjects") {
        apply(subject, &[("name", Rule::Filled)], out);
        match text(subject, "kind") {
            Some("ServiceAccount") => {
                group(subject, "", out);
                apply(subject, &[("name", Rule::Text(syntax::subdomain))], out);
                if !namespaced && text(subject, "namespace").is_none() {
                    out.push(Finding::lacks(subject, "namespace"));
                } else if namespaced && text(subject, "namespace").is_none() {
                    let says = "has no `namespace`, so that nobody is bound";
                    let hint = "a ServiceAccount is named with its namespace here";
                    out.push(Finding::warning(subject, says).hint(hint));
                }
            }
            Some("User" | "Group") => group(subject, GROUP, out),
            Some(_) => {
                let kinds = one_of(&["ServiceAccount", "User", "Group"]);
                let at = subject.get("kind").unwrap_or(subject);
                out.push(Finding::error(at, kinds));
            }
            None => {}
        }
    }
}

/// Checks `apiGroup`, which has a default when it is left out.
fn group<'n>(node: &'n Node, wanted: &str, out: &mut Vec<Finding<'n>>) {
    let wrong = field(node, "apiGroup").filter(|group| {
        group
            .as_str()
            .is_some_and(|group| !group.is_empty() && group != wanted)
    });
    let must = match wanted {
        "" => "must be empty for a ServiceAccount".to_owned(),
        wanted => format!("must be `{wanted}`"),
    };
    out.extend(wrong.map(|group| Finding::error(group, must)));
}
