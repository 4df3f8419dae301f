//! Services.

use std::collections::BTreeSet;

use super::finding::Finding;
use super::read::{field, integer, items, text};
use super::rules::{Rule, apply, needed};
use super::selector;
use super::syntax::{address, label, network, subdomain};
use crate::load::{Document, Node};

const RULES: &[(&str, Rule)] = &[
    (
        "type",
        Rule::OneOf(&["ClusterIP", "NodePort", "LoadBalancer", "ExternalName"]),
    ),
    ("sessionAffinity", Rule::OneOf(&["None", "ClientIP"])),
    ("externalTrafficPolicy", Rule::OneOf(&["Cluster", "Local"])),
    ("internalTrafficPolicy", Rule::OneOf(&["Cluster", "Local"])),
    (
        "ipFamilyPolicy",
        Rule::OneOf(&["SingleStack", "PreferDualStack", "RequireDualStack"]),
    ),
    ("ipFamilies[]", Rule::OneOf(&["IPv4", "IPv6"])),
    ("externalIPs[]", Rule::Text(address)),
    ("loadBalancerSourceRanges[]", Rule::Text(network)),
    ("ports[].port", Rule::Port),
    ("ports[].targetPort", Rule::TargetPort),
    ("ports[].nodePort", Rule::Between(0, 65535)),
    ("ports[].name", Rule::Text(label)),
    ("ports[].protocol", Rule::OneOf(&["TCP", "UDP", "SCTP"])),
    (
        "sessionAffinityConfig.clientIP.timeoutSeconds",
        Rule::Between(1, 86400),
    ),
];

/// Checks a Service.
pub(super) fn check<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let Some(spec) = field(&document.root, "spec") else {
        return;
    };
    apply(spec, RULES, out);
    selector::labels(spec.get("selector"), out);
    let kind = text(spec, "type").unwrap_or("ClusterIP");
    let headless = text(spec, "clusterIP") == Some("None");
    let ports = items(spec, "ports");
    if !headless && kind != "ExternalName" {
        out.extend(needed(spec, "ports"));
    }
    if let Some(cluster_ip) = field(spec, "clusterIP") {
        let given = cluster_ip.as_str().unwrap_or_default();
        match kind {
            "ExternalName" if !given.is_empty() => {
                out.push(Finding::error(
                    cluster_ip,
                    "cannot be there for the type `ExternalName`",
                ));
            }
            "LoadBalancer" | "NodePort" if headless => {
                let says = format!("cannot be `None` for the type `{kind}`");
                out.push(Finding::error(cluster_ip, says));
            }
            _ if !matches!(given, "" | "None") => {
                out.extend(
                    address(given)
                        .map(|_| Finding::error(cluster_ip, "must be an IP address or `None`")),
                );
            }
            _ => {}
        }
    }
    external(spec, kind, out);
    each_port(ports, kind, out);
}

fn external<'n>(spec: &'n Node, kind: &str, out: &mut Vec<Finding<'n>>) {
    if kind == "ExternalName" {
        match spec
            .get("externalName")
            .map(|name| (name, name.as_str().unwrap_or_default()))
        {
            None | Some((_, "")) => out.push(Finding::lacks(spec, "externalName")),
            Some((name, text)) => {
                let text = text.strip_suffix('.').unwrap_or(text);
                out.extend(subdomain(text).map(|must| Finding::error(name, must)));
            }
        }
    }
    if let Some(policy) = field(spec, "externalTrafficPolicy")
        && matches!(kind, "ClusterIP" | "ExternalName")
        && items(spec, "externalIPs").is_empty()
        && policy.as_str() != Some("")
    {
        let says = "cannot be there but for the types `NodePort` and `LoadBalancer`";
        out.push(Finding::error(policy, says));
    }
    if let Some(ranges) = field(spec, "loadBalancerSourceRanges")
        && kind != "LoadBalancer"
        && !items(spec, "loadBalancerSourceRanges").is_empty()
    {
        out.push(Finding::error(
            ranges,
            "cannot be there but for the type `LoadBalancer`",
        ));
    }
}

fn each_port<'n>(ports: &'n [Node], kind: &str, out: &mut Vec<Finding<'n>>) {
    let (mut names, mut numbers, mut of_nodes) =
        (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for port in ports {
        match text(port, "name") {
            None if ports.len() > 1 => out.push(
                Finding::lacks(port, "name").hint("a Service of several ports names them all"),
            ),
            Some(name) if !names.insert(name) => {
                let at = port.get("name").unwrap_or(port);
                out.push(Finding::error(
                    at,
                    "is the name of another port of the Service",
                ));
            }
            _ => {}
        }
        let protocol = text(port, "protocol").unwrap_or("TCP");
        if let Some(number) = field(port, "port")
            && integer(number).is_some_and(|n| !numbers.insert((n, protocol)))
        {
            out.push(Finding::error(
                number,
                "is another port of the Service as well",
            ));
        }
        let Some(of_node) = field(port, "nodePort").filter(|port| integer(port) != Some(0)) else {
            continue;
        };
        let number = integer(of_node);
        if kind == "ClusterIP" {
            out.push(Finding::error(
                of_node,
                "cannot be there for the type `ClusterIP`",
            ));
        } else if number.is_some_and(|n| !of_nodes.insert((n, protocol))) {
            out.push(Finding::error(
                of_node,
                "is taken by another port of the Service",
            ));
        } else if number.is_some_and(|n| (1..30000).contains(&n) || (32768..=65535).contains(&n)) {
            let says = "is outside of 30000 to 32767, the range of most clusters";
            out.push(Finding::warning(of_node, says));
        }
    }
}
