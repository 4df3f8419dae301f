//! What the parent of an apply set says the set may hold.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::api::GroupKind;
use crate::api::names::{APPLYSET_GROUP_KINDS, APPLYSET_NAMESPACES};

/// What the parent's annotations say the set may hold.
#[derive(Debug, Default)]
pub struct Inventory {
    /// Kinds.
    pub group_kinds: BTreeSet<GroupKind>,
    /// Namespaces other than the parent's.
    pub namespaces: BTreeSet<String>,
}

impl Inventory {
    /// Reads it from the live parent.
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
}
