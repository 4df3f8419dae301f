//! Ingresses and their classes.

use serde_json::Value;

use super::causes::{Causes, quoted};
use super::spot::Spot;
use crate::words;

const CLASS: &str = "kubernetes.io/ingress.class";

/// What no path may have in it, and what it may not end in.
const IN_PATHS: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const AT_THE_END: [&str; 2] = ["/..", "/."];

/// What is wrong with an Ingress.
pub(super) fn check(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let (rules, backend) = (spec.field("rules"), spec.field("defaultBackend"));
    if rules.len() == 0 && backend.absent() {
        causes.invalid_as(
            &spec,
            "[]networking.IngressRule(nil)",
            "either `defaultBackend` or `rules` must be specified",
        );
    }
    if backend.present() {
        check_backend(causes, &backend);
    }
    for rule in rules.items() {
        let host = rule.field("host");
        check_host(causes, &host);
        let http = rule.field("http");
        let paths = http.field("paths");
        if http.present() && paths.len() == 0 {
            causes.required(&paths, "");
        }
        for path in paths.items() {
            check_path(causes, &path);
        }
    }
    check_tls(causes, &spec.field("tls"));
    let class = spec.field("ingressClassName");
    if class.present() {
        causes.all_invalid(&class, &words::subdomain(class.text()));
    }
}

/// What is wrong with a new Ingress besides.
pub(super) fn check_new(causes: &mut Causes, object: &Spot<'_>) {
    let metadata = object.field("metadata");
    let annotations = metadata.field("annotations");
    let class = annotations.key(CLASS);
    let spec = object.field("spec");
    if class.present() && spec.field("ingressClassName").present() {
        let root = Spot::root(object.value);
        let said = root.field("annotations");
        causes.invalid(
            &said.named(CLASS, class.value),
            "can not be set when the class field is also set",
        );
    }
}

fn check_host(causes: &mut Causes, host: &Spot<'_>) {
    let text = host.text();
    if text.is_empty() {
        return;
    }
    if text.parse::<std::net::IpAddr>().is_ok() {
        causes.invalid(host, "must be a DNS name, not an IP address");
    }
    let wrong = if text.contains('*') {
        words::wildcard(text)
    } else {
        words::subdomain(text)
    };
    causes.all_invalid(host, &wrong);
}

fn check_path(causes: &mut Causes, path: &Spot<'_>) {
    let (kind, text) = (path.field("pathType"), path.field("path"));
    if kind.absent() {
        return causes.required(&kind, "pathType must be specified");
    }
    match kind.text() {
        "Exact" | "Prefix" => {
            if !text.text().starts_with('/') {
                causes.invalid_as(&text, &quoted(text.text()), "must be an absolute path");
            }
            for part in IN_PATHS {
                if text.text().contains(part) {
                    causes.invalid(&text, &format!("must not contain '{part}'"));
                }
            }
            for end in AT_THE_END {
                if text.text().ends_with(end) {
                    causes.invalid(&text, &format!("cannot end with '{end}'"));
                }
            }
        }
        "ImplementationSpecific" => {
            if !text.text().is_empty() && !text.text().starts_with('/') {
                causes.invalid(&text, "must be an absolute path");
            }
        }
        _ => causes.one_of(&kind, &["Exact", "ImplementationSpecific", "Prefix"]),
    }
    check_backend(causes, &path.field("backend"));
}

fn check_backend(causes: &mut Causes, backend: &Spot<'_>) {
    let (service, resource) = (backend.field("service"), backend.field("resource"));
    if service.present() && resource.present() {
        causes.invalid_as(
            backend,
            "\"\"",
            "cannot set both resource and service backends",
        );
    } else if resource.present() {
        for part in ["kind", "name"] {
            let part = resource.field(part);
            if part.text().is_empty() {
                causes.required(&part, "");
            }
        }
    } else if service.absent() {
        causes.invalid_as(backend, "\"\"", "resource or service backend is required");
    } else {
        check_service(causes, backend, &service);
    }
}

fn check_service(causes: &mut Causes, backend: &Spot<'_>, service: &Spot<'_>) {
    let name = service.field("name");
    if name.text().is_empty() {
        causes.required(&name, "");
    } else {
        causes.all_invalid(&name, &words::label_1035(name.text()));
    }
    let port = service.field("port");
    let (name, number) = (port.field("name"), port.field("number"));
    let numbered = number.int().unwrap_or(0) != 0;
    if !name.text().is_empty() && numbered {
        causes.invalid_as(backend, "\"\"", "cannot set both port name & port number");
    } else if !name.text().is_empty() {
        causes.all_invalid(&name, &words::port_name(name.text()));
    } else if numbered {
        causes.all_invalid(&number, &words::port(number.int().unwrap_or(0)));
    } else {
        causes.required(backend, "port name or number is required");
    }
}

fn check_tls(causes: &mut Causes, tls: &Spot<'_>) {
    for item in tls.items() {
        let hosts = item.field("hosts");
        for host in hosts.items() {
            let wrong = if host.text().contains('*') {
                words::wildcard(host.text())
            } else {
                words::subdomain(host.text())
            };
            causes.text_invalid(&host, host.text(), &wrong);
        }
        let secret = item.field("secretName");
        if !secret.text().is_empty() {
            causes.all_invalid(&secret, &words::subdomain(secret.text()));
        }
    }
}

/// What is wrong with an IngressClass.
pub(super) fn check_class(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let controller = spec.field("controller");
    if controller.text().is_empty() {
        causes.required(&controller, "");
    } else if controller.text().len() > 250 {
        causes.too_long(&controller, 250);
    } else {
        let (domain, path) = controller.text().split_once('/').unwrap_or_default();
        if path.is_empty() || !words::is_subdomain(domain) {
            causes.invalid(
                &controller,
                "must be a domain-prefixed path (such as \"acme.io/foo\")",
            );
        }
    }
    let parameters = spec.field("parameters");
    if parameters.absent() {
        return;
    }
    let group = parameters.field("apiGroup");
    if !group.text().is_empty() {
        causes.all_invalid(&group, &words::subdomain(group.text()));
    }
    for (field, why) in [("kind", "kind is required"), ("name", "name is required")] {
        let field = parameters.field(field);
        if field.text().is_empty() {
            causes.required(&field, why);
        } else {
            causes.all_invalid(&field, &words::path_segment(field.text()));
        }
    }
}

/// What may not change of an IngressClass.
pub(super) fn check_class_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let spec = new.field("spec");
    let before = old.pointer("/spec/controller").unwrap_or(&Value::Null);
    causes.unchanged(&spec.field("controller"), before);
}
