//! Roles and their bindings.

use serde_json::Value;

use super::causes::Causes;
use super::defaults::{Default::Text, add, items, put, text};
use super::labels;
use super::spot::Spot;
use crate::words;

const GROUP: &str = "rbac.authorization.k8s.io";

/// Adds defaults to a binding.
pub(super) fn default_binding(binding: &mut Value) {
    add(binding, &[("roleRef+.apiGroup", Text(GROUP))]);
    for subject in items(binding, "/subjects") {
        if text(subject, "apiGroup").is_empty() && matches!(text(subject, "kind"), "User" | "Group")
        {
            put(subject, "apiGroup", GROUP);
        }
    }
}

/// What is wrong with a role.
pub(super) fn check_role(causes: &mut Causes, role: &Spot<'_>, namespaced: bool) {
    let rules = role.field("rules");
    for rule in rules.items() {
        check_rule(causes, &rule, namespaced);
    }
    let aggregation = role.field("aggregationRule");
    if aggregation.absent() {
        return;
    }
    let selectors = aggregation.field("clusterRoleSelectors");
    if selectors.len() == 0 {
        causes.required(
            &selectors,
            "at least one clusterRoleSelector required if aggregationRule is non-nil",
        );
    }
    for selector in selectors.items() {
        labels::check_selector(causes, &selector);
        if !labels::is_readable(&selector) {
            causes.invalid_as(&selector, "\"null\"", "invalid label selector.");
        }
    }
}

fn check_rule(causes: &mut Causes, rule: &Spot<'_>, namespaced: bool) {
    let verbs = rule.field("verbs");
    if verbs.len() == 0 {
        causes.required(&verbs, "verbs must contain at least one value");
    }
    let (urls, groups) = (rule.field("nonResourceURLs"), rule.field("apiGroups"));
    let (resources, names) = (rule.field("resources"), rule.field("resourceNames"));
    if urls.len() > 0 {
        if namespaced {
            causes.invalid(&urls, "namespaced rules cannot apply to non-resource URLs");
        }
        if groups.len() + resources.len() + names.len() > 0 {
            causes.invalid(
                &urls,
                "rules cannot apply to both regular resources and non-resource URLs",
            );
        }
        return;
    }
    if groups.len() == 0 {
        causes.required(&groups, "resource rules must supply at least one api group");
    }
    if resources.len() == 0 {
        causes.required(
            &resources,
            "resource rules must supply at least one resource",
        );
    }
}

/// What is wrong with a binding.
pub(super) fn check_binding(causes: &mut Causes, binding: &Spot<'_>, namespaced: bool) {
    let role = binding.field("roleRef");
    let group = role.field("apiGroup");
    causes.one_of(&group, &[GROUP]);
    let kinds: &[&str] = if namespaced {
        &["Role", "ClusterRole"]
    } else {
        &["ClusterRole"]
    };
    causes.one_of(&role.field("kind"), kinds);
    let name = role.field("name");
    if name.text().is_empty() {
        causes.required(&name, "");
    } else {
        causes.all_invalid(&name, &words::path_segment(name.text()));
    }
    let subjects = binding.field("subjects");
    for subject in subjects.items() {
        check_subject(causes, &subject, namespaced);
    }
}

fn check_subject(causes: &mut Causes, subject: &Spot<'_>, namespaced: bool) {
    let (kind, name) = (subject.field("kind"), subject.field("name"));
    let group = subject.field("apiGroup");
    if name.text().is_empty() {
        causes.required(&name, "");
    }
    match kind.text() {
        "ServiceAccount" => {
            if !name.text().is_empty() {
                causes.all_invalid(&name, &words::subdomain(name.text()));
            }
            causes.one_of(&group, &[""]);
            let namespace = subject.field("namespace");
            if !namespaced && namespace.text().is_empty() {
                causes.required(&namespace, "");
            }
        }
        "User" | "Group" => causes.one_of(&group, &[GROUP]),
        _ => causes.one_of(&kind, &["ServiceAccount", "User", "Group"]),
    }
}

/// What may not change of a binding.
pub(super) fn check_binding_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let role = new.field("roleRef");
    if role.value != old.get("roleRef").unwrap_or(&Value::Null) {
        causes.invalid(&role, "cannot change roleRef");
    }
}
