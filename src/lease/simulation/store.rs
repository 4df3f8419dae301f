//! What an API server does with Leases, as far as it matters here.

use std::collections::BTreeMap;

use super::super::machine::Write;
use super::super::members::Members;
use super::super::peers::Seen;
use super::super::terms::Terms;
use crate::plan::Expected;

/// Leases by the identity of their replica.
#[derive(Default)]
pub struct Store {
    leases: BTreeMap<String, Seen>,
    version: u64,
}

impl Store {
    pub fn list(&self) -> Vec<Seen> {
        self.leases.values().cloned().collect()
    }

    /// Server-side apply. Only what names a version is refused: that is how it is (`tests/it/leases.rs`).
    pub fn write(&mut self, identity: &str, write: &Write, terms: Terms) -> Option<Expected> {
        self.put(identity, &write.view, write.over.as_ref(), terms, true)
    }

    pub fn release(&mut self, identity: &str, over: &Expected, terms: Terms) {
        self.put(identity, &Members::default(), Some(over), terms, false);
    }

    fn put(
        &mut self,
        identity: &str,
        view: &Members,
        over: Option<&Expected>,
        terms: Terms,
        held: bool,
    ) -> Option<Expected> {
        let present = self.leases.get(identity).map(|seen| &seen.version);
        if over.is_some() && over != present {
            return None;
        }
        self.version += 1;
        let uid = present.map_or_else(|| self.version.to_string(), |it| it.uid.clone());
        let version = Expected {
            uid,
            resource_version: self.version.to_string(),
        };
        let seen = Seen {
            identity: identity.to_owned(),
            version: version.clone(),
            held,
            terms,
            view: view.clone(),
        };
        self.leases.insert(identity.to_owned(), seen);
        Some(version)
    }

    pub fn delete(&mut self, identity: &str, version: Option<&Expected>) {
        let present = self.leases.get(identity);
        if version.is_none() || version == present.map(|seen| &seen.version) {
            self.leases.remove(identity);
        }
    }
}
