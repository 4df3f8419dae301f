//! What an apply set may hold, as the annotations of its parent say it in kubectl's words.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api::names::{APPLYSET_GROUP_KINDS, APPLYSET_NAMESPACES};
use crate::api::{GroupKind, ObjectId};

/// Where members of an apply set may be found.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Kinds.
    pub group_kinds: BTreeSet<GroupKind>,
    /// Namespaces; that of the parent goes without saying.
    pub namespaces: BTreeSet<String>,
}

impl Inventory {
    /// Reads it from the live parent; empty when there is none.
    pub fn read(parent: Option<&Value>) -> Self {
        let annotations = parent.and_then(|parent| parent.pointer("/metadata/annotations"));
        let list = |key: &str| {
            let text = annotations
                .and_then(|a| a.get(key))
                .and_then(Value::as_str)
                .unwrap_or_default();
            text.split(',')
                .map(str::trim)
                .filter(|part| !part.is_empty())
        };
        Self {
            group_kinds: list(APPLYSET_GROUP_KINDS)
                .map(|text| {
                    text.split_once('.')
                        .map_or_else(|| GroupKind::new("", text), |(k, g)| GroupKind::new(g, k))
                })
                .collect(),
            // Anybody may write annotations; what cannot be a namespace must not become part of a URL.
            namespaces: list(APPLYSET_NAMESPACES)
                .filter(|name| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-'))
                .map(str::to_owned)
                .collect(),
        }
    }

    /// The least inventory that finds all of these objects.
    pub fn of<'a>(ids: impl Iterator<Item = &'a ObjectId>) -> Self {
        let mut inventory = Self::default();
        for id in ids {
            if !inventory.group_kinds.contains(&id.group_kind) {
                inventory.group_kinds.insert(id.group_kind.clone());
            }
            if let Some(namespace) = id.namespace.as_ref()
                && !inventory.namespaces.contains(namespace)
            {
                inventory.namespaces.insert(namespace.clone());
            }
        }
        inventory
    }

    /// The inventory that finds what either of them does.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            group_kinds: self
                .group_kinds
                .union(&other.group_kinds)
                .cloned()
                .collect(),
            namespaces: self.namespaces.union(&other.namespaces).cloned().collect(),
        }
    }

    /// The annotations that a parent in `own_namespace` says it with, sorted as kubectl sorts them.
    pub fn annotations(&self, own_namespace: &str) -> [(&'static str, String); 2] {
        let mut kinds: Vec<String> = self.group_kinds.iter().map(ToString::to_string).collect();
        kinds.sort_unstable();
        let others: Vec<&str> = self
            .namespaces
            .iter()
            .map(String::as_str)
            .filter(|namespace| *namespace != own_namespace)
            .collect();
        [
            (APPLYSET_GROUP_KINDS, kinds.join(",")),
            (APPLYSET_NAMESPACES, others.join(",")),
        ]
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_parent_says_is_read_back_but_for_its_own_namespace() {
        let id = |group: &str, kind: &str, namespace: &str| ObjectId {
            group_kind: GroupKind::new(group, kind),
            namespace: Some(namespace.into()),
            name: "a".into(),
        };
        let ids = [
            id("networking.k8s.io", "Ingress", "shop"),
            id("", "Secret", "ops"),
            id("apps", "Deployment", "shop"),
        ];
        let inventory = Inventory::of(ids.iter());
        let [kinds, namespaces] = inventory.annotations("ops");
        assert_eq!(kinds.1, "Deployment.apps,Ingress.networking.k8s.io,Secret");
        assert_eq!(namespaces.1, "shop");
        let parent = json!({ "metadata": { "annotations": { kinds.0: kinds.1, namespaces.0: namespaces.1 } } });
        let read = Inventory::read(Some(&parent));
        assert_eq!(read.group_kinds, inventory.group_kinds);
        assert_eq!(read.namespaces, ["shop".to_owned()].into());
        assert_eq!(read.union(&inventory), inventory);
        assert_eq!(Inventory::read(None), Inventory::default());
    }
}
