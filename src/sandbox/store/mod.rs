//! All objects, and what happened to them lately.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use serde_json::Value;

/// How many changes are remembered for watches; who asks for older ones is told to list again.
const REMEMBERED: usize = 4_000;

/// Where an object is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Kind, as [`super::types::Kind::resource`] names it.
    pub resource: Arc<str>,
    /// Namespace; empty for none.
    pub namespace: String,
    /// Name.
    pub name: String,
}

/// One change.
#[derive(Clone, Debug)]
pub struct Change {
    /// Resource version that it led to.
    pub version: u64,
    /// What changed.
    pub key: Key,
    /// As it was; `None` when it is new.
    pub before: Option<Arc<Value>>,
    /// As it is; `None` when it is gone.
    pub after: Option<Arc<Value>>,
}

/// The objects, in the order of etcd: by kind, namespace and name.
#[derive(Debug, Default)]
pub struct Store {
    objects: BTreeMap<Key, Arc<Value>>,
    version: u64,
    changes: VecDeque<Change>,
    /// The newest version that is not remembered any more.
    forgotten: u64,
}

impl Store {
    /// The version of the last change.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// An object.
    pub fn get(&self, key: &Key) -> Option<&Arc<Value>> {
        self.objects.get(key)
    }

    /// The objects of a kind, of one namespace or of all, in order.
    pub fn list<'a>(
        &'a self,
        resource: &Arc<str>,
        namespace: Option<&'a str>,
    ) -> impl Iterator<Item = (&'a Key, &'a Arc<Value>)> + use<'a> {
        let first = Key {
            resource: resource.clone(),
            namespace: namespace.unwrap_or_default().to_owned(),
            name: String::new(),
        };
        let resource = resource.clone();
        self.objects.range(first..).take_while(move |(key, _)| {
            key.resource == resource && namespace.is_none_or(|wanted| key.namespace == wanted)
        })
    }

    /// All objects.
    pub fn all(&self) -> impl Iterator<Item = (&Key, &Arc<Value>)> {
        self.objects.iter()
    }

    /// Puts an object in its place, at a new resource version that it is given, and returns it.
    pub fn put(&mut self, key: Key, mut object: Value) -> Arc<Value> {
        self.version += 1;
        stamp(&mut object, self.version);
        let object = Arc::new(object);
        let before = self.objects.insert(key.clone(), object.clone());
        self.remember(key, before, Some(object.clone()));
        object
    }

    /// Puts an object in its place just as it is, with its own resource version: for what was saved elsewhere.
    pub fn load(&mut self, key: Key, object: Value) {
        let version = object
            .pointer("/metadata/resourceVersion")
            .and_then(Value::as_str)
            .and_then(|version| version.parse().ok());
        self.version = self.version.max(version.unwrap_or(0));
        self.forgotten = self.version;
        self.objects.insert(key, Arc::new(object));
    }

    /// Takes an object away for good, and returns its last state, which has the version of its removal.
    pub fn remove(&mut self, key: &Key) -> Option<Arc<Value>> {
        let object = self.objects.remove(key)?;
        self.version += 1;
        let last = stamped(&object, self.version);
        self.remember(key.clone(), Some(object), None);
        Some(last)
    }

    /// What happened after a version; `None` when that is not remembered any more.
    pub fn since(&self, version: u64) -> Option<impl Iterator<Item = &Change>> {
        if version < self.forgotten {
            return None;
        }
        let start = self
            .changes
            .partition_point(|change| change.version <= version);
        Some(self.changes.range(start..))
    }

    fn remember(&mut self, key: Key, before: Option<Arc<Value>>, after: Option<Arc<Value>>) {
        if self.changes.len() == REMEMBERED
            && let Some(oldest) = self.changes.pop_front()
        {
            self.forgotten = oldest.version;
        }
        self.changes.push_back(Change {
            version: self.version,
            key,
            before,
            after,
        });
    }
}

/// An object as at another version.
pub fn stamped(object: &Value, version: u64) -> Arc<Value> {
    let mut object = object.clone();
    stamp(&mut object, version);
    Arc::new(object)
}

fn stamp(object: &mut Value, version: u64) {
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("resourceVersion".to_owned(), version.to_string().into());
    }
}
