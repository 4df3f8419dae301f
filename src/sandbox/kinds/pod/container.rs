//! What is wrong with a pod's containers.

use std::collections::BTreeSet;

use super::{env, probe, resources, security, volume};
use crate::kinds::causes::{Causes, quoted};
use crate::kinds::spot::Spot;
use crate::words;

/// What ports and protocols there are.
pub(super) const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Ports of the node that are taken, as messages show them.
type Open = BTreeSet<String>;

/// What is wrong with all containers of a pod.
pub(super) fn check(causes: &mut Causes, spec: &Spot<'_>, volumes: &BTreeSet<String>) {
    let containers = spec.field("containers");
    if containers.len() == 0 {
        causes.required(&containers, "");
    }
    let mut names = BTreeSet::new();
    let mut open = Open::new();
    for container in containers.items() {
        check_name(causes, &container, &mut names);
        check_one(causes, &container, volumes);
        check_open(causes, &container, &mut open);
    }
    let first = spec.field("initContainers");
    for container in first.items() {
        check_name(causes, &container, &mut names);
        check_one(causes, &container, volumes);
        check_open(causes, &container, &mut Open::new());
        for field in [
            "lifecycle",
            "livenessProbe",
            "readinessProbe",
            "startupProbe",
        ] {
            let field = container.field(field);
            if field.present() {
                causes.invalid(&field, "must not be set for init containers");
            }
        }
    }
    if spec.field("hostNetwork").is_true() {
        for containers in [&containers, &first] {
            for container in containers.items() {
                check_host_network(causes, &container);
            }
        }
    }
}

/// What is wrong with the containers of a pod, though not with those of templates.
pub(super) fn check_images(causes: &mut Causes, spec: &Spot<'_>) {
    for list in ["containers", "initContainers"] {
        let list = spec.field(list);
        for container in list.items() {
            let image = container.field("image");
            if image.text().trim() != image.text() {
                causes.invalid(&image, "must not have leading or trailing whitespace");
            }
        }
    }
}

fn check_name<'a>(causes: &mut Causes, container: &Spot<'a>, names: &mut BTreeSet<&'a str>) {
    let name = container.value.get("name").and_then(|name| name.as_str());
    let name = name.unwrap_or_default();
    let spot = container.field("name");
    if name.is_empty() {
        causes.required(&spot, "");
    } else {
        causes.all_invalid(&spot, &words::label(name));
    }
    if !names.insert(name) {
        causes.duplicate_as(&spot, &quoted(name));
    }
}

fn check_one(causes: &mut Causes, container: &Spot<'_>, volumes: &BTreeSet<String>) {
    let image = container.field("image");
    if image.text().is_empty() {
        causes.required(&image, "");
    }
    probe::check_lifecycle(causes, &container.field("lifecycle"));
    for name in ["livenessProbe", "startupProbe", "readinessProbe"] {
        let spot = container.field(name);
        probe::check(causes, &spot);
        let successes = spot.field("successThreshold");
        if name != "readinessProbe" && successes.int().is_some_and(|n| n != 1) {
            causes.invalid(&successes, "must be 1");
        }
    }
    let policy = container.field("terminationMessagePolicy");
    if !matches!(policy.text(), "File" | "FallbackToLogsOnError") {
        causes.invalid_as(
            &policy,
            &quoted(policy.text()),
            "must be 'File' or 'FallbackToLogsOnError'",
        );
    }
    check_ports(causes, &container.field("ports"));
    env::check(causes, container);
    volume::check_mounts(causes, container, volumes);
    causes.one_of(
        &container.field("imagePullPolicy"),
        &["Always", "IfNotPresent", "Never"],
    );
    resources::check(causes, &container.field("resources"));
    security::check_container(causes, &container.field("securityContext"));
}

fn check_ports(causes: &mut Causes, ports: &Spot<'_>) {
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.field("name");
        if !name.text().is_empty() {
            let wrong = words::port_name(name.text());
            causes.all_invalid(&name, &wrong);
            if wrong.is_empty() && !names.insert(name.text().to_owned()) {
                causes.duplicate(&name);
            }
        }
        let number = port.field("containerPort");
        match number.int().unwrap_or(0) {
            0 => causes.required(&number, ""),
            value => causes.all_invalid(&number, &words::port(value)),
        }
        let host = port.field("hostPort");
        match host.int().unwrap_or(0) {
            0 => {}
            value => causes.all_invalid(&host, &words::port(value)),
        }
        let protocol = port.field("protocol");
        if protocol.text().is_empty() {
            causes.required(&protocol, "");
        } else {
            causes.one_of(&protocol, &PROTOCOLS);
        }
    }
}

fn check_open(causes: &mut Causes, container: &Spot<'_>, open: &mut Open) {
    let ports = container.field("ports");
    for port in ports.items() {
        let host = port.field("hostPort");
        let number = host.int().unwrap_or(0);
        if number == 0 {
            continue;
        }
        let (protocol, address) = (port.field("protocol"), port.field("hostIP"));
        let shown = format!("{}/{}/{number}", protocol.text(), address.text());
        if !open.insert(shown.clone()) {
            causes.duplicate_as(&host, &quoted(shown));
        }
    }
}

fn check_host_network(causes: &mut Causes, container: &Spot<'_>) {
    let ports = container.field("ports");
    for port in ports.items() {
        let (number, host) = (port.field("containerPort"), port.field("hostPort"));
        if number.int() != host.int() {
            causes.invalid(&number, "must match `hostPort` when `hostNetwork` is true");
        }
    }
}
