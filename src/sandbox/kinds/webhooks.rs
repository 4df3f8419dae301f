//! Configurations of admission webhooks, and APIServices.

use std::collections::BTreeSet;

use serde_json::Value;

use super::causes::{Causes, quoted};
use super::defaults::{
    Default::{Empty, Int, Text},
    Table, add,
};
use super::labels;
use super::spot::Spot;
use crate::words;

/// What webhooks get.
pub(super) const DEFAULTS: &Table = &[
    ("webhooks[].failurePolicy", Text("Fail")),
    ("webhooks[].matchPolicy", Text("Equivalent")),
    ("webhooks[].namespaceSelector", Empty),
    ("webhooks[].objectSelector", Empty),
    ("webhooks[].timeoutSeconds", Int(10)),
    ("webhooks[].rules[].scope", Text("*")),
    ("webhooks[].clientConfig.service.port", Int(443)),
];

/// What an APIService gets.
pub(super) const SERVICE: &Table = &[("spec.service.port", Int(443))];

const OPERATIONS: [&str; 5] = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];

/// Adds defaults to webhooks that change objects.
pub(super) fn default_mutating(object: &mut Value) {
    add(object, DEFAULTS);
    add(object, &[("webhooks[].reinvocationPolicy", Text("Never"))]);
}

/// What is wrong with a configuration.
pub(super) fn check(causes: &mut Causes, object: &Spot<'_>) {
    let hooks = object.field("webhooks");
    let mut names = BTreeSet::new();
    for hook in hooks.items() {
        check_hook(causes, &hook);
        let name = hook.field("name");
        if !name.text().is_empty() && !names.insert(name.text().to_owned()) {
            causes.duplicate(&name);
        }
    }
}

fn check_hook(causes: &mut Causes, hook: &Spot<'_>) {
    check_name(causes, &hook.field("name"));
    check_versions(causes, &hook.field("admissionReviewVersions"));
    let rules = hook.field("rules");
    for rule in rules.items() {
        check_rule(causes, &rule);
    }
    causes.one_of(&hook.field("failurePolicy"), &["Fail", "Ignore"]);
    causes.one_of(&hook.field("matchPolicy"), &["Equivalent", "Exact"]);
    let effects = hook.field("sideEffects");
    if effects.text().is_empty() {
        causes.required(&effects, "must specify one of None, NoneOnDryRun");
    } else {
        causes.one_of(&effects, &["None", "NoneOnDryRun"]);
    }
    let seconds = hook.field("timeoutSeconds");
    if seconds
        .int()
        .is_some_and(|seconds| !(1..=30).contains(&seconds))
    {
        causes.invalid(
            &seconds,
            "the timeout value must be between 1 and 30 seconds",
        );
    }
    let again = hook.field("reinvocationPolicy");
    if again.present() {
        causes.one_of(&again, &["IfNeeded", "Never"]);
    }
    labels::check_selector(causes, &hook.field("namespaceSelector"));
    labels::check_selector(causes, &hook.field("objectSelector"));
    check_client(causes, &hook.field("clientConfig"));
}

fn check_name(causes: &mut Causes, name: &Spot<'_>) {
    if name.text().is_empty() {
        causes.required(name, "");
        return;
    }
    let wrong = words::subdomain(name.text());
    causes.all_invalid(name, &wrong);
    if wrong.is_empty() && name.text().split('.').count() < 3 {
        causes.invalid(
            name,
            "should be a domain with at least three segments separated by dots",
        );
    }
}

fn check_versions(causes: &mut Causes, versions: &Spot<'_>) {
    if versions.len() == 0 {
        causes.required(versions, "must specify one of v1, v1beta1");
        return;
    }
    let mut said = BTreeSet::new();
    for version in versions.items() {
        if !said.insert(version.text().to_owned()) {
            causes.invalid(&version, "duplicate version");
            continue;
        }
        causes.all_invalid(&version, &words::label_1035(version.text()));
    }
    if !said.contains("v1") && !said.contains("v1beta1") {
        causes.invalid(versions, "must include at least one of v1, v1beta1");
    }
}

fn check_rule(causes: &mut Causes, rule: &Spot<'_>) {
    for (field, what) in [
        ("operations", "operations"),
        ("apiGroups", "API groups"),
        ("apiVersions", "API versions"),
    ] {
        let list = rule.field(field);
        if list.len() == 0 {
            causes.required(&list, "");
        }
        if list.len() > 1 && list.items().any(|item| item.text() == "*") {
            causes.invalid(
                &list,
                &format!("if '*' is present, must not specify other {what}"),
            );
        }
        for item in list.items() {
            if field == "operations" {
                causes.one_of(&item, &OPERATIONS);
            } else if field == "apiVersions" && item.text().is_empty() {
                causes.required(&item, "");
            }
        }
    }
    check_resources(causes, &rule.field("resources"));
    let scope = rule.field("scope");
    if scope.present() {
        causes.one_of(&scope, &["*", "Cluster", "Namespaced"]);
    }
}

