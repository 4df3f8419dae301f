//! Containers of pods.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::read::{entries, field, integer, is_true, items, text};
use super::rules::{Rule, apply};
use super::syntax::{
    config_key, is_old_variable, label, pod_field, port_name, resource_field, subdomain, variable,
};
use super::{probes, resources, volumes};
use crate::load::{Node, NodeKind};

/// Which of a pod's lists a container is in.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Main,
    Init,
}

const RULES: &[(&str, Rule)] = &[
    ("name", Rule::Filled),
    ("name", Rule::Text(label)),
    (
        "imagePullPolicy",
        Rule::OneOf(&["Always", "IfNotPresent", "Never"]),
    ),
    (
        "terminationMessagePolicy",
        Rule::OneOf(&["File", "FallbackToLogsOnError"]),
    ),
    ("ports[].containerPort", Rule::Port),
    ("ports[].hostPort", Rule::Between(0, 65535)),
    ("ports[].name", Rule::Text(port_name)),
    ("ports[].protocol", Rule::OneOf(&["TCP", "UDP", "SCTP"])),
    ("env[].name", Rule::Filled),
    ("env[].name", Rule::Text(variable)),
    (
        "env[].valueFrom.configMapKeyRef.name",
        Rule::Text(subdomain),
    ),
    ("env[].valueFrom.configMapKeyRef.key", Rule::Filled),
    (
        "env[].valueFrom.configMapKeyRef.key",
        Rule::Text(config_key),
    ),
    ("env[].valueFrom.secretKeyRef.name", Rule::Text(subdomain)),
    ("env[].valueFrom.secretKeyRef.key", Rule::Filled),
    ("env[].valueFrom.secretKeyRef.key", Rule::Text(config_key)),
    ("env[].valueFrom.fieldRef.fieldPath", Rule::Text(pod_field)),
    (
        "env[].valueFrom.resourceFieldRef.resource",
        Rule::Text(resource_field),
    ),
    ("envFrom[].configMapRef.name", Rule::Text(subdomain)),
    ("envFrom[].secretRef.name", Rule::Text(subdomain)),
    ("securityContext.runAsUser", Rule::Natural),
    ("securityContext.runAsGroup", Rule::Natural),
    (
        "securityContext.procMount",
        Rule::OneOf(&["Default", "Unmasked"]),
    ),
    (
        "securityContext.seccompProfile.type",
        Rule::OneOf(&["RuntimeDefault", "Unconfined", "Localhost"]),
    ),
];

/// Checks a container. `volumes` are the names of the pod's.
pub(super) fn check<'n>(
    container: &'n Node,
    kind: Kind,
    volumes: &BTreeSet<&'n str>,
    out: &mut Vec<Finding<'n>>,
) {
    apply(container, RULES, out);
    match field(container, "image").map(|image| (image, image.as_str())) {
        None => out.push(Finding::lacks(container, "image")),
        Some((image, Some(""))) => out.push(Finding::error(image, "must not be empty")),
        _ => {}
    }
    ports(container, out);
    environment(container, out);
    volumes::mounts(container, volumes, out);
    resources::check(container, out);
    probes::check(container, kind, out);
    let Some(context) = field(container, "securityContext") else {
        return;
    };
    let escalation = context.get("allowPrivilegeEscalation");
    if let Some(escalation) = escalation.filter(|node| node.kind == NodeKind::Bool(false))
        && is_true(context, "privileged")
    {
        out.push(Finding::error(
            escalation,
            "cannot be `false` for a privileged container",
        ));
    }
}

fn ports<'n>(container: &'n Node, out: &mut Vec<Finding<'n>>) {
    let mut names = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    for port in items(container, "ports") {
        if let Some(name) = port.get("name")
            && name
                .as_str()
                .is_some_and(|text| !text.is_empty() && !names.insert(text))
        {
            out.push(Finding::error(
                name,
                "is the name of another port of the container",
            ));
        }
        let protocol = text(port, "protocol").unwrap_or("TCP");
        if let Some(number) = port.get("containerPort")
            && integer(number).is_some_and(|n| !numbers.insert((n, protocol)))
        {
            out.push(Finding::error(number, twice("port")));
        }
    }
}

/// Server-side apply, by which everything is sent, tells the items of such lists apart by these fields.
fn twice(what: &str) -> String {
    format!("is there twice: server-side apply refuses a {what} that is listed again")
}

const OLD_VARIABLE: &str =
    "must be letters, digits, `-`, `_` and `.`, and not begin with a digit, before Kubernetes 1.32";

fn environment<'n>(container: &'n Node, out: &mut Vec<Finding<'n>>) {
    let mut names = BTreeSet::new();
    for variable in items(container, "env") {
        let Some(name) = variable.get("name") else {
            continue;
        };
        let text = name.as_str().unwrap_or_default();
        if !text.is_empty() && !names.insert(text) {
            out.push(
                Finding::error(name, twice("variable"))
                    .hint("the last one would win; remove the others"),
            );
        }
        if super::syntax::variable(text).is_none() && !is_old_variable(text) {
            out.push(Finding::warning(name, OLD_VARIABLE));
        }
        value_from(variable, out);
    }
    for from in items(container, "envFrom") {
        let prefix = from
            .get("prefix")
            .filter(|p| !p.as_str().is_none_or(is_old_variable));
        out.extend(prefix.map(|prefix| Finding::warning(prefix, OLD_VARIABLE)));
    }
    for from in items(container, "envFrom") {
        let sources = ["configMapRef", "secretRef"].map(|kind| field(from, kind));
        match sources {
            [None, None] => out.push(Finding::error(
                from,
                "must have a `configMapRef` or a `secretRef`",
            )),
            [Some(_), Some(secret)] => {
                out.push(Finding::error(secret, "cannot stand beside `configMapRef`"))
            }
            [Some(one), None] | [None, Some(one)] => {
                if one.get("name").is_none_or(|name| name.as_str() == Some("")) {
                    out.push(Finding::lacks(one, "name"));
                }
            }
        }
    }
}

fn value_from<'n>(variable: &'n Node, out: &mut Vec<Finding<'n>>) {
    let Some(from) = field(variable, "valueFrom") else {
        return;
    };
    let sources: Vec<_> = entries(Some(from))
        .iter()
        .filter(|entry| entry.value.kind != NodeKind::Null)
        .collect();
    if text(variable, "value").is_some() {
        out.push(Finding::error(from, "cannot stand beside `value`"));
    }
    match sources.as_slice() {
        [] => out.push(Finding::error(
            from,
            "must say where the value is from, such as `secretKeyRef`",
        )),
        [first, second, ..] => {
            let says = format!(
                "cannot stand beside `{}`: a value is from one place",
                first.key
            );
            out.push(Finding::error(&second.value, says));
        }
        [_] => {}
    }
    for kind in ["configMapKeyRef", "secretKeyRef"] {
        if let Some(source) = field(from, kind)
            && source
                .get("name")
                .is_none_or(|name| name.as_str() == Some(""))
        {
            out.push(Finding::lacks(source, "name"));
        }
    }
}
