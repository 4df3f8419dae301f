//! The pods behind the Service of a Target, as far as their agents are to be reached.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};

use serde::Deserialize;

use super::endpoints::{Endpoint, SERVICE_NAME};
use super::read::Part;
use super::{Cluster, ClusterError};
use crate::load::is_subdomain;

/// A pod with an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoveragePod {
    /// Its name; that of an endpoint which is no pod is its address.
    pub name: String,
    /// uid, if it is a pod.
    pub uid: Option<String>,
    /// Its addresses, of either family.
    pub addresses: Vec<IpAddr>,
    /// The port that its agent listens on, if the Service says so.
    pub port: Option<u16>,
    /// Whether it is ready. Agents listen earlier than that, and until the end.
    pub ready: bool,
}

impl CoveragePod {
    /// Where its agent listens, on this port unless the Service names another one.
    pub fn sockets(&self, port: u16) -> Vec<SocketAddr> {
        let port = self.port.unwrap_or(port);
        let addresses = self.addresses.iter();
        addresses.map(|ip| SocketAddr::new(*ip, port)).collect()
    }
}

/// What is read of an EndpointSlice. What others may have written into it is read leniently, each endpoint by itself.
#[derive(Debug, Deserialize)]
struct WireSlice {
    endpoints: Option<Vec<Endpoint>>,
    ports: Option<Vec<Port>>,
}

#[derive(Debug, Deserialize)]
struct Port {
    port: Option<i64>,
}

impl Cluster {
    /// Reads which pods stand behind a Service, by name; a pod that has addresses of both families is one.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn coverage_pods(
        &self,
        namespace: &str,
        service: &str,
    ) -> Result<Vec<CoveragePod>, ClusterError> {
        let Some(kind) = self.slice_kind().await? else {
            let message = "this API server has no EndpointSlices (they are there since v1.17)";
            return Err(ClusterError::Invalid(message.into()));
        };
        let selector = format!("{SERVICE_NAME}={service}");
        let slices = self
            .list::<WireSlice>(&kind, Some(namespace), Some(&selector), Part::Whole)
            .await?;
        Ok(pods(slices))
    }
}

fn pods(slices: Vec<WireSlice>) -> Vec<CoveragePod> {
    let mut pods: BTreeMap<(String, Option<String>), CoveragePod> = BTreeMap::new();
    for WireSlice { endpoints, ports } in slices {
        let port = ports.into_iter().flatten().find_map(|it| it.port);
        let port = port.and_then(|port| u16::try_from(port).ok());
        for endpoint in endpoints.into_iter().flatten() {
            let Some(pod) = pod(endpoint, port) else {
                continue;
            };
            let key = (pod.name.clone(), pod.uid.clone());
            let known = pods.entry(key).or_insert_with(|| CoveragePod {
                addresses: Vec::new(),
                ready: false,
                ..pod.clone()
            });
            for address in pod.addresses {
                if !known.addresses.contains(&address) {
                    known.addresses.push(address);
                }
            }
            known.ready |= pod.ready;
            known.port = known.port.or(pod.port);
        }
    }
    pods.into_values().collect()
}

/// Reads an endpoint. A name that is none leads elsewhere when it is part of a path, so there is no such pod.
fn pod(endpoint: Endpoint, port: Option<u16>) -> Option<CoveragePod> {
    let ready = endpoint.is_ready();
    let addresses = endpoint.addresses.into_iter().flatten();
    let addresses: Vec<IpAddr> = addresses.filter_map(|it| it.parse().ok()).collect();
    let target = endpoint
        .target_ref
        .filter(|target| target.kind.as_deref() == Some("Pod"));
    let pod = target.and_then(|target| Some((target.name?, target.uid?)));
    let (name, uid) = match pod {
        Some((name, uid)) if is_subdomain(&name) => (name, Some(uid)),
        _ => (addresses.first()?.to_string(), None),
    };
    Some(CoveragePod {
        name,
        uid,
        addresses,
        port,
        ready,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(slices: serde_json::Value) -> Vec<CoveragePod> {
        pods(serde_json::from_value(slices).unwrap())
    }

    #[test]
    fn a_pod_is_one_however_many_addresses_it_has() {
        let endpoint = |address: &str, pod: &str, ready: bool| {
            json!({
                "addresses": [address], "conditions": { "ready": ready },
                "targetRef": { "kind": "Pod", "name": pod, "uid": format!("uid-{pod}") },
            })
        };
        let found = read(json!([
            { "ports": [{ "port": 6300 }], "endpoints": [endpoint("10.0.0.2", "pet-b", false), endpoint("10.0.0.1", "pet-a", true)] },
            { "ports": [{ "port": 6300 }], "endpoints": [endpoint("fd00::1", "pet-a", true)] },
            { "ports": null, "endpoints": null },
        ]));
        let seen: Vec<_> = found
            .iter()
            .map(|pod| (pod.name.as_str(), pod.addresses.len(), pod.ready, pod.port))
            .collect();
        let expected = [
            ("pet-a", 2, true, Some(6300)),
            ("pet-b", 1, false, Some(6300)),
        ];
        assert_eq!(seen, expected);
    }

    #[test]
    fn a_name_that_would_lead_elsewhere_is_no_pod() {
        let found = read(json!([{ "endpoints": [
            { "addresses": ["10.0.0.1"], "targetRef": { "kind": "Pod", "name": "../../secrets", "uid": "u" } },
            { "addresses": ["10.0.0.2"], "targetRef": { "kind": "Node", "name": "n", "uid": "u" } },
            { "addresses": ["pods.example"] },
        ] }]));
        let seen: Vec<_> = found
            .iter()
            .map(|pod| (pod.name.as_str(), &pod.uid))
            .collect();
        assert_eq!(seen, [("10.0.0.1", &None), ("10.0.0.2", &None)]);
    }
}
