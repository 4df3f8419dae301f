//! Probes and life-cycle hooks.

use super::container::Kind;
use super::finding::Finding;
use super::read::{field, integer, items, text};
use super::rules::{Rule, apply, needed};
use super::slip::slip_of;
use super::syntax::header;
use crate::load::Node;

const PROBES: [&str; 3] = ["livenessProbe", "readinessProbe", "startupProbe"];

/// What a probe or hook may do; one of them.
const HANDLERS: [&str; 5] = ["exec", "httpGet", "tcpSocket", "grpc", "sleep"];

const RULES: &[(&str, Rule)] = &[
    ("httpGet.port", Rule::PortOrName),
    ("httpGet.scheme", Rule::OneOf(&["HTTP", "HTTPS"])),
    ("httpGet.httpHeaders[].name", Rule::Text(header)),
    ("tcpSocket.port", Rule::PortOrName),
    ("grpc.port", Rule::Port),
    ("initialDelaySeconds", Rule::Natural),
    ("timeoutSeconds", Rule::Natural),
    ("periodSeconds", Rule::Natural),
    ("successThreshold", Rule::Natural),
    ("failureThreshold", Rule::Natural),
];

/// Checks the probes and hooks of a container.
pub(super) fn check<'n>(container: &'n Node, kind: Kind, out: &mut Vec<Finding<'n>>) {
    let hooks = ["postStart", "preStop"];
    let lifecycle = field(container, "lifecycle");
    // One that always restarts runs beside the others, and may have them.
    if kind == Kind::Init && text(container, "restartPolicy") != Some("Always") {
        let probes = PROBES.iter().filter_map(|probe| field(container, probe));
        for found in probes.chain(lifecycle) {
            out.push(Finding::error(
                found,
                "cannot be there in an init container",
            ));
        }
        return;
    }
    for probe in PROBES.iter().filter_map(|probe| field(container, probe)) {
        handler(probe, container, out);
    }
    for probe in ["livenessProbe", "startupProbe"] {
        let threshold = field(container, probe).and_then(|probe| field(probe, "successThreshold"));
        let wrong = threshold.filter(|node| integer(node).is_some_and(|n| n > 1));
        out.extend(
            wrong.map(|node| Finding::error(node, "must be 1: only readiness may take more")),
        );
    }
    for hook in hooks.iter().filter_map(|hook| field(lifecycle?, hook)) {
        handler(hook, container, out);
    }
}

fn handler<'n>(probe: &'n Node, container: &'n Node, out: &mut Vec<Finding<'n>>) {
    apply(probe, RULES, out);
    let mut handlers = HANDLERS
        .iter()
        .filter_map(|handler| Some((handler, field(probe, handler)?)));
    match (handlers.next(), handlers.next()) {
        (None, _) => {
            let says = "must say what to do: `exec`, `httpGet`, `tcpSocket` or `grpc`";
            out.push(Finding::error(probe, says));
        }
        (Some((first, _)), Some((_, second))) => {
            let says = format!("cannot stand beside `{first}`");
            out.push(Finding::error(second, says));
        }
        _ => {}
    }
    out.extend(field(probe, "exec").and_then(|exec| needed(exec, "command")));
    for handler in ["httpGet", "tcpSocket"] {
        if let Some(port) = field(probe, handler).and_then(|handler| field(handler, "port")) {
            named(port, container, out);
        }
    }
}

/// A port's name must be one of the container's own, or the kubelet cannot probe it.
fn named<'n>(port: &'n Node, container: &'n Node, out: &mut Vec<Finding<'n>>) {
    let Some(name) = port
        .as_str()
        .filter(|name| super::syntax::port_name(name).is_none())
    else {
        return;
    };
    let names = || {
        items(container, "ports")
            .iter()
            .filter_map(|port| text(port, "name"))
    };
    if !names().any(|known| known == name) {
        let near = names().find(|known| slip_of(name, known));
        let hint = near.map(|near| format!("did you mean `{near}`?"));
        out.push(
            Finding::warning(port, "is not the name of a port of the container").perhaps(hint),
        );
    }
}
