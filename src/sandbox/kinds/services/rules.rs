//! What is wrong with Services.

use std::collections::BTreeSet;
use std::net::IpAddr;

use serde_json::Value;

use super::endpoints::check_address;
use super::{has_address, has_health_port};
use crate::kinds::causes::{Causes, quoted, texts_shown};
use crate::kinds::labels;
use crate::kinds::pod::check_port;
use crate::kinds::spot::Spot;
use crate::words;

const TYPES: [&str; 4] = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];

/// Seconds of a day, the most for which a client stays with a pod.
const DAY: i64 = 86400;

/// What is wrong with a Service.
pub(in super::super) fn check(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    let kind = spec.field("type");
    let headless = spec.field("clusterIP").text() == "None";
    let ports = spec.field("ports");
    if ports.len() == 0 && !headless && kind.text() != "ExternalName" {
        causes.required(&ports, "");
    }
    if matches!(kind.text(), "LoadBalancer" | "NodePort") && headless {
        let addresses = spec.field("clusterIPs");
        let why = format!("may not be set to 'None' for {} services", kind.text());
        for address in addresses.items().take(1) {
            causes.invalid(&address, &why);
        }
    }
    if kind.text() == "ExternalName" {
        check_external(causes, &spec);
    }
    check_ports(causes, &spec);
    labels::check(causes, &spec.field("selector"));
    check_affinity(causes, &spec);
    check_addresses(causes, &spec);
    let external = spec.field("externalIPs");
    for address in external.items() {
        check_address(causes, &address);
    }
    causes.one_of(&kind, &TYPES);
    check_ranges(causes, object, &spec);
    check_traffic(causes, &spec);
}

fn check_external(causes: &mut Causes, spec: &Spot<'_>) {
    let addresses = spec.field("clusterIPs");
    if !spec.field("clusterIP").text().is_empty() || addresses.len() > 0 {
        causes.forbidden(&addresses, "may not be set for ExternalName services");
    }
    let name = spec.field("externalName");
    if name.text().is_empty() {
        causes.required(&name, "");
    } else {
        let host = name.text().strip_suffix('.').unwrap_or(name.text());
        causes.text_invalid(&name, host, &words::subdomain(host));
    }
}

fn check_ports(causes: &mut Causes, spec: &Spot<'_>) {
    let ports = spec.field("ports");
    let kind = spec.field("type");
    let mut names = BTreeSet::new();
    let mut numbers = BTreeSet::new();
    let mut open = BTreeSet::new();
    for port in ports.items() {
        let (name, protocol) = (port.field("name"), port.field("protocol"));
        if name.text().is_empty() {
            if ports.len() > 1 {
                causes.required(&name, "");
            }
        } else {
            causes.all_invalid(&name, &words::label(name.text()));
            if !names.insert(name.text().to_owned()) {
                causes.duplicate(&name);
            }
        }
        let number = port.field("port");
        let value = number.int().unwrap_or(0);
        for why in words::port(value) {
            causes.invalid_as(&number, &value.to_string(), &why);
        }
        if protocol.text().is_empty() {
            causes.required(&protocol, "");
        } else {
            causes.one_of(&protocol, &["SCTP", "TCP", "UDP"]);
        }
        check_port(causes, &port.field("targetPort"));
        let application = port.field("appProtocol");
        if !application.text().is_empty() {
            causes.all_invalid(&application, &words::qualified(application.text()));
        }
        if !numbers.insert((protocol.text().to_owned(), value)) {
            causes.duplicate(&port);
        }
        let node = port.field("nodePort");
        let Some(number) = node.int().filter(|number| *number != 0) else {
            continue;
        };
        if kind.text() == "ClusterIP" {
            causes.forbidden(&node, "may not be used when `type` is 'ClusterIP'");
        }
        if !open.insert((protocol.text().to_owned(), number)) {
            causes.duplicate(&node);
        }
    }
}

fn check_affinity(causes: &mut Causes, spec: &Spot<'_>) {
    let affinity = spec.field("sessionAffinity");
    causes.one_of(&affinity, &["ClientIP", "None"]);
    let config = spec.field("sessionAffinityConfig");
    let client = config.field("clientIP");
    let seconds = client.field("timeoutSeconds");
    if affinity.text() == "ClientIP" && !(1..=DAY).contains(&seconds.int().unwrap_or(0)) {
        causes.invalid(&seconds, "must be greater than 0 and less than 86400");
    }
}

