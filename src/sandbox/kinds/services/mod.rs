//! Services, and where their packets go.

mod addresses;
mod endpoints;
mod rules;
mod taken;

use serde_json::Value;

use super::defaults::{
    Default::{Int, Text},
    Table, add, has, items, put, take, text,
};

pub(super) use self::addresses::{allocate, allocate_update};
pub(super) use self::endpoints::{check as check_endpoints, check_slice, check_slice_update};
pub(super) use self::rules::{check, check_update};
pub use self::taken::Taken;

const SERVICE: &Table = &[
    ("spec+.sessionAffinity", Text("None")),
    ("spec.type", Text("ClusterIP")),
    ("spec.ports[].protocol", Text("TCP")),
];

const ENDPOINTS: &Table = &[("subsets[].ports[].protocol", Text("TCP"))];

const SLICE: &Table = &[("ports[].protocol", Text("TCP"))];

/// Adds defaults to a Service.
pub(super) fn default(service: &mut Value) {
    add(service, SERVICE);
    let Some(spec) = service.get_mut("spec") else {
        return;
    };
    if text(spec, "sessionAffinity") == "ClientIP" {
        add(
            spec,
            &[(
                "sessionAffinityConfig+.clientIP+.timeoutSeconds",
                Int(10800),
            )],
        );
    } else {
        take(spec, "sessionAffinityConfig");
    }
    for port in items(spec, "/ports") {
        let number = port.get("port").cloned().unwrap_or(Value::from(0));
        let said = match port.get("targetPort") {
            Some(Value::String(name)) => !name.is_empty(),
            Some(Value::Number(number)) => number.as_i64() != Some(0),
            _ => false,
        };
        if !said {
            put(port, "targetPort", number);
        }
    }
    if is_open(spec) {
        add(spec, &[("externalTrafficPolicy", Text("Cluster"))]);
    }
}

/// Adds defaults to Endpoints.
pub(super) fn default_endpoints(endpoints: &mut Value) {
    add(endpoints, ENDPOINTS);
}

/// Adds defaults to an EndpointSlice.
pub(super) fn default_slice(slice: &mut Value) {
    add(slice, SLICE);
    for port in items(slice, "/ports") {
        if !has(port, "name") {
            put(port, "name", "");
        }
    }
}

/// Brings a new Service's addresses into step.
pub(super) fn prepare_create(service: &mut Value) {
    if let Some(spec) = service.get_mut("spec") {
        addresses::keep_in_step(spec, None);
    }
}

/// Takes away what the new type of a Service has no use for, where it is as it was.
pub(super) fn prepare_update(new: &mut Value, old: &Value) {
    let nothing = Value::Null;
    let old = old.get("spec").unwrap_or(&nothing);
    let Some(spec) = new.get_mut("spec") else {
        return;
    };
    addresses::keep_in_step(spec, Some(old));
    if has_address(old) && !has_address(spec) && same(spec, old, "clusterIP") {
        take(spec, "clusterIP");
        take(spec, "clusterIPs");
    }
    if is_open(old) && !is_open(spec) {
        drop_node_ports(spec, old);
        if same(spec, old, "externalTrafficPolicy") {
            take(spec, "externalTrafficPolicy");
        }
    }
    if has_health_port(old) && !has_health_port(spec) && same(spec, old, "healthCheckNodePort") {
        take(spec, "healthCheckNodePort");
    }
}

fn drop_node_ports(spec: &mut Value, old: &Value) {
    let ports = |spec: &Value| -> Vec<i64> {
        let ports = spec
            .get("ports")
            .and_then(Value::as_array)
            .into_iter()
            .flatten();
        ports
            .filter_map(|port| port.get("nodePort")?.as_i64())
            .collect()
    };
    // Ports may come and go meanwhile, as long as nobody asks for one of the node's that is new.
    let had = ports(old);
    if ports(spec).iter().all(|port| had.contains(port)) {
        for port in items(spec, "/ports") {
            take(port, "nodePort");
        }
    }
}

fn same(new: &Value, old: &Value, field: &str) -> bool {
    new.get(field).filter(|v| !v.is_null()) == old.get(field).filter(|v| !v.is_null())
}

/// Whether nodes have ports for a Service of this type.
fn is_open(spec: &Value) -> bool {
    matches!(text(spec, "type"), "NodePort" | "LoadBalancer")
}

/// Whether a Service of this type has an address.
fn has_address(spec: &Value) -> bool {
    matches!(
        text(spec, "type"),
        "ClusterIP" | "NodePort" | "LoadBalancer"
    )
}

fn has_health_port(spec: &Value) -> bool {
    text(spec, "type") == "LoadBalancer" && text(spec, "externalTrafficPolicy") == "Local"
}
