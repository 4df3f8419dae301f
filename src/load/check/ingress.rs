//! Ingresses.

use super::finding::Finding;
use super::read::{each, empty_list, field, items, text};
use super::rules::{Rule, apply};
use super::syntax::{host, label_1035, port_name, subdomain};
use crate::load::{Document, Node};

const RULES: &[(&str, Rule)] = &[
    ("ingressClassName", Rule::Text(subdomain)),
    ("rules[].host", Rule::Text(host)),
    (
        "rules[].http.paths[].pathType",
        Rule::OneOf(&["Exact", "Prefix", "ImplementationSpecific"]),
    ),
    ("tls[].hosts[]", Rule::Text(host)),
    ("tls[].secretName", Rule::Text(subdomain)),
];

/// Checks an Ingress of `networking.k8s.io/v1`.
pub(super) fn check<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let Some(spec) = field(&document.root, "spec") else {
        return;
    };
    if document.api_version != "networking.k8s.io/v1" {
        return;
    }
    apply(spec, RULES, out);
    let class = "kubernetes.io/ingress.class";
    let annotations = document.root.at(&["metadata", "annotations"]);
    if let Some(annotation) = annotations.and_then(|annotations| field(annotations, class))
        && field(spec, "ingressClassName").is_some()
    {
        out.push(Finding::error(
            annotation,
            "cannot stand beside `spec.ingressClassName`",
        ));
    }
    let default = field(spec, "defaultBackend");
    if items(spec, "rules").is_empty() && default.is_none() {
        out.push(Finding::error(
            spec,
            "must have `rules` or a `defaultBackend`",
        ));
    }
    if let Some(default) = default {
        backend(default, out);
    }
    each(spec, "rules[].http", &mut |http| {
        let none = empty_list(http, "paths");
        out.extend(none.map(|list| Finding::error(list, "must not be empty")));
    });
    each(spec, "rules[].http.paths[]", &mut |path| {
        rule(path, out);
        if let Some(target) = field(path, "backend") {
            backend(target, out);
        }
    });
}

fn rule<'n>(path: &'n Node, out: &mut Vec<Finding<'n>>) {
    let kind = text(path, "pathType");
    if kind.is_none() {
        let hint = "write `pathType: Prefix`, or `Exact`";
        out.push(Finding::lacks(path, "pathType").hint(hint));
        return;
    }
    let given = text(path, "path").unwrap_or_default();
    let at = field(path, "path").unwrap_or(path);
    let exact = matches!(kind, Some("Exact" | "Prefix"));
    if exact && !given.starts_with('/') || !given.is_empty() && !given.starts_with('/') {
        let says = if at.as_str().is_some() {
            "must begin with `/`"
        } else {
            "must have a `path` that begins with `/`"
        };
        out.push(Finding::error(at, says));
    } else if exact {
        let step = ["//", "/./", "/../", "%2f", "%2F"]
            .iter()
            .find(|step| given.contains(**step));
        out.extend(step.map(|step| Finding::error(at, format!("must not have `{step}` in it"))));
        if given.ends_with("/..") || given.ends_with("/.") {
            out.push(Finding::error(at, "must not end with `/.` or `/..`"));
        }
    }
}

fn backend<'n>(backend: &'n Node, out: &mut Vec<Finding<'n>>) {
    match (field(backend, "service"), field(backend, "resource")) {
        (None, None) => out.push(Finding::lacks(backend, "service")),
        (Some(_), Some(resource)) => {
            out.push(Finding::error(resource, "cannot stand beside `service`"))
        }
        (Some(service), None) => {
            let Some(port) = field(service, "port") else {
                out.push(Finding::lacks(service, "port"));
                return;
            };
            apply(service, &[("name", Rule::Text(label_1035))], out);
            match (text(port, "name"), field(port, "number")) {
                (None, None) => out.push(Finding::error(port, "must have a `name` or a `number`")),
                (Some(_), Some(number)) => {
                    out.push(Finding::error(number, "cannot stand beside `name`"))
                }
                _ => {
                    let rules = [("number", Rule::Port), ("name", Rule::Text(port_name))];
                    apply(port, &rules, out);
                }
            }
        }
        (None, Some(_)) => {}
    }
}
