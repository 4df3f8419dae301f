//! What is wrong with Endpoints and EndpointSlices.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use serde_json::Value;

use crate::kinds::causes::{Causes, quoted};
use crate::kinds::labels;
use crate::kinds::spot::Spot;
use crate::words;

const PROTOCOLS: [&str; 3] = ["SCTP", "TCP", "UDP"];

/// Most endpoints and ports of a slice.
const MOST: (usize, usize) = (1000, 100);

/// What is wrong with Endpoints.
pub(in super::super) fn check(causes: &mut Causes, object: &Spot<'_>) {
    let subsets = object.field("subsets");
    for subset in subsets.items() {
        let lists = [subset.field("addresses"), subset.field("notReadyAddresses")];
        if lists.iter().all(|list| list.len() == 0) {
            causes.required(&subset, "must specify `addresses` or `notReadyAddresses`");
        }
        for list in &lists {
            for address in list.items() {
                let ip = address.field("ip");
                if ip.text().parse::<IpAddr>().is_err() {
                    causes.invalid_as(
                        &ip,
                        &quoted(ip.text()),
                        "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
                    );
                }
                let (host, node) = (address.field("hostname"), address.field("nodeName"));
                if !host.text().is_empty() {
                    causes.all_invalid(&host, &words::label(host.text()));
                }
                if node.present() {
                    causes.text_invalid(&node, node.text(), &words::subdomain(node.text()));
                }
                check_range(causes, &ip);
            }
        }
        let ports = subset.field("ports");
        for port in ports.items() {
            let name = port.field("name");
            if name.text().is_empty() {
                if ports.len() > 1 {
                    causes.required(&name, "");
                }
            } else {
                causes.all_invalid(&name, &words::label(name.text()));
            }
            check_port(causes, &port);
        }
    }
}

fn check_port(causes: &mut Causes, port: &Spot<'_>) {
    let number = port.field("port");
    let value = number.int().unwrap_or(0);
    for why in words::port(value) {
        causes.invalid_as(&number, &value.to_string(), &why);
    }
    let protocol = port.field("protocol");
    if protocol.text().is_empty() {
        causes.required(&protocol, "");
    } else {
        causes.one_of(&protocol, &PROTOCOLS);
    }
    check_application(causes, port);
}

fn check_application(causes: &mut Causes, port: &Spot<'_>) {
    let application = port.field("appProtocol");
    if application.present() {
        let text = application.text();
        causes.text_invalid(&application, text, &words::qualified(text));
    }
}

/// What is wrong with an address of somebody else.
pub(super) fn check_address(causes: &mut Causes, address: &Spot<'_>) {
    if address.text().parse::<IpAddr>().is_err() {
        causes.invalid_as(
            address,
            &quoted(address.text()),
            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)",
        );
    } else {
        check_range(causes, address);
    }
}

fn check_range(causes: &mut Causes, address: &Spot<'_>) {
    let why = match address.text().parse::<IpAddr>() {
        Err(_) => "must be a valid IP address",
        Ok(ip) if ip.is_unspecified() => &format!("may not be unspecified ({})", address.text()),
        Ok(ip) if ip.is_loopback() => "may not be in the loopback range (127.0.0.0/8)",
        Ok(IpAddr::V4(ip)) if ip.is_link_local() => {
            "may not be in the link-local range (169.254.0.0/16)"
        }
        Ok(IpAddr::V4(ip)) if ip.octets().starts_with(&[224, 0, 0]) => {
            "may not be in the link-local multicast range (224.0.0.0/24)"
        }
        Ok(_) => return,
    };
    causes.invalid_as(address, &quoted(address.text()), why);
}

/// What is wrong with an EndpointSlice.
pub(in super::super) fn check_slice(causes: &mut Causes, object: &Spot<'_>) {
    let kind = object.field("addressType");
    if kind.text().is_empty() {
        causes.required(&kind, "");
    } else {
        causes.one_of(&kind, &["FQDN", "IPv4", "IPv6"]);
    }
    let endpoints = object.field("endpoints");
    if endpoints.len() > MOST.0 {
        causes.too_many(&endpoints, endpoints.len(), MOST.0);
        return;
    }
    for endpoint in endpoints.items() {
        check_endpoint(causes, &endpoint, kind.text());
    }
    let ports = object.field("ports");
    if ports.len() > MOST.1 {
        causes.too_many(&ports, ports.len(), MOST.1);
        return;
    }
    let mut names = BTreeSet::new();
    for port in ports.items() {
        let name = port.field("name");
        if !name.text().is_empty() {
            causes.all_invalid(&name, &words::label(name.text()));
        }
        if !names.insert(name.text().to_owned()) {
            causes.duplicate(&name);
        }
        let protocol = port.field("protocol");
        causes.one_of(&protocol, &PROTOCOLS);
        check_application(causes, &port);
    }
}

fn check_endpoint(causes: &mut Causes, endpoint: &Spot<'_>, kind: &str) {
    let addresses = endpoint.field("addresses");
    if addresses.len() == 0 {
        causes.required(&addresses, "must contain at least 1 address");
    } else if addresses.len() > 100 {
        causes.too_many(&addresses, addresses.len(), 100);
    }
    for address in addresses.items() {
        let text = address.text();
        match kind {
            "IPv4" if text.parse::<Ipv4Addr>().is_err() => {
                causes.invalid(&address, "must be a valid IPv4 address");
            }
            "IPv6" if text.parse::<Ipv6Addr>().is_err() => {
                causes.invalid(&address, "must be a valid IPv6 address");
            }
            "FQDN" => causes.all_invalid(&address, &words::host(text)),
            _ => {}
        }
    }
    let (host, node) = (endpoint.field("hostname"), endpoint.field("nodeName"));
    if host.present() {
        causes.text_invalid(&host, host.text(), &words::label(host.text()));
    }
    if node.present() {
        causes.text_invalid(&node, node.text(), &words::subdomain(node.text()));
    }
    labels::check(causes, &endpoint.field("topology"));
}

/// What may not change of an EndpointSlice.
pub(in super::super) fn check_slice_update(causes: &mut Causes, new: &Spot<'_>, old: &Value) {
    let old = old.get("addressType").unwrap_or(&Value::Null);
    causes.unchanged(&new.field("addressType"), old);
}
