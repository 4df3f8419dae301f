//! Endpoints: the pods behind a Service, in one object of its name.

use std::net::IpAddr;
use std::sync::Arc;

use serde_json::{Map, Value, json};

use super::client;
use super::object::{beside, holds, is_leaving, items, labels, meta, set, text};
use super::pods;
use crate::state::State;
use crate::store::Key;

/// What says that a Service has no address of its own.
const HEADLESS: &str = "service.kubernetes.io/headless";

/// Writes the Endpoints of a Service, or takes them away with it.
pub(super) fn sync(state: &mut State, key: &Key) {
    let own = beside(key, "endpoints", &key.name);
    let known = state.store.get(&own).cloned();
    let Some(service) = state.store.get(key).cloned() else {
        if let Some(known) = known {
            client::delete(state, &own, &known, json!({}));
        }
        return;
    };
    if is_leaving(&service) || !selects(&service) {
        return;
    }
    let labels = labels_of(&service);
    let subsets = subsets(state, key, &service);
    let base = known.as_ref().map_or_else(
        || {
            json!({
                "apiVersion": "v1", "kind": "Endpoints",
                "metadata": { "name": key.name, "namespace": key.namespace },
            })
        },
        |known| (**known).clone(),
    );
    let mut new = base.clone();
    if let Some(fields) = new.as_object_mut() {
        fields.remove("subsets");
    }
    if !subsets.is_empty() {
        set(&mut new, &["subsets"], subsets.into());
    }
    set_labels(&mut new, labels);
    match known {
        None => client::create(state, &own, new),
        Some(_) if new != base => client::update(state, &own, new),
        Some(_) => None,
    };
}

/// Whether a Service has endpoints that are found by its selector.
pub(super) fn selects(service: &Value) -> bool {
    let selector = service.pointer("/spec/selector").and_then(Value::as_object);
    text(service, "/spec/type") != "ExternalName" && selector.is_some_and(|s| !s.is_empty())
}

/// The labels of a Service, and one more when it is headless.
pub(super) fn labels_of(service: &Value) -> Map<String, Value> {
    let mut all = labels(service).cloned().unwrap_or_default();
    all.remove(HEADLESS);
    if ["", "None"].contains(&text(service, "/spec/clusterIP")) {
        all.insert(HEADLESS.to_owned(), "".into());
    }
    all
}

/// The pods that a Service selects and that have an address.
pub(super) fn selected(state: &State, key: &Key, service: &Value) -> Vec<Arc<Value>> {
    let selector = service.pointer("/spec/selector");
    let all = state.store.list(&"pods".into(), Some(&key.namespace));
    all.map(|(_, pod)| pod)
        .filter(|pod| holds(labels(pod), selector))
        .filter(|pod| !text(pod, "/status/podIP").is_empty() && !pods::is_finished(pod))
        .cloned()
        .collect()
}

/// Whether pods that are not ready count as if they were.
pub(super) fn tolerates(service: &Value) -> bool {
    service.pointer("/spec/publishNotReadyAddresses") == Some(&Value::Bool(true))
}

/// The ports of a Service as a pod has them; those that it has not are left out.
pub(super) fn ports_of(service: &Value, pod: &Value) -> Vec<Value> {
    items(service, "/spec/ports")
        .filter_map(|port| {
            let protocol = match text(port, "/protocol") {
                "" => "TCP",
                protocol => protocol,
            };
            let target = port.get("targetPort").or(port.get("port"))?;
            let number = match target.as_str() {
                None => target.clone(),
                Some(name) => named(pod, name, protocol)?,
            };
            let mut found = json!({ "port": number, "protocol": protocol });
            for field in ["name", "appProtocol"] {
                if let Some(value) = port.get(field) {
                    set(&mut found, &[field], value.clone());
                }
            }
            Some(found)
        })
        .collect()
}

/// What a pod is called by the endpoints it is behind.
pub(super) fn target(pod: &Value) -> Value {
    json!({
        "kind": "Pod", "namespace": meta(pod, "namespace"), "name": meta(pod, "name"), "uid": meta(pod, "uid"),
    })
}

/// The name of a pod within a Service.
pub(super) fn hostname<'a>(service: &Value, pod: &'a Value) -> Option<&'a str> {
    let within = text(pod, "/spec/subdomain") == meta(service, "name");
    let hostname = text(pod, "/spec/hostname");
    (within && !hostname.is_empty()).then_some(hostname)
}

fn named(pod: &Value, name: &str, protocol: &str) -> Option<Value> {
    items(pod, "/spec/containers")
        .flat_map(|container| items(container, "/ports"))
        .find(|port| {
            let own = text(port, "/protocol");
            text(port, "/name") == name && (own == protocol || own.is_empty() && protocol == "TCP")
        })
        .and_then(|port| port.get("containerPort"))
        .cloned()
}

/// The pods by the ports that they have: first those that are ready.
fn subsets(state: &State, key: &Key, service: &Value) -> Vec<Value> {
    let mut groups: Vec<(Vec<Value>, [Vec<Value>; 2])> = Vec::new();
    let headless = items(service, "/spec/ports").next().is_none();
    let mut pods = selected(state, key, service);
    pods.sort_by_key(|pod| text(pod, "/status/podIP").parse::<IpAddr>().ok());
    for pod in pods {
        if is_leaving(&pod) && !tolerates(service) {
            continue;
        }
        let ports = ports_of(service, &pod);
        if ports.is_empty() && !headless {
            continue;
        }
        let mut address = json!({ "ip": text(&pod, "/status/podIP"), "targetRef": target(&pod) });
        if let Some(node) = pod.pointer("/spec/nodeName") {
            set(&mut address, &["nodeName"], node.clone());
        }
        if let Some(hostname) = hostname(service, &pod) {
            set(&mut address, &["hostname"], hostname.into());
        }
        let ready = tolerates(service) || pods::is_ready(&pod);
        let known = groups.iter_mut().find(|(known, _)| *known == ports);
        let [of_ready, of_others] = match known {
            Some((_, lists)) => lists,
            None => {
                groups.push((ports, Default::default()));
                match groups.last_mut() {
                    Some((_, lists)) => lists,
                    None => continue,
                }
            }
        };
        if ready { of_ready } else { of_others }.push(address);
    }
    groups
        .into_iter()
        .map(|(ports, [ready, others])| {
            let mut subset = Map::new();
            for (field, list) in [
                ("addresses", ready),
                ("notReadyAddresses", others),
                ("ports", ports),
            ] {
                if !list.is_empty() {
                    subset.insert(field.to_owned(), list.into());
                }
            }
            subset.into()
        })
        .collect()
}

/// Gives an object labels, and no others.
pub(super) fn set_labels(object: &mut Value, labels: Map<String, Value>) {
    if !labels.is_empty() {
        set(object, &["metadata", "labels"], labels.into());
    } else if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.remove("labels");
    }
}
