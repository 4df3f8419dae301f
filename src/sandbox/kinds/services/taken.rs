//! Which Service has which address and port, kept up with the store: looking at all Services for each new one would take
//! longer with each of them.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use crate::kinds::defaults::text;
use crate::store::{Key, Store};

/// What Services have, as of some version of the store.
#[derive(Debug, Default)]
pub struct Taken(Mutex<Known>);

/// The same, as of the store's version.
#[derive(Debug, Default)]
pub(super) struct Known {
    version: Option<u64>,
    addresses: BTreeMap<u32, Key>,
    ports: BTreeMap<i64, Key>,
}

impl Taken {
    /// What Services have now.
    pub(super) fn now(&self, store: &Store) -> MutexGuard<'_, Known> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.follow(store);
        known
    }
}

impl Known {
    fn follow(&mut self, store: &Store) {
        let services: Arc<str> = "services".into();
        let changes = self.version.and_then(|version| store.since(version));
        match changes {
            Some(changes) => {
                for change in changes.filter(|change| change.key.resource == services) {
                    if let Some(before) = &change.before {
                        self.forget(&change.key, before);
                    }
                    if let Some(after) = &change.after {
                        self.learn(&change.key, after);
                    }
                }
            }
            None => {
                *self = Self::default();
                for (key, service) in store.list(&services, None) {
                    self.learn(key, service);
                }
            }
        }
        self.version = Some(store.version());
    }

    fn learn(&mut self, key: &Key, service: &Value) {
        if let Some(address) = address(service) {
            self.addresses.insert(address, key.clone());
        }
        for port in ports(service) {
            self.ports.insert(port, key.clone());
        }
    }

    fn forget(&mut self, key: &Key, service: &Value) {
        if let Some(address) = address(service)
            && self.addresses.get(&address) == Some(key)
        {
            self.addresses.remove(&address);
        }
        for port in ports(service) {
            if self.ports.get(&port) == Some(key) {
                self.ports.remove(&port);
            }
        }
    }

    /// Whether another Service than this has an address.
    pub(super) fn has_address(&self, address: u32, but: &Key) -> bool {
        self.addresses
            .get(&address)
            .is_some_and(|owner| owner != but)
    }

    /// The ports that other Services than this have.
    pub(super) fn ports<'a>(&'a self, but: &'a Key) -> impl Iterator<Item = i64> + 'a {
        let others = self.ports.iter().filter(move |(_, owner)| *owner != but);
        others.map(|(port, _)| *port)
    }
}

fn address(service: &Value) -> Option<u32> {
    let spec = service.get("spec")?;
    let address: Ipv4Addr = text(spec, "clusterIP").parse().ok()?;
    Some(address.into())
}

fn ports(service: &Value) -> impl Iterator<Item = i64> {
    let spec = service.get("spec");
    let number = |value: &Value, field: &str| value.get(field).and_then(Value::as_i64);
    let health = spec.and_then(|spec| number(spec, "healthCheckNodePort"));
    let ports = spec
        .and_then(|spec| spec.get("ports")?.as_array())
        .into_iter()
        .flatten();
    ports
        .filter_map(move |port| number(port, "nodePort"))
        .chain(health)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn key(name: &str) -> Key {
        Key {
            resource: "services".into(),
            namespace: "shop".into(),
            name: name.into(),
        }
    }

    #[test]
    fn what_services_have_is_followed() {
        let (mut store, taken) = (Store::default(), Taken::default());
        let address = u32::from(Ipv4Addr::new(10, 96, 0, 7));
        let service = |address: &str, port: u32| json!({ "metadata": {}, "spec": { "clusterIP": address, "ports": [{ "nodePort": port }] } });
        let seen = |store: &Store, by: &str| {
            let known = taken.now(store);
            let but = key(by);
            let ports: Vec<i64> = known.ports(&but).collect();
            (known.has_address(address, &but), ports)
        };
        store.put(key("a"), service("10.96.0.7", 30000));
        assert_eq!(seen(&store, "b"), (true, vec![30000]));
        assert_eq!(seen(&store, "a"), (false, vec![]));
        store.put(key("a"), service("10.96.0.8", 30001));
        assert_eq!(seen(&store, "b"), (false, vec![30001]));
        store.put(key("b"), service("10.96.0.7", 30000));
        assert_eq!(seen(&store, "a"), (true, vec![30000]));
        store.remove(&key("b"));
        assert_eq!(seen(&store, "a"), (false, vec![]));
    }
}
