//! Discovery of just the kinds in use: a request for each `apiVersion`, not for all that a server has.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::APIResourceList;
use kube::core::ApiResource;

use super::{Cluster, ClusterError};
use crate::api::{GroupKind, Scope, Sync, split_api_version};

/// A kind that the API server serves.
#[derive(Clone, Debug)]
pub struct Kind {
    /// How to address it.
    pub resource: ApiResource,
    /// Whether its objects live in namespaces.
    pub scope: Scope,
    /// Whether its objects can be listed and deleted.
    pub listable: bool,
}

impl Kind {
    /// Our own kind `Sync`, whether or not the server has it.
    pub fn sync() -> Self {
        Self {
            resource: ApiResource::erase::<Sync>(&()),
            scope: Scope::Namespaced,
            listable: true,
        }
    }

    /// Its group and kind, without a version.
    pub fn group_kind(&self) -> GroupKind {
        GroupKind::new(&self.resource.group, &self.resource.kind)
    }
}

/// Kinds that the API server serves, by `apiVersion` and kind.
#[derive(Clone, Debug, Default)]
pub struct Kinds(BTreeMap<(String, String), Kind>);

impl Kinds {
    /// Finds a kind in a version.
    pub fn get(&self, api_version: &str, kind: &str) -> Option<&Kind> {
        self.0.get(&(api_version.to_owned(), kind.to_owned()))
    }

    /// Finds a kind in any of the versions that were asked for.
    pub fn any_version(&self, kind: &GroupKind) -> Option<&Kind> {
        self.0
            .values()
            .find(|k| k.resource.group == kind.group && k.resource.kind == kind.kind)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Kind> {
        self.0.values()
    }

    /// Adds those of another answer.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Leaves each kind in the first of these versions that has it.
    fn in_first_of(self, versions: &[String]) -> Self {
        let mut kinds: Vec<_> = self.0.into_iter().collect();
        kinds.sort_by_key(|((version, _), _)| versions.iter().position(|v| v == version));
        let mut seen = BTreeSet::new();
        kinds.retain(|(_, kind)| seen.insert(kind.group_kind()));
        Self(kinds.into_iter().collect())
    }
}

impl Cluster {
    /// Asks for the kinds of some `apiVersion`s; one that is not served yields none.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn kinds(&self, api_versions: &BTreeSet<String>) -> Result<Kinds, ClusterError> {
        let lists =
            try_join_all(api_versions.iter().map(|version| self.resources(version))).await?;
        let mut kinds = Kinds::default();
        for (api_version, list) in api_versions.iter().zip(lists) {
            for resource in list.into_iter().flat_map(|list| list.resources) {
                // `pods/status` and the like are not kinds of their own.
                if resource.name.contains('/') {
                    continue;
                }
                let (group, version) = split_api_version(api_version);
                let scope = if resource.namespaced {
                    Scope::Namespaced
                } else {
                    Scope::Cluster
                };
                let can = |verb: &str| resource.verbs.iter().any(|v| v == verb);
                let listable = can("list") && can("delete");
                kinds.0.insert(
                    (api_version.clone(), resource.kind.clone()),
                    Kind {
                        resource: ApiResource {
                            group: group.to_owned(),
                            version: version.to_owned(),
                            api_version: api_version.clone(),
                            kind: resource.kind,
                            plural: resource.name,
                        },
                        scope,
                        listable,
                    },
                );
            }
        }
        Ok(kinds)
    }

    /// Asks for all kinds of some groups, each in the version of its own that the server prefers.
    ///
    /// A group's preferred version need not have them all: v1.20 prefers `batch/v1`, which has no CronJob there.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn preferred_kinds(
        &self,
        groups: impl Fn(&str) -> bool,
    ) -> Result<Kinds, ClusterError> {
        let list = self.client.list_api_groups().await?;
        let mut versions = Vec::new();
        if groups("") {
            versions.push("v1".to_owned());
        }
        for group in list.groups.into_iter().filter(|g| groups(&g.name)) {
            let all = group.preferred_version.into_iter().chain(group.versions);
            versions.extend(all.map(|version| version.group_version));
        }
        let kinds = self.kinds(&versions.iter().cloned().collect()).await?;
        Ok(kinds.in_first_of(&versions))
    }

    async fn resources(&self, api_version: &str) -> Result<Option<APIResourceList>, ClusterError> {
        let answer = match split_api_version(api_version) {
            ("", version) => self.client.list_core_api_resources(version).await,
            _ => self.client.list_api_group_resources(api_version).await,
        };
        match answer.map_err(ClusterError::from) {
            Ok(list) => Ok(Some(list)),
            Err(ClusterError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_found_in_the_first_version_that_has_it() {
        let of = |version: &str, kind: &str| {
            let (group, name) = split_api_version(version);
            let resource = ApiResource {
                group: group.into(),
                version: name.into(),
                api_version: version.into(),
                kind: kind.into(),
                plural: kind.to_lowercase(),
            };
            let kind = Kind {
                resource,
                scope: Scope::Namespaced,
                listable: true,
            };
            ((version.to_owned(), kind.resource.kind.clone()), kind)
        };
        let all = [
            of("batch/v1beta1", "CronJob"),
            of("batch/v1beta1", "Job"),
            of("batch/v1", "Job"),
        ];
        let kinds = Kinds(all.into()).in_first_of(&["batch/v1".into(), "batch/v1beta1".into()]);
        let version = |kind| {
            let kind = kinds.any_version(&GroupKind::new("batch", kind));
            kind.map(|kind| kind.resource.api_version.as_str())
        };
        assert_eq!(version("Job"), Some("batch/v1"));
        assert_eq!(version("CronJob"), Some("batch/v1beta1"));
        assert_eq!(kinds.iter().count(), 2);
    }
}
