//! Rights as they add up, and the fewest rules that say them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

/// What is done to objects, in the words of RBAC, in the order in which rules list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verb {
    /// Read one.
    Get,
    /// Read all of a kind.
    List,
    /// Follow all of a kind.
    Watch,
    /// Make one.
    Create,
    /// Apply to one.
    Patch,
    /// Delete one.
    Delete,
}

/// A resource as roles name it: plural, with a subresource as in `syncs/status`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Resource {
    pub group: String,
    pub name: String,
}

impl Resource {
    pub(super) fn new(group: &str, name: &str) -> Self {
        Self {
            group: group.to_owned(),
            name: name.to_owned(),
        }
    }
}

/// One rule of a Role or ClusterRole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// API group of the resources. One, since a rule over several would allow each resource in each group.
    pub group: String,
    /// Resources with the same verbs.
    pub resources: BTreeSet<String>,
    /// Names of the objects it is limited to; empty when it is for all.
    pub names: BTreeSet<String>,
    /// What may be done.
    pub verbs: BTreeSet<Verb>,
}

/// Rules by namespace; those without one are for the whole cluster.
pub type Rules = BTreeMap<Option<String>, Vec<Rule>>;

type Verbs = BTreeSet<Verb>;

/// Verbs by name; those without one are for all objects.
type ByName = BTreeMap<Option<String>, Verbs>;

/// Rights as they add up, by namespace and resource.
#[derive(Default)]
pub(super) struct Grants(BTreeMap<Option<String>, BTreeMap<Resource, ByName>>);

impl Grants {
    /// Adds verbs on one object of a resource, or on all.
    pub(super) fn allow(
        &mut self,
        namespace: Option<&str>,
        resource: &Resource,
        name: Option<&str>,
        verbs: &[Verb],
    ) {
        if verbs.is_empty() {
            return;
        }
        let resources = self.0.entry(namespace.map(str::to_owned)).or_default();
        let names = resources.entry(resource.clone()).or_default();
        let allowed = names.entry(name.map(str::to_owned)).or_default();
        allowed.extend(verbs);
    }

    /// Says the same in as few rules as no further right allows.
    pub(super) fn rules(self) -> Rules {
        let merged = |resources: BTreeMap<Resource, ByName>| {
            let mut rules: BTreeMap<(String, BTreeSet<String>, Verbs), BTreeSet<String>> =
                BTreeMap::new();
            for (resource, names) in resources {
                for (verbs, names) in by_verbs(names) {
                    let key = (resource.group.clone(), names, verbs);
                    rules.entry(key).or_default().insert(resource.name.clone());
                }
            }
            let rule = |((group, names, verbs), resources)| Rule {
                group,
                resources,
                names,
                verbs,
            };
            rules.into_iter().map(rule).collect()
        };
        self.0
            .into_iter()
            .map(|(namespace, resources)| (namespace, merged(resources)))
            .collect()
    }
}

/// Groups the names of a resource by what is allowed on them beyond what is allowed on all.
fn by_verbs(mut names: ByName) -> Vec<(Verbs, BTreeSet<String>)> {
    let on_all = names.remove(&None).unwrap_or_default();
    let mut named: BTreeMap<Verbs, BTreeSet<String>> = BTreeMap::new();
    for (name, verbs) in names {
        let more: Verbs = verbs.difference(&on_all).copied().collect();
        named.entry(more).or_default().extend(name);
    }
    let all = (on_all, BTreeSet::new());
    std::iter::once(all)
        .chain(named)
        .filter(|(verbs, _)| !verbs.is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::Verb::{Create, Get, List, Patch};
    use super::*;

    #[test]
    fn rules_say_no_more_and_no_less_than_was_allowed() {
        let (maps, services) = (
            Resource::new("", "configmaps"),
            Resource::new("", "services"),
        );
        let mut grants = Grants::default();
        grants.allow(Some("n"), &maps, None, &[Get, List]);
        grants.allow(Some("n"), &services, None, &[List, Get]);
        grants.allow(
            Some("n"),
            &Resource::new("x.org", "configmaps"),
            None,
            &[Get, List],
        );
        grants.allow(Some("n"), &maps, Some("a"), &[Get, Patch]);
        grants.allow(Some("n"), &maps, Some("b"), &[Patch]);
        grants.allow(Some("n"), &maps, Some("c"), &[Patch, Create]);
        grants.allow(Some("n"), &maps, Some("d"), &[Get]);
        grants.allow(None, &maps, None, &[]);
        let set = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        let rule = |group: &str, resources: &[&str], names: &[&str], verbs: &[Verb]| Rule {
            group: group.into(),
            resources: set(resources),
            names: set(names),
            verbs: verbs.iter().copied().collect(),
        };
        let expected = vec![
            rule("", &["configmaps", "services"], &[], &[Get, List]),
            rule("", &["configmaps"], &["a", "b"], &[Patch]),
            rule("", &["configmaps"], &["c"], &[Create, Patch]),
            rule("x.org", &["configmaps"], &[], &[Get, List]),
        ];
        assert_eq!(
            grants.rules(),
            BTreeMap::from([(Some("n".into()), expected)])
        );
    }
}
