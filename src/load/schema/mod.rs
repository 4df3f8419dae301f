//! Offline checks of documents against schemas: misspelt fields, wrong types, missing fields, with their places.
//!
//! The table of built-in kinds unites an old and several new releases of Kubernetes, so a field is called unknown only
//! when none of them has it, and missing only when all of them require it. A kind without a schema is the cluster's
//! to judge.

mod bounds;
mod builtin;
mod check;
mod custom;
mod forms;
mod kinds;
mod nesting;
mod pattern;
mod quantities;
mod quantity;
mod shape;
mod suggest;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use serde_json::Value;

pub use builtin::builtin_scope;
pub use quantities::spell_quantities;
pub(super) use quantity::nanos;
pub(super) use suggest::{distance, nearest};

use super::{Diagnostic, Document};
use crate::api::{GroupKind, Scope, split_api_version};

/// What is known of kinds without asking a cluster: those built in, and those that given CRDs define.
#[derive(Default)]
pub struct Schemas {
    custom: BTreeMap<GroupKind, custom::Definition>,
}

impl Schemas {
    /// Takes CRDs of `apiextensions.k8s.io/v1` or `v1beta1`. What is not a CRD is passed over; of two with the same
    /// group and kind the later counts.
    pub fn new<'a>(crds: impl IntoIterator<Item = &'a Value>) -> Self {
        let definitions = crds.into_iter().filter_map(custom::definition);
        Self {
            custom: definitions
                .map(|d| (GroupKind::new(d.group.clone(), d.kind.clone()), d))
                .collect(),
        }
    }

    /// Takes the CRDs that stand among a source's documents, and others.
    pub fn of_source(documents: &[Document], others: &[Value]) -> Self {
        let definitions = |d: &&Document| d.id.group_kind.kind == "CustomResourceDefinition";
        let in_source: Vec<Value> = documents
            .iter()
            .filter(definitions)
            .map(|d| d.root.to_json())
            .collect();
        Self::new(others.iter().chain(&in_source))
    }

    /// Checks a document. Errors are what the API would refuse (server-side apply refuses unknown fields too); a
    /// warning says that there is no schema. [`add_excerpts`](super::add_excerpts) gives them their lines.
    pub fn check(&self, document: &Document) -> Vec<Diagnostic> {
        let Document {
            origin,
            id,
            api_version,
            root,
        } = document;
        let (group, version) = split_api_version(api_version);
        let mut walk = check::Walk::new(origin.file.clone());
        let custom = self
            .custom
            .get(&id.group_kind)
            .and_then(|d| d.versions.get(version));
        if let Some(schema) = custom {
            walk.custom_root(root, schema);
        } else if let Some(fields) = builtin::fields_of(group, version, &id.group_kind.kind) {
            walk.builtin_root(root, fields);
        } else {
            return vec![kinds::without_schema(
                document,
                self.versions(&id.group_kind),
            )];
        }
        walk.findings
    }

    /// The versions of a kind that a given CRD has schemas for.
    fn versions(&self, group_kind: &GroupKind) -> Vec<&str> {
        let definition = self.custom.get(group_kind);
        let versions = definition.into_iter().flat_map(|d| d.versions.keys());
        versions.map(String::as_str).collect()
    }

    /// Tells whether a given CRD defines a kind.
    pub fn defines(&self, group_kind: &GroupKind) -> bool {
        self.custom.contains_key(group_kind)
    }

    /// Tells whether objects of a kind that a given CRD defines in this version live in namespaces.
    pub fn defined_scope(&self, api_version: &str, kind: &str) -> Option<Scope> {
        let (group, version) = split_api_version(api_version);
        let definition = self.custom.get(&GroupKind::new(group, kind))?;
        definition
            .versions
            .contains_key(version)
            .then_some(definition.scope)?
    }

    /// Tells whether objects of a kind live in namespaces, when that is known here.
    pub fn scope(&self, group_kind: &GroupKind) -> Option<Scope> {
        match self.custom.get(group_kind) {
            Some(definition) => definition.scope,
            None => builtin_scope(group_kind),
        }
    }

    /// The resource that a kind's objects are addressed by, as roles name it, when that is known here.
    pub fn plural(&self, group_kind: &GroupKind) -> Option<&str> {
        match self.custom.get(group_kind) {
            Some(definition) => definition.plural.as_deref(),
            None => builtin::builtin_plural(group_kind),
        }
    }
}
