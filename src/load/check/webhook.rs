//! Configurations of admission webhooks.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::read::{empty_list, field, items, text};
use super::rules::{Rule, apply, needed};
use super::selector;
use super::syntax::subdomain;
use crate::load::{Document, Node};

const RULES: &[(&str, Rule)] = &[
    ("failurePolicy", Rule::OneOf(&["Fail", "Ignore"])),
    ("matchPolicy", Rule::OneOf(&["Exact", "Equivalent"])),
    ("sideEffects", Rule::OneOf(&["None", "NoneOnDryRun"])),
    ("reinvocationPolicy", Rule::OneOf(&["Never", "IfNeeded"])),
    ("timeoutSeconds", Rule::Between(1, 30)),
    (
        "rules[].operations[]",
        Rule::OneOf(&["*", "CREATE", "UPDATE", "DELETE", "CONNECT"]),
    ),
    (
        "rules[].scope",
        Rule::OneOf(&["*", "Cluster", "Namespaced"]),
    ),
    ("clientConfig.service.port", Rule::Port),
];

/// Checks a configuration of `admissionregistration.k8s.io/v1`.
pub(super) fn check<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    if document.api_version != "admissionregistration.k8s.io/v1" {
        return;
    }
    let mut names = BTreeSet::new();
    for webhook in items(&document.root, "webhooks") {
        apply(webhook, RULES, out);
        if let Some(name) = field(webhook, "name") {
            let text = name.as_str().unwrap_or_default();
            if subdomain(text).is_some() || text.split('.').count() < 3 {
                let says = "must be a lower-case DNS name of at least three parts";
                out.push(Finding::error(name, says).hint("for instance `pods.shop.example.org`"));
            } else if !names.insert(text) {
                out.push(Finding::error(
                    name,
                    "is the name of another webhook of the configuration",
                ));
            }
        }
        for key in ["namespaceSelector", "objectSelector"] {
            if let Some(found) = field(webhook, key) {
                selector::syntax(found, out);
            }
        }
        if let Some(client) = field(webhook, "clientConfig") {
            client_config(client, out);
        }
        let versions = items(webhook, "admissionReviewVersions");
        let none = empty_list(webhook, "admissionReviewVersions");
        out.extend(none.map(|list| Finding::error(list, "must not be empty")));
        let known = |version: &Node| matches!(version.as_str(), Some("v1" | "v1beta1"));
        if !versions.is_empty() && !versions.iter().any(known) {
            let at = webhook.get("admissionReviewVersions").unwrap_or(webhook);
            out.push(Finding::error(at, "must have `v1` or `v1beta1`"));
        }
        for rule in items(webhook, "rules") {
            let operations = items(rule, "operations");
            let any = |operation: &&Node| operation.as_str() == Some("*");
            let any = operations.iter().find(any).filter(|_| operations.len() > 1);
            out.extend(any.map(|any| Finding::error(any, "cannot stand beside others")));
            let lists = ["operations", "apiGroups", "apiVersions", "resources"];
            out.extend(lists.into_iter().filter_map(|list| needed(rule, list)));
        }
    }
}

fn client_config<'n>(client: &'n Node, out: &mut Vec<Finding<'n>>) {
    match (field(client, "url"), field(client, "service")) {
        (None, None) => out.push(Finding::error(client, "must have a `service` or a `url`")),
        (Some(_), Some(service)) => out.push(Finding::error(service, "cannot stand beside `url`")),
        (Some(url), None) => {
            let https = text(client, "url").is_some_and(|url| url.starts_with("https://"));
            if !https {
                out.push(Finding::error(url, "must begin with `https://`"));
            }
        }
        (None, Some(service)) => {
            let relative = |path: &&Node| {
                let text = path.as_str().unwrap_or_default();
                !text.is_empty() && !text.starts_with('/')
            };
            let path = field(service, "path").filter(relative);
            out.extend(path.map(|path| Finding::error(path, "must begin with `/`")));
        }
    }
}
