//! All kinds that are served.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Kind;

/// The kinds, found by path or by kind.
#[derive(Clone, Debug, Default)]
pub struct Registry {
    by_path: BTreeMap<(String, String, String), Arc<Kind>>,
}

impl Registry {
    /// Adds a kind, or puts it in the place of what was served under its path.
    pub fn add(&mut self, kind: Kind) -> Arc<Kind> {
        let kind = Arc::new(kind);
        let path = (
            kind.group.clone(),
            kind.version.clone(),
            kind.plural.clone(),
        );
        self.by_path.insert(path, kind.clone());
        kind
    }

    /// Takes away all kinds of a CustomResourceDefinition.
    pub fn remove_custom(&mut self, definition: &str) {
        self.by_path.retain(
            |_, kind| !matches!(&kind.origin, super::Origin::Custom(name) if name == definition),
        );
    }

    /// The kind at `/apis/{group}/{version}/{plural}`.
    pub fn at(&self, group: &str, version: &str, plural: &str) -> Option<&Arc<Kind>> {
        let path = (group.to_owned(), version.to_owned(), plural.to_owned());
        self.by_path.get(&path)
    }

    /// The kind of an object's `apiVersion` and `kind`.
    pub fn of(&self, api_version: &str, kind: &str) -> Option<&Arc<Kind>> {
        let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
        self.in_group(group)
            .find(|k| k.version == version && k.kind == kind)
    }

    /// Any version of the kind that [`Kind::resource`] names so.
    pub fn resource(&self, resource: &str) -> Option<&Arc<Kind>> {
        let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
        self.in_group(group).find(|kind| kind.plural == plural)
    }

    /// Whether there is anything at `/apis/{group}/{version}`.
    pub fn serves(&self, group: &str, version: &str) -> bool {
        self.in_group(group).any(|kind| kind.version == version)
    }

    /// Those of a group, by version and plural.
    pub fn in_group(&self, group: &str) -> impl Iterator<Item = &Arc<Kind>> {
        let first = (group.to_owned(), String::new(), String::new());
        let from_there = self.by_path.range(first..).map(|(_, kind)| kind);
        from_there.take_while(move |kind| kind.group == group)
    }

    /// All of them, by group, version and plural.
    pub fn all(&self) -> impl Iterator<Item = &Arc<Kind>> {
        self.by_path.values()
    }
}
