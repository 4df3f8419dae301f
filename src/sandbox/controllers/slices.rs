//! EndpointSlices: the pods behind a Service, a hundred to a slice.

use std::sync::Arc;

use serde_json::{Value, json};

use super::endpoints::{
    hostname, labels_of, ports_of, selected, selects, set_labels, target, tolerates,
};
use super::object::{beside, is_leaving, items, labels, meta, reference, set, text};
use super::{client, pods};
use crate::state::State;
use crate::store::Key;

const SLICES: &str = "endpointslices.discovery.k8s.io";
const SERVICE: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const CONTROLLER: &str = "endpointslice-controller.k8s.io";
/// Endpoints in a slice, at most.
const MOST: usize = 100;

/// What a slice holds beside its metadata.
struct Contents {
    family: String,
    ports: Vec<Value>,
    endpoints: Vec<Value>,
}

/// Writes the slices of a Service; with the Service they go as its dependents.
pub(super) fn sync(state: &mut State, key: &Key) {
    let Some(service) = state.store.get(key).cloned() else {
        return;
    };
    if is_leaving(&service) || !selects(&service) {
        return;
    }
    let mut known = known(state, key);
    for contents in wanted(state, key, &service) {
        let same = |(_, slice): &(Key, Arc<Value>)| {
            text(slice, "/addressType") == contents.family
                && items(slice, "/ports").eq(contents.ports.iter())
        };
        let place = known.iter().position(same).or_else(|| {
            let fits =
                |(_, slice): &(Key, Arc<Value>)| text(slice, "/addressType") == contents.family;
            known.iter().position(fits)
        });
        let slice = place.map(|place| known.remove(place));
        write(state, key, &service, slice, contents);
    }
    for (key, slice) in known {
        client::delete(state, &key, &slice, json!({}));
    }
}

fn known(state: &State, key: &Key) -> Vec<(Key, Arc<Value>)> {
    let all = state.store.list(&SLICES.into(), Some(&key.namespace));
    let label = |slice: &Value, name: &str, value: &str| {
        labels(slice).is_some_and(|labels| labels.get(name).and_then(Value::as_str) == Some(value))
    };
    all.filter(|(_, slice)| {
        label(slice, SERVICE, &key.name)
            && label(slice, MANAGED_BY, CONTROLLER)
            && !is_leaving(slice)
    })
    .map(|(key, slice)| (key.clone(), slice.clone()))
    .collect()
}

fn write(
    state: &mut State,
    key: &Key,
    service: &Value,
    known: Option<(Key, Arc<Value>)>,
    contents: Contents,
) {
    let base = known.as_ref().map_or_else(
        || {
            let version = state.kinds.resource(SLICES).map(|kind| kind.api_version());
            json!({
                "apiVersion": version, "kind": "EndpointSlice",
                "metadata": {
                    "generateName": format!("{}-", meta(service, "name")), "namespace": key.namespace,
                    "ownerReferences": [reference(service)],
                },
            })
        },
        |(_, slice)| (**slice).clone(),
    );
    let mut new = base.clone();
    let mut labels = labels_of(service);
    for (name, value) in [(SERVICE, key.name.as_str()), (MANAGED_BY, CONTROLLER)] {
        labels.insert(name.to_owned(), value.into());
    }
    set_labels(&mut new, labels);
    set(&mut new, &["addressType"], contents.family.into());
    set(&mut new, &["endpoints"], contents.endpoints.into());
    set(&mut new, &["ports"], contents.ports.into());
    match known {
        None => client::create(state, &beside(key, SLICES, ""), new),
        Some((key, _)) if new != base => client::update(state, &key, new),
        Some(_) => None,
    };
}

/// What the slices are to hold: for each family of addresses at least one, even when it holds nothing.
fn wanted(state: &State, key: &Key, service: &Value) -> Vec<Contents> {
    let families: Vec<String> = items(service, "/spec/ipFamilies")
        .filter_map(|family| family.as_str().map(str::to_owned))
        .collect();
    let families = match families.is_empty() {
        true => vec!["IPv4".to_owned()],
        false => families,
    };
    let pods = selected(state, key, service);
    let by_node = state
        .kinds
        .resource(SLICES)
        .is_some_and(|kind| kind.version == "v1");
    let mut all = Vec::new();
    for family in families {
        let mut own: Vec<Contents> = Vec::new();
        for pod in &pods {
            let Some(endpoint) = endpoint(service, pod, &family, by_node) else {
                continue;
            };
            let ports = ports_of(service, pod);
            let room = own
                .iter_mut()
                .find(|contents| contents.ports == ports && contents.endpoints.len() < MOST);
            match room {
                Some(contents) => contents.endpoints.push(endpoint),
                None => own.push(Contents {
                    family: family.clone(),
                    ports,
                    endpoints: vec![endpoint],
                }),
            }
        }
        if own.is_empty() {
            own.push(Contents {
                family,
                ports: Vec::new(),
                endpoints: Vec::new(),
            });
        }
        all.append(&mut own);
    }
    all
}

fn endpoint(service: &Value, pod: &Value, family: &str, by_node: bool) -> Option<Value> {
    let addresses: Vec<&str> = items(pod, "/status/podIPs")
        .map(|address| text(address, "/ip"))
        .chain(pod.pointer("/status/podIP").and_then(Value::as_str))
        .filter(|address| address.contains(':') == (family == "IPv6"))
        .collect();
    let address = addresses.first()?;
    let (serving, leaving) = (pods::is_ready(pod), is_leaving(pod));
    let ready = tolerates(service) || serving && !leaving;
    let mut endpoint = json!({
        "addresses": [address],
        "conditions": { "ready": ready, "serving": serving, "terminating": leaving },
        "targetRef": target(pod),
    });
    if let Some(hostname) = hostname(service, pod) {
        set(&mut endpoint, &["hostname"], hostname.into());
    }
    if let Some(node) = pod.pointer("/spec/nodeName") {
        let place: &[&str] = match by_node {
            true => &["nodeName"],
            false => &["topology", "kubernetes.io/hostname"],
        };
        set(&mut endpoint, place, node.clone());
    }
    Some(endpoint)
}