fn check_resources(causes: &mut Causes, resources: &Spot<'_>) {
    if resources.len() == 0 {
        causes.required(resources, "");
    }
    let has = |wanted: &str| resources.items().any(|resource| resource.text() == wanted);
    if resources.len() > 1 && has("*/*") {
        causes.invalid(
            resources,
            "if '*/*' is present, must not specify other resources",
        );
        return;
    }
    for resource in resources.items() {
        let text = resource.text();
        let Some((kind, part)) = text.split_once('/') else {
            if text.is_empty() {
                causes.required(&resource, "");
            } else if text != "*" && has("*") {
                causes.invalid(
                    &resource,
                    &format!("if '*' is present, must not specify {text}"),
                );
            }
            continue;
        };
        for whole in [format!("*/{part}"), format!("{kind}/*")] {
            if whole != text && has(&whole) {
                causes.invalid(
                    &resource,
                    &format!("if '{whole}' is present, must not specify {text}"),
                );
            }
        }
    }
}

fn check_client(causes: &mut Causes, client: &Spot<'_>) {
    let (url, service) = (client.field("url"), client.field("service"));
    if url.present() == service.present() {
        causes.required(client, "exactly one of url or service is required");
    } else if url.present() {
        check_url(causes, &url);
    } else {
        check_service(causes, &service);
    }
}

fn check_url(causes: &mut Causes, url: &Spot<'_>) {
    const FORM: &str = "; desired format: https://host[/path]";
    let (scheme, rest) = url.text().split_once("://").unwrap_or(("", url.text()));
    if scheme != "https" {
        let why = format!("'https' is the only allowed URL scheme{FORM}");
        causes.invalid_as(url, &quoted(scheme), &why);
    }
    let (rest, fragment) = rest.split_once('#').unwrap_or((rest, ""));
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let host = rest.split('/').next().unwrap_or_default();
    let (user, host) = host.rsplit_once('@').unwrap_or(("", host));
    if host.is_empty() {
        causes.invalid_as(url, "\"\"", &format!("host must be specified{FORM}"));
    }
    if !user.is_empty() {
        causes.invalid_as(
            url,
            &quoted(user),
            "user information is not permitted in the URL",
        );
    }
    if !fragment.is_empty() {
        causes.invalid_as(
            url,
            &quoted(fragment),
            "fragments are not permitted in the URL",
        );
    }
    if !query.is_empty() {
        causes.invalid_as(
            url,
            &quoted(query),
            "query parameters are not permitted in the URL",
        );
    }
}

fn check_service(causes: &mut Causes, service: &Spot<'_>) {
    for (field, why) in [
        ("name", "service name is required"),
        ("namespace", "service namespace is required"),
    ] {
        let field = service.field(field);
        if field.text().is_empty() {
            causes.required(&field, why);
        }
    }
    let port = service.field("port");
    if let Some(number) = port.int() {
        for why in words::port(number) {
            causes.invalid(&port, &format!("port is not valid: {why}"));
        }
    }
    let path = service.field("path");
    if path.absent() || path.text() == "/" {
        return;
    }
    let text = path.text();
    if !text.starts_with('/') {
        causes.invalid(&path, "must start with a '/'");
    }
    let inner = text.get(1..).unwrap_or_default();
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    for (index, segment) in inner.split('/').enumerate() {
        if segment.is_empty() {
            causes.invalid(&path, &format!("segment[{index}] may not be empty"));
        } else {
            for why in words::subdomain(segment) {
                causes.invalid(&path, &format!("segment[{index}]: {why}"));
            }
        }
    }
}

/// What is wrong with an APIService.
pub(super) fn check_api_service(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let (group, version) = (spec.field("group"), spec.field("version"));
    let metadata = object.field("metadata");
    let name = metadata.field("name");
    let wanted = format!("{}.{}", version.text(), group.text());
    if name.text() != wanted {
        causes.invalid(
            &name,
            &format!("must be `spec.version+\".\"+spec.group`: {wanted:?}"),
        );
    }
    causes.text_invalid(&version, version.text(), &words::label_1035(version.text()));
    if version.text() != "v1" || !group.text().is_empty() {
        causes.text_invalid(&group, group.text(), &words::subdomain(group.text()));
    }
    for (field, most) in [("groupPriorityMinimum", 20000), ("versionPriority", 1000)] {
        let field = spec.field(field);
        let number = field.int().unwrap_or(0);
        if number <= 0 || number > most {
            let why = format!("must be positive and less than {most}");
            causes.invalid_as(&field, &number.to_string(), &why);
        }
    }
    check_backing(causes, &spec);
}

fn check_backing(causes: &mut Causes, spec: &Spot<'_>) {
    let (service, bundle) = (spec.field("service"), spec.field("caBundle"));
    let open = spec.field("insecureSkipTLSVerify");
    if service.absent() {
        if !bundle.text().is_empty() {
            let bytes = bundle.text().trim_end_matches('=').len() * 3 / 4;
            let shown = quoted(format!("{bytes} bytes"));
            causes.invalid_as(&bundle, &shown, "local APIServices may not have a caBundle");
        }
        if open.is_true() {
            causes.invalid(
                &open,
                "local APIServices may not have insecureSkipTLSVerify",
            );
        }
        return;
    }
    for part in ["name", "namespace"] {
        let part = service.field(part);
        if part.text().is_empty() {
            causes.required(&part, "");
        }
    }
    let port = service.field("port");
    if let Some(number) = port.int() {
        for why in words::port(number) {
            causes.invalid(&port, &format!("port is not valid: {why}"));
        }
    }
    if open.is_true() && !bundle.text().is_empty() {
        causes.invalid(&open, "may not be true if caBundle is present");
    }
}
