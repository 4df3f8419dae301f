//! Discovery of just the kinds in use: a request for each `apiVersion`, not for all that a server has.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::future::{join_all, try_join_all};
use http::Request;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{APIGroupList, APIResourceList};
use kube::core::ApiResource;
use tokio::time::timeout;

use super::read::segment;
use super::{Cluster, ClusterError};
use crate::api::names::GROUP;
use crate::api::{ClosureJVMCampaign, ClosureJVMTarget, GroupKind, Scope, Sync, split_api_version};
use crate::metrics::ApiVerb;

/// A kind that the API server serves.
#[derive(Clone, Debug)]
pub struct Kind {
    /// How to address it.
    pub resource: ApiResource,
    /// Whether its objects live in namespaces.
    pub scope: Scope,
    /// Whether its objects can be listed and deleted.
    pub listable: bool,
    /// Whether they can be watched: not every aggregated API does that.
    pub watchable: bool,
}

impl Kind {
    /// Our own kind `Sync`, whether or not the server has it.
    pub fn sync() -> Self {
        Self {
            resource: ApiResource::erase::<Sync>(&()),
            scope: Scope::Namespaced,
            listable: true,
            watchable: true,
        }
    }

    /// Our own kind `ClosureJVMTarget`, whether or not the server has it.
    pub fn target() -> Self {
        Self {
            resource: ApiResource::erase::<ClosureJVMTarget>(&()),
            ..Self::sync()
        }
    }

    /// Our own kind `ClosureJVMCampaign`, whether or not the server has it.
    pub fn campaign() -> Self {
        Self {
            resource: ApiResource::erase::<ClosureJVMCampaign>(&()),
            ..Self::sync()
        }
    }

    /// The built-in kind Deployment.
    pub fn deployment() -> Self {
        Self {
            resource: ApiResource::erase::<Deployment>(&()),
            ..Self::sync()
        }
    }

    /// The built-in kind Namespace.
    pub fn namespace() -> Self {
        let resource = ApiResource::erase::<Namespace>(&());
        Self {
            resource,
            scope: Scope::Cluster,
            listable: true,
            watchable: true,
        }
    }

    /// The built-in kind Pod.
    pub fn pod() -> Self {
        let resource = ApiResource::erase::<Pod>(&());
        Self {
            resource,
            scope: Scope::Namespaced,
            listable: true,
            watchable: true,
        }
    }

    /// The built-in kind CustomResourceDefinition.
    pub fn definition() -> Self {
        let resource = ApiResource::erase::<CustomResourceDefinition>(&());
        Self {
            resource,
            scope: Scope::Cluster,
            listable: true,
            watchable: true,
        }
    }

    /// Tells whether it is one of our own kinds.
    pub(super) fn is_ours(&self) -> bool {
        self.resource.group == GROUP
    }

    /// Tells whether it is this kind, in whatever version.
    pub(super) fn is(&self, kind: &GroupKind) -> bool {
        self.resource.group == kind.group && self.resource.kind == kind.kind
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
    fn of_list(api_version: &str, list: APIResourceList) -> Self {
        let (group, version) = split_api_version(api_version);
        // `pods/status` and the like are not kinds of their own.
        let resources = list.resources.into_iter().filter(|r| !r.name.contains('/'));
        let kinds = resources.map(|resource| {
            let scope = if resource.namespaced {
                Scope::Namespaced
            } else {
                Scope::Cluster
            };
            let can = |verb: &str| resource.verbs.iter().any(|v| v == verb);
            let listable = can("list") && can("delete");
            let key = (api_version.to_owned(), resource.kind.clone());
            let resource = ApiResource {
                group: group.to_owned(),
                version: version.to_owned(),
                api_version: api_version.to_owned(),
                kind: resource.kind,
                plural: resource.name,
            };
            let kind = Kind {
                resource,
                scope,
                listable,
                watchable: can("watch"),
            };
            (key, kind)
        });
        Self(kinds.collect())
    }

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
        let answers = api_versions.iter().map(|version| async {
            match &self.cache {
                Some(cache) => cache.kinds(self, version).await,
                None => self.ask_kinds(version).await,
            }
        });
        let mut kinds = Kinds::default();
        for found in try_join_all(answers).await?.into_iter().flatten() {
            kinds.extend(found);
        }
        Ok(kinds)
    }

    /// Asks the server for the kinds of an `apiVersion`, if it serves it.
    pub(super) async fn ask_kinds(&self, api_version: &str) -> Result<Option<Kinds>, ClusterError> {
        let list = self.resources(api_version).await?;
        Ok(list.map(|list| Kinds::of_list(api_version, list)))
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
        let versions = match &self.cache {
            Some(cache) => cache.versions_of_groups(self, groups).await?,
            None => {
                let mut versions = self.api_versions().await?;
                versions.retain(|version| groups(split_api_version(version).0));
                versions
            }
        };
        self.kinds(&versions).await
    }

    /// Asks the server itself for all kinds, and names the `apiVersion`s whose kinds cannot be told in `within`: an aggregated API may be
    /// down, and must not stop everything else.
    ///
    /// # Errors
    /// When the server cannot be asked at all.
    pub async fn all_kinds(&self, within: Duration) -> Result<(Kinds, Vec<String>), ClusterError> {
        let versions = self.api_versions().await?;
        let answers = versions.into_iter().map(|version| async move {
            let answer = timeout(within, self.ask_kinds(&version)).await;
            (version, answer)
        });
        let (mut kinds, mut silent) = (Kinds::default(), Vec::new());
        for (version, answer) in join_all(answers).await {
            match answer {
                Ok(Ok(found)) => kinds.extend(found.unwrap_or_default()),
                _ => silent.push(version),
            }
        }
        Ok((kinds, silent))
    }

    /// Asks the server for all `apiVersion`s.
    pub(super) async fn api_versions(&self) -> Result<BTreeSet<String>, ClusterError> {
        let list: APIGroupList = self.read(ApiVerb::Get, get("/apis")?).await?;
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
        match self.read(ApiVerb::Get, get(&path)?).await {
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
