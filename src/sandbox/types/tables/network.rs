//! Rows of how things are reached.

use jiff::Timestamp;
use serde_json::Value;

use super::age;
use super::text::{self, at, items, name, number, or, scalar};

pub fn service(object: &Value, now: Timestamp) -> Vec<Value> {
    let port = |port: &Value| {
        let (number_of, protocol) = (number(port, "/port"), at(port, "/protocol"));
        match number(port, "/nodePort") {
            0 => format!("{number_of}/{protocol}"),
            node => format!("{number_of}:{node}/{protocol}"),
        }
    };
    let ports: Vec<String> = items(object, "/spec/ports").iter().map(port).collect();
    vec![
        name(object),
        at(object, "/spec/type").into(),
        or(at(object, "/spec/clusterIPs/0"), "<none>").into(),
        external(object).into(),
        or(&ports.join(","), "<none>").into(),
        age::of(object, now),
        text::labels(text::map(object, "/spec/selector")).into(),
    ]
}

fn external(service: &Value) -> String {
    let given: Vec<&str> = items(service, "/spec/externalIPs")
        .iter()
        .filter_map(Value::as_str)
        .collect();
    match at(service, "/spec/type") {
        "ClusterIP" | "NodePort" => or(&given.join(","), "<none>").to_owned(),
        "LoadBalancer" => {
            let mut all = balanced(service);
            all.extend(given.into_iter().map(str::to_owned));
            or(&all.join(","), "<pending>").to_owned()
        }
        "ExternalName" => at(service, "/spec/externalName").to_owned(),
        _ => "<unknown>".to_owned(),
    }
}

/// Addresses of a load balancer, in order.
fn balanced(object: &Value) -> Vec<String> {
    let mut all: Vec<String> = items(object, "/status/loadBalancer/ingress")
        .iter()
        .map(|it| or(at(it, "/ip"), at(it, "/hostname")).to_owned())
        .filter(|it| !it.is_empty())
        .collect();
    all.sort();
    all.dedup();
    all
}

pub fn endpoints(object: &Value, now: Timestamp) -> Vec<Value> {
    let mut all = Vec::new();
    for subset in items(object, "/subsets") {
        let addresses = || items(subset, "/addresses").iter().map(|it| at(it, "/ip"));
        let ports = items(subset, "/ports");
        if ports.is_empty() {
            all.extend(addresses().map(str::to_owned));
        }
        for port in ports {
            let port = number(port, "/port");
            all.extend(addresses().map(|address| match address.contains(':') {
                true => format!("[{address}]:{port}"),
                false => format!("{address}:{port}"),
            }));
        }
    }
    let said = match items(object, "/subsets").is_empty() {
        true => "<none>".to_owned(),
        false => text::some(&all),
    };
    vec![name(object), said.into(), age::of(object, now)]
}

pub fn endpoint_slice(object: &Value, now: Timestamp) -> Vec<Value> {
    let port = |port: &Value| scalar(port.get("port").or_else(|| port.get("name")), "*");
    let ports: Vec<String> = items(object, "/ports").iter().map(port).collect();
    let addresses: Vec<String> = items(object, "/endpoints")
        .iter()
        .flat_map(|it| items(it, "/addresses"))
        .map(|it| scalar(Some(it), ""))
        .collect();
    vec![
        name(object),
        at(object, "/addressType").into(),
        or(&text::some(&ports), "<unset>").into(),
        or(&text::some(&addresses), "<unset>").into(),
        age::of(object, now),
    ]
}

pub fn ingress(object: &Value, now: Timestamp) -> Vec<Value> {
    let rules = items(object, "/spec/rules");
    let hosts: Vec<&str> = rules
        .iter()
        .take(3)
        .map(|it| at(it, "/host"))
        .filter(|it| !it.is_empty())
        .collect();
    let hosts = match (hosts.is_empty(), rules.len()) {
        (true, _) => "*".to_owned(),
        (false, 0..=3) => hosts.join(","),
        (false, all) => format!("{} + {} more...", hosts.join(","), all - 3),
    };
    let is_secure = !items(object, "/spec/tls").is_empty();
    vec![
        name(object),
        or(at(object, "/spec/ingressClassName"), "<none>").into(),
        hosts.into(),
        balanced(object).join(",").into(),
        if is_secure { "80, 443" } else { "80" }.into(),
        age::of(object, now),
    ]
}

pub fn ingress_class(object: &Value, now: Timestamp) -> Vec<Value> {
    let parameters = object.pointer("/spec/parameters").map(|it| {
        let group = match at(it, "/apiGroup") {
            "" => String::new(),
            group => format!(".{group}"),
        };
        format!("{}{group}/{}", at(it, "/kind"), at(it, "/name"))
    });
    vec![
        name(object),
        at(object, "/spec/controller").into(),
        parameters.unwrap_or_else(|| "<none>".to_owned()).into(),
        age::of(object, now),
    ]
}

pub fn policy(object: &Value, now: Timestamp) -> Vec<Value> {
    let selected = text::selector(object.pointer("/spec/podSelector"));
    vec![name(object), selected.into(), age::of(object, now)]
}
