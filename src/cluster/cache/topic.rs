//! What one watch is about.

use crate::api::names::{AGENT_RECORD, APPLYSET_PART_OF, COMPONENT, MANAGED_BY};
use crate::cluster::Kind;
use crate::plan::StringMap;

/// Which objects of a kind are watched, and how much of each is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::cluster) enum Selection {
    /// Members of apply sets.
    Members,
    /// Services of Targets.
    CoverageServices,
    /// Deployments that carry an agent that was put in.
    Carriers,
    /// What is labelled as managed by us.
    Managed,
    /// All of them.
    All,
    /// All of them, of which only is kept that they are there, and in which version: there may be many that are nothing
    /// to us.
    Presence,
}

impl Selection {
    /// The selector that the server gets.
    pub fn selector(self) -> Option<String> {
        let (managed, component) = (MANAGED_BY, COMPONENT);
        match self {
            Self::Members => Some(APPLYSET_PART_OF.to_owned()),
            Self::CoverageServices => Some(format!(
                "{}={},{}={}",
                managed.0, managed.1, component.0, component.1
            )),
            Self::Carriers => Some(AGENT_RECORD.to_owned()),
            Self::Managed => Some(format!("{}={}", managed.0, managed.1)),
            Self::All | Self::Presence => None,
        }
    }

    /// Tells whether an object with these labels is selected.
    pub fn takes(self, labels: &StringMap) -> bool {
        let has = |(key, value): (&str, &str)| labels.get(key) == Some(value);
        match self {
            Self::Members => labels.contains_key(APPLYSET_PART_OF),
            Self::CoverageServices => has(MANAGED_BY) && has(COMPONENT),
            Self::Carriers => labels.contains_key(AGENT_RECORD),
            Self::Managed => has(MANAGED_BY),
            Self::All | Self::Presence => true,
        }
    }
}

/// What one watch is about.
#[derive(Clone, Debug)]
pub(in crate::cluster) struct Topic {
    pub kind: Kind,
    pub selection: Selection,
    /// The only namespace, if it is not all of them.
    pub namespace: Option<String>,
}

/// Version of the API, kind, and the rest: what makes two topics the same.
pub(super) type TopicKey = (String, String, Selection, Option<String>);

impl Topic {
    pub fn key(&self) -> TopicKey {
        let resource = &self.kind.resource;
        (
            resource.api_version.clone(),
            resource.kind.clone(),
            self.selection,
            self.namespace.clone(),
        )
    }
}

/// `Service (app.kubernetes.io/managed-by=covergence) in shop`, for people.
impl std::fmt::Display for Topic {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.kind.group_kind())?;
        if let Some(selector) = self.selection.selector() {
            write!(f, " ({selector})")?;
        }
        match &self.namespace {
            Some(namespace) => write!(f, " in {namespace}"),
            None => Ok(()),
        }
    }
}
