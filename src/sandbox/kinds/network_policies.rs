//! NetworkPolicies.

use serde_json::{Value, json};

use super::causes::Causes;
use super::defaults::{
    Default::{Empty, Text},
    Table, add, put,
};
use super::labels;
use super::pod;
use super::spot::Spot;
use crate::words;

const PORTS: &Table = &[
    ("spec+.podSelector", Empty),
    ("spec.ingress[].ports[].protocol", Text("TCP")),
    ("spec.egress[].ports[].protocol", Text("TCP")),
];

/// Adds defaults to a NetworkPolicy.
pub(super) fn default(policy: &mut Value) {
    add(policy, PORTS);
    let Some(spec) = policy.get_mut("spec") else {
        return;
    };
    let said = spec.get("policyTypes").and_then(Value::as_array);
    if said.is_none_or(Vec::is_empty) {
        let egress = spec.get("egress").and_then(Value::as_array);
        let egress = egress.is_some_and(|rules| !rules.is_empty());
        let types = if egress {
            json!(["Ingress", "Egress"])
        } else {
            json!(["Ingress"])
        };
        put(spec, "policyTypes", types);
    }
}

/// What is wrong with a NetworkPolicy.
pub(super) fn check(causes: &mut Causes, object: &Spot<'_>) {
    let spec = object.field("spec");
    labels::check_selector(causes, &spec.field("podSelector"));
    for (rules, peers) in [("ingress", "from"), ("egress", "to")] {
        let rules = spec.field(rules);
        for rule in rules.items() {
            check_ports(causes, &rule.field("ports"));
            let peers = rule.field(peers);
            for peer in peers.items() {
                check_peer(causes, &peer);
            }
        }
    }
    let types = spec.field("policyTypes");
    if types.len() > 2 {
        causes.invalid(&types, "may not specify more than two policyTypes");
        return;
    }
    for kind in types.items() {
        causes.one_of(&kind, &["Ingress", "Egress"]);
    }
}

fn check_ports(causes: &mut Causes, ports: &Spot<'_>) {
    for port in ports.items() {
        causes.one_of(&port.field("protocol"), &["TCP", "UDP", "SCTP"]);
        let number = port.field("port");
        if number.present() {
            pod::check_port(causes, &number);
        }
    }
}

fn check_peer(causes: &mut Causes, peer: &Spot<'_>) {
    let (pods, namespaces) = (peer.field("podSelector"), peer.field("namespaceSelector"));
    let network = peer.field("ipBlock");
    for selector in [&pods, &namespaces] {
        labels::check_selector(causes, selector);
    }
    if network.present() {
        check_network(causes, &network);
    }
    let selected = pods.present() || namespaces.present();
    if !selected && network.absent() {
        causes.required(peer, "must specify a peer");
    } else if selected && network.present() {
        causes.forbidden(peer, "may not specify both ipBlock and another peer");
    }
}

fn check_network(causes: &mut Causes, network: &Spot<'_>) {
    let range = network.field("cidr");
    if range.text().is_empty() {
        causes.required(&range, "");
        return;
    }
    if !words::is_network(range.text()) {
        causes.invalid(&range, "not a valid CIDR");
        return;
    }
    let except = network.field("except");
    for part in except.items() {
        if !words::is_network(part.text()) {
            causes.invalid(&part, "not a valid CIDR");
            return;
        }
        if !words::is_within(part.text(), range.text()) {
            causes.invalid(&part, "must be a strict subset of `cidr`");
        }
    }
}
