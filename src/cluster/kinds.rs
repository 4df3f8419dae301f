//! Discovery of just the kinds in use: a request for each `apiVersion`, not for all that a server has.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use http::Request;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroupList, APIResourceList};
use kube::core::ApiResource;
use tokio::time::timeout;

use super::read::segment;
use super::send::Verb;
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

    /// All of them, each in one version.
    pub fn each(&self) -> impl Iterator<Item = &Kind> {
        let mut seen = BTreeSet::new();
        self.0
            .values()
            .filter(move |kind| seen.insert((&kind.resource.group, &kind.resource.kind)))
    }

    /// Adds those of another answer.
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
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

    /// Asks for the kinds of some groups, in all their versions: not every kind is in the one that a group prefers
    /// (v1.20 prefers `batch/v1`, and has CronJobs only in `batch/v1beta1`).
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn kinds_of_groups(
        &self,
        groups: impl Fn(&str) -> bool,
    ) -> Result<Kinds, ClusterError> {
        let mut versions = self.api_versions().await?;
        versions.retain(|version| groups(split_api_version(version).0));
        self.kinds(&versions).await
    }

    /// Asks for all kinds, and names the `apiVersion`s whose kinds cannot be told in `within`: an aggregated API may be
    /// down, and must not stop everything else.
    ///
    /// # Errors
    /// When the server cannot be asked at all.
    pub async fn all_kinds(&self, within: Duration) -> Result<(Kinds, Vec<String>), ClusterError> {
        let versions = self.api_versions().await?;
        let answers = versions.into_iter().map(|version| async move {
            let one = BTreeSet::from([version.clone()]);
            (version, timeout(within, self.kinds(&one)).await)
        });
        let (mut kinds, mut silent) = (Kinds::default(), Vec::new());
        for (version, answer) in join_all(answers).await {
            match answer {
                Ok(Ok(found)) => kinds.extend(found),
                _ => silent.push(version),
            }
        }
        Ok((kinds, silent))
    }

    async fn api_versions(&self) -> Result<BTreeSet<String>, ClusterError> {
        let list: APIGroupList = self.read(Verb::Get, get("/apis")?).await?;
        let versions = list.groups.into_iter().flat_map(|group| group.versions);
        let mut versions: BTreeSet<String> = versions.map(|v| v.group_version).collect();
        versions.insert("v1".into());
        Ok(versions)
    }

    async fn resources(&self, api_version: &str) -> Result<Option<APIResourceList>, ClusterError> {
        let path = match split_api_version(api_version) {
            ("", version) => format!("/api/{}", segment(version)),
            (group, version) => format!("/apis/{}/{}", segment(group), segment(version)),
        };
        match self.read(Verb::Get, get(&path)?).await {
            Ok(list) => Ok(Some(list)),
            Err(ClusterError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn get(path: &str) -> Result<Request<Vec<u8>>, ClusterError> {
    Request::get(path)
        .body(Vec::new())
        .map_err(|error| ClusterError::Invalid(error.to_string()))
}
