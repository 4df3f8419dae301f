//! Addresses and ports of Services, which are free while no stored Service has them.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde_json::{Value, json};

use super::taken::Known;
use super::{has_address, has_health_port, is_open};
use crate::error::{ApiError, Cause};
use crate::kinds::defaults::{has, items, put, take, text};
use crate::state::State;
use crate::store::Key;

/// The first address of the range of Services, 10.96.0.0/16.
const FIRST: u32 = u32::from_be_bytes([10, 96, 0, 0]);

/// How many addresses there are.
const ADDRESSES: u32 = 1 << 16;

/// Ports of nodes: the first, and how many.
const NODE_PORTS: (i64, i64) = (30000, 2768);

/// The same for a changed Service, unless nothing of this changes.
pub(in super::super) fn allocate_update(
    state: &State,
    service: &mut Value,
    old: &Value,
) -> Result<(), ApiError> {
    if had(service) == had(old) && has_all(service) {
        return Ok(());
    }
    allocate(state, service)
}

/// The address and the ports that a Service has.
fn had(service: &Value) -> (&str, Vec<Option<i64>>) {
    let spec = service.get("spec").unwrap_or(&Value::Null);
    let ports = spec
        .get("ports")
        .and_then(Value::as_array)
        .into_iter()
        .flatten();
    let number = |value: &Value, field| value.get(field).and_then(Value::as_i64);
    let health = number(spec, "healthCheckNodePort");
    let ports = ports.map(|port| number(port, "nodePort")).chain([health]);
    (text(spec, "clusterIP"), ports.collect())
}

/// Whether a Service lacks nothing that its type gives it.
fn has_all(service: &Value) -> bool {
    let spec = service.get("spec").unwrap_or(&Value::Null);
    let (address, mut ports) = had(service);
    let health = ports.pop().flatten();
    (!has_address(spec) || !address.is_empty())
        && (!is_open(spec) || ports.iter().all(Option::is_some))
        && (!has_health_port(spec) || health.is_some())
}

/// Gives a Service the addresses and ports that it lacks, and holds those it says against what others have.
pub(in super::super) fn allocate(state: &State, service: &mut Value) -> Result<(), ApiError> {
    let metadata = service.get("metadata").unwrap_or(&Value::Null);
    let own = Key {
        resource: "services".into(),
        namespace: text(metadata, "namespace").to_owned(),
        name: text(metadata, "name").to_owned(),
    };
    let known = state.services.now(&state.store);
    let taken = Others {
        ports: known.ports(&own).collect(),
        known: &known,
        but: &own,
    };
    let refuse = |cause| ApiError::invalid("", "Service", &own.name, vec![cause]);
    if let Some(spec) = service.get_mut("spec") {
        taken.give_address(spec).map_err(refuse)?;
        taken.give_ports(spec).map_err(refuse)?;
    }
    Ok(())
}

/// Keeps `clusterIP` and `clusterIPs` alike where only the first is said, as clients do that know no other.
pub(super) fn keep_in_step(spec: &mut Value, old: Option<&Value>) {
    let first = text(spec, "clusterIP").to_owned();
    let all = spec.get("clusterIPs").and_then(Value::as_array);
    let said = all.is_some_and(|all| !all.is_empty());
    let Some(old) = old else {
        if !first.is_empty() && !said {
            put(spec, "clusterIPs", json!([first]));
        }
        return;
    };
    let before = text(old, "clusterIP");
    let same = spec.get("clusterIPs") == old.get("clusterIPs");
    if first != before && (same || !said) {
        match first.as_str() {
            "" => take(spec, "clusterIPs"),
            first => put(spec, "clusterIPs", json!([first])),
        }
    } else if first == before && !said && !first.is_empty() {
        put(spec, "clusterIPs", json!([first]));
    }
}

/// What other Services have.
struct Others<'a> {
    known: &'a Known,
    /// The Service that is looked at.
    but: &'a Key,
    ports: BTreeSet<i64>,
}