fn check_addresses(causes: &mut Causes, spec: &Spot<'_>) {
    let (first, all) = (spec.field("clusterIP"), spec.field("clusterIPs"));
    if !has_address(spec.value) {
        return;
    }
    let texts = all.texts();
    let shown = texts_shown(&texts);
    if first.text().is_empty() {
        if !texts.is_empty() {
            causes.invalid_as(&all, &shown, "must be empty when clusterIP is empty");
        }
    } else if texts.is_empty() {
        causes.required(&all, "");
    } else if texts.first() != Some(&first.text()) {
        causes.invalid_as(&all, &shown, "element [0] must match clusterIP");
    }
    for address in all.items() {
        if address.text() == "None" {
            if texts.len() > 1 {
                causes.invalid_as(&all, &shown, "'None' must be the first and only value");
                return;
            }
        } else if address.text().parse::<IpAddr>().is_err() {
            causes.invalid(
                &address,
                "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
            );
        }
    }
}

fn check_ranges(causes: &mut Causes, object: &Spot<'_>, spec: &Spot<'_>) {
    const ANNOTATION: &str = "service.beta.kubernetes.io/load-balancer-source-ranges";
    const WHY: &str = "must be a list of IP ranges. For example, 10.240.0.0/24,10.250.0.0/24 ";
    let balanced = spec.field("type").text() == "LoadBalancer";
    let ranges = spec.field("loadBalancerSourceRanges");
    let metadata = object.field("metadata");
    let annotations = metadata.field("annotations");
    let annotation = annotations.key(ANNOTATION);
    let is_range = |range: &str| words::is_network(range.trim());
    if ranges.len() > 0 {
        let said = spec.named("LoadBalancerSourceRanges", ranges.value);
        let texts: Vec<&str> = ranges.items().map(|range| range.text()).collect();
        if !balanced {
            causes.forbidden(&said, "may only be used when `type` is 'LoadBalancer'");
        } else if !texts.iter().all(|range| is_range(range)) {
            causes.invalid_as(&said, &quoted(format!("[{}]", texts.join(" "))), WHY);
        }
    } else if annotation.present() {
        if !balanced {
            causes.forbidden(
                &annotation,
                "may only be used when `type` is 'LoadBalancer'",
            );
        } else if !annotation.text().trim().is_empty()
            && !annotation.text().split(',').all(is_range)
        {
            causes.invalid(&annotation, WHY);
        }
    }
}

fn check_traffic(causes: &mut Causes, spec: &Spot<'_>) {
    let kind = spec.field("type");
    let policy = spec.field("externalTrafficPolicy");
    if !policy.text().is_empty() {
        if !matches!(kind.text(), "LoadBalancer" | "NodePort") {
            causes.invalid(
                &policy,
                "ExternalTrafficPolicy can only be set on NodePort and LoadBalancer service",
            );
        } else if !matches!(policy.text(), "Cluster" | "Local") {
            causes.invalid(
                &policy,
                "ExternalTrafficPolicy must be empty, Cluster or Local",
            );
        }
    }
    let port = spec.field("healthCheckNodePort");
    let number = port.int().unwrap_or(0);
    if number < 0 {
        causes.invalid(&port, "must be greater than or equal to 0");
    } else if number > 0 && !has_health_port(spec.value) {
        causes.invalid(
            &port,
            "HealthCheckNodePort can only be set on LoadBalancer service with ExternalTrafficPolicy=Local",
        );
    }
}

/// What may not change of a Service.
pub(in super::super) fn check_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let spec = new.field("spec");
    let nothing = Value::Null;
    let old = Spot::root(old.get("spec").unwrap_or(&nothing));
    if has_address(spec.value) && has_address(old.value) {
        let (before, now) = (old.field("clusterIP"), spec.field("clusterIP"));
        let all = spec.field("clusterIPs");
        let texts = all.texts();
        let first = texts.first().copied().unwrap_or_default();
        let primary = all.index(0);
        if !before.text().is_empty() && first.is_empty() && now.text().is_empty() {
            causes.invalid_as(
                &primary,
                "[]string(nil)",
                "primary clusterIP can not be unset",
            );
        } else if !before.text().is_empty() && first != before.text() {
            causes.invalid_as(&primary, &texts_shown(&texts), "may not change once set");
        }
    }
    if has_health_port(spec.value) && has_health_port(old.value) {
        let port = spec.field("healthCheckNodePort");
        if port.int() != old.field("healthCheckNodePort").int() {
            causes.invalid_as(
                &port,
                &port.int().unwrap_or(0).to_string(),
                "cannot change healthCheckNodePort on loadBalancer service with externalTraffic=Local during update",
            );
        }
    }
}
