//! NetworkPolicies.

use super::finding::Finding;
use super::read::{each, field};
use super::rules::{Rule, apply};
use super::selector;
use super::syntax::network;
use crate::load::{Document, Node};

/// Checks a NetworkPolicy.
pub(super) fn check<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let Some(spec) = field(&document.root, "spec") else {
        return;
    };
    apply(
        spec,
        &[("policyTypes[]", Rule::OneOf(&["Ingress", "Egress"]))],
        out,
    );
    if let Some(found) = field(spec, "podSelector") {
        selector::syntax(found, out);
    }
    for ports in ["ingress[].ports[]", "egress[].ports[]"] {
        each(spec, ports, &mut |port| {
            let protocols = Rule::OneOf(&["TCP", "UDP", "SCTP"]);
            apply(
                port,
                &[("port", Rule::PortOrName), ("protocol", protocols)],
                out,
            );
        });
    }
    for peers in ["ingress[].from[]", "egress[].to[]"] {
        each(spec, peers, &mut |found| peer(found, out));
    }
}

fn peer<'n>(peer: &'n Node, out: &mut Vec<Finding<'n>>) {
    let selectors = ["podSelector", "namespaceSelector"].map(|kind| field(peer, kind));
    for found in selectors.into_iter().flatten() {
        selector::syntax(found, out);
    }
    let block = field(peer, "ipBlock");
    match (selectors, block) {
        ([None, None], None) => {
            let says = "must say who: `podSelector`, `namespaceSelector` or `ipBlock`";
            out.push(Finding::error(peer, says));
        }
        ([None, None], Some(_)) | (_, None) => {}
        (_, Some(block)) => out.push(Finding::error(block, "cannot stand beside a selector")),
    }
    if let Some(block) = block {
        apply(
            block,
            &[
                ("cidr", Rule::Text(network)),
                ("except[]", Rule::Text(network)),
            ],
            out,
        );
    }
}