impl Others<'_> {
    fn give_address(&self, spec: &mut Value) -> Result<(), Cause> {
        if !has_address(spec) {
            return Ok(());
        }
        let said = text(spec, "clusterIP").to_owned();
        if said == "None" {
            return Ok(());
        }
        if let Ok(address) = said.parse::<Ipv4Addr>() {
            return self.check_address(address);
        }
        if said.is_empty()
            && let Some(address) = self.free_address()
        {
            put(spec, "clusterIP", address.to_string());
            put(spec, "clusterIPs", json!([address.to_string()]));
        }
        Ok(())
    }

    fn check_address(&self, address: Ipv4Addr) -> Result<(), Cause> {
        let number = u32::from(address);
        let why = if self.known.has_address(number, self.but) {
            "provided IP is already allocated"
        } else if !(FIRST + 1..FIRST + ADDRESSES - 1).contains(&number) {
            "provided IP is not in the valid range. The range of valid IPs is 10.96.0.0/16"
        } else {
            return Ok(());
        };
        Err(Cause {
            reason: "FieldValueInvalid",
            message: format!(
                "Invalid value: []string{{\"{address}\"}}: failed to allocated ip:{address} with error:{why}"
            ),
            field: "spec.clusterIPs".to_owned(),
        })
    }

    /// Any free address, as the API server takes any.
    fn free_address(&self) -> Option<Ipv4Addr> {
        let start = fastrand::u32(..ADDRESSES);
        // The first two are the network's and the API server's own; the last is for all.
        let usable = |offset: &u32| (2..ADDRESSES - 1).contains(offset);
        let offsets = (0..ADDRESSES)
            .map(|i| (start + i) % ADDRESSES)
            .filter(usable);
        let mut addresses = offsets.map(|offset| FIRST + offset);
        addresses
            .find(|address| !self.known.has_address(*address, self.but))
            .map(Ipv4Addr::from)
    }

    fn give_ports(&self, spec: &mut Value) -> Result<(), Cause> {
        if !is_open(spec) {
            return Ok(());
        }
        let health = has_health_port(spec);
        let mut given: Vec<(i64, i64)> = Vec::new();
        let mut taken = self.ports.clone();
        for (index, port) in items(spec, "/ports").enumerate() {
            let number = port.get("port").and_then(Value::as_i64).unwrap_or(0);
            match port.get("nodePort").and_then(Value::as_i64).unwrap_or(0) {
                0 => {
                    // What has the same port by two protocols gets one port of the node.
                    let shared = given
                        .iter()
                        .find(|(port, _)| *port == number)
                        .map(|(_, node)| *node);
                    let Some(node) = shared.or_else(|| free_port(&taken)) else {
                        continue;
                    };
                    put(port, "nodePort", node);
                    taken.insert(node);
                    given.push((number, node));
                }
                node => {
                    self.check_port(node, &format!("spec.ports[{index}].nodePort"))?;
                    taken.insert(node);
                    given.push((number, node));
                }
            }
        }
        if health {
            self.give_health_port(spec, &taken)?;
        }
        Ok(())
    }

    fn give_health_port(&self, spec: &mut Value, taken: &BTreeSet<i64>) -> Result<(), Cause> {
        if has(spec, "healthCheckNodePort") {
            let said = spec.get("healthCheckNodePort").and_then(Value::as_i64);
            return self.check_port(said.unwrap_or(0), "spec.healthCheckNodePort");
        }
        if let Some(port) = free_port(taken) {
            put(spec, "healthCheckNodePort", port);
        }
        Ok(())
    }

    fn check_port(&self, port: i64, field: &str) -> Result<(), Cause> {
        let (first, count) = NODE_PORTS;
        let why = if self.ports.contains(&port) {
            "provided port is already allocated".to_owned()
        } else if !(first..first + count).contains(&port) {
            format!(
                "provided port is not in the valid range. The range of valid ports is {first}-{}",
                first + count - 1
            )
        } else {
            return Ok(());
        };
        Err(Cause {
            reason: "FieldValueInvalid",
            message: format!("Invalid value: {port}: {why}"),
            field: field.to_owned(),
        })
    }
}

fn free_port(taken: &BTreeSet<i64>) -> Option<i64> {
    let (first, count) = NODE_PORTS;
    let start = fastrand::i64(0..count);
    let mut ports = (0..count).map(|i| first + (start + i) % count);
    ports.find(|port| !taken.contains(port))
}
