//! What the API server adds to pods.

use serde_json::{Map, Value};

use super::image;
use super::volume_defaults::default_volumes;
use crate::kinds::defaults::{
    Default::{Count, Empty, Int, Text},
    Table, add, has, items, object_in, put, take, text,
};
use crate::kinds::quantity;

const SPEC: &Table = &[
    ("dnsPolicy", Text("ClusterFirst")),
    ("restartPolicy", Text("Always")),
    ("terminationGracePeriodSeconds", Int(30)),
    ("schedulerName", Text("default-scheduler")),
    ("securityContext", Empty),
];

const CONTAINER: &Table = &[
    ("terminationMessagePath", Text("/dev/termination-log")),
    ("terminationMessagePolicy", Text("File")),
    ("ports[].protocol", Text("TCP")),
    ("env[].valueFrom.fieldRef.apiVersion", Text("v1")),
    ("env[].valueFrom.resourceFieldRef.divisor", Text("0")),
    ("resources", Empty),
];

const PROBE: &Table = &[
    ("timeoutSeconds", Count(1)),
    ("periodSeconds", Count(10)),
    ("successThreshold", Count(1)),
    ("failureThreshold", Count(3)),
];

const HTTP: &Table = &[
    ("httpGet.path", Text("/")),
    ("httpGet.scheme", Text("HTTP")),
];

/// Adds defaults to a pod's spec, be it a pod's or a template's.
pub(in super::super) fn default_spec(spec: &mut Value) {
    add(spec, SPEC);
    for list in ["initContainers", "containers", "ephemeralContainers"] {
        let host = spec.get("hostNetwork") == Some(&Value::Bool(true));
        for container in items(spec, &format!("/{list}")) {
            default_container(container);
            if host {
                open_ports(container);
            }
        }
    }
    let account = match text(spec, "serviceAccountName") {
        "" => text(spec, "serviceAccount").to_owned(),
        account => account.to_owned(),
    };
    for field in ["serviceAccountName", "serviceAccount"] {
        match account.as_str() {
            "" => take(spec, field),
            account => put(spec, field, account),
        }
    }
    default_volumes(spec);
}

/// Adds to a pod itself what templates do not get.
pub(in super::super) fn default_pod(pod: &mut Value) {
    let Some(spec) = pod.get_mut("spec") else {
        return;
    };
    if !has(spec, "enableServiceLinks") {
        put(spec, "enableServiceLinks", true);
    }
    for list in ["/initContainers", "/containers"] {
        for container in items(spec, list) {
            request_limits(container);
        }
    }
}

fn default_container(container: &mut Value) {
    add(container, CONTAINER);
    for list in ["/resources/limits", "/resources/requests"] {
        if let Some(list) = container.pointer_mut(list) {
            quantity::round_up(list);
        }
    }
    if text(container, "imagePullPolicy").is_empty() {
        let latest = image::is_latest(text(container, "image"));
        let policy = if latest { "Always" } else { "IfNotPresent" };
        put(container, "imagePullPolicy", policy);
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(probe) {
            add(probe, PROBE);
            add(probe, HTTP);
        }
    }
    for hook in ["/lifecycle/postStart", "/lifecycle/preStop"] {
        if let Some(hook) = container.pointer_mut(hook) {
            add(hook, HTTP);
        }
    }
}

/// On a node's own network, the container's ports are the node's.
fn open_ports(container: &mut Value) {
    for port in items(container, "/ports") {
        let number = port.get("containerPort").cloned();
        let open = port.get("hostPort").and_then(Value::as_i64).unwrap_or(0) != 0;
        if let Some(number) = number.filter(|_| !open) {
            put(port, "hostPort", number);
        }
    }
}

/// Who limits and does not request, requests the limit.
fn request_limits(container: &mut Value) {
    let Some(resources) = container
        .get_mut("resources")
        .and_then(Value::as_object_mut)
    else {
        return;
    };
    let limits = resources.get("limits").and_then(Value::as_object).cloned();
    let Some(limits) = limits.filter(|limits: &Map<_, _>| !limits.is_empty()) else {
        return;
    };
    let requests = object_in(resources, "requests");
    if let Some(requests) = requests.as_object_mut() {
        for (name, quantity) in limits {
            requests.entry(name).or_insert(quantity);
        }
    }
}
