//! Reads: metadata where that is enough, whole objects where it is not.

use kube::core::params::{GetParams, ListParams};
use kube::core::{DynamicObject, Request, Resource};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::{Cluster, ClusterError, Kind};
use crate::plan::Live;

/// Objects in one answer. Enough that common lists need one request, few enough that an answer stays in memory
/// many times over (an object's metadata with `managedFields` is about 2 kB).
const PAGE: u32 = 2000;

#[derive(Deserialize)]
struct List<T> {
    #[serde(default)]
    metadata: ListMetadata,
    /// `null` when there are none (seen on v1.20.2).
    items: Option<Vec<T>>,
}

#[derive(Default, Deserialize)]
struct ListMetadata {
    #[serde(default, rename = "continue")]
    continue_: Option<String>,
}

#[derive(Deserialize)]
struct MetadataOnly {
    metadata: Live,
}

impl Cluster {
    /// Lists the metadata of a kind's objects, in one namespace or in all.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn list_metadata(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: Option<&str>,
    ) -> Result<Vec<Live>, ClusterError> {
        let items = self
            .list::<MetadataOnly>(kind, namespace, selector, Request::list_metadata)
            .await?;
        Ok(items.into_iter().map(|item| item.metadata).collect())
    }

    /// Lists whole objects of a kind. They carry their `apiVersion` and `kind`, which servers leave out in lists.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn list_objects(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: Option<&str>,
    ) -> Result<Vec<Value>, ClusterError> {
        let mut items = self
            .list::<Value>(kind, namespace, selector, Request::list)
            .await?;
        for item in items.iter_mut().filter_map(Value::as_object_mut) {
            item.insert(
                "apiVersion".into(),
                Value::String(kind.resource.api_version.clone()),
            );
            item.insert("kind".into(), Value::String(kind.resource.kind.clone()));
        }
        Ok(items)
    }

    /// Reads one object, if it is there.
    ///
    /// # Errors
    /// As the server answers, but for "not found".
    pub async fn get(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Value>, ClusterError> {
        let request = request(kind, namespace)
            .get(name, &GetParams::default())
            .map_err(invalid)?;
        self.optional(request).await
    }

    /// Reads the metadata of one object, if it is there.
    ///
    /// # Errors
    /// As the server answers, but for "not found".
    pub async fn get_metadata(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
    ) -> Result<Option<Live>, ClusterError> {
        let request = request(kind, namespace)
            .get_metadata(name, &GetParams::default())
            .map_err(invalid)?;
        Ok(self
            .optional::<MetadataOnly>(request)
            .await?
            .map(|object| object.metadata))
    }

    async fn list<T: DeserializeOwned>(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: Option<&str>,
        build: impl Fn(
            &Request,
            &ListParams,
        ) -> Result<http::Request<Vec<u8>>, kube::core::request::Error>,
    ) -> Result<Vec<T>, ClusterError> {
        let mut params = ListParams {
            label_selector: selector.map(str::to_owned),
            ..ListParams::default()
        }
        .limit(PAGE);
        let mut items = Vec::new();
        loop {
            let request = build(&request(kind, namespace), &params).map_err(invalid)?;
            let list: List<T> = self.client.request(request).await?;
            items.extend(list.items.unwrap_or_default());
            match list.metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => return Ok(items),
            }
        }
    }

    async fn optional<T: DeserializeOwned>(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<Option<T>, ClusterError> {
        match self
            .client
            .request(request)
            .await
            .map_err(ClusterError::from)
        {
            Ok(object) => Ok(Some(object)),
            Err(ClusterError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

pub(super) fn request(kind: &Kind, namespace: Option<&str>) -> Request {
    Request::new(DynamicObject::url_path(&kind.resource, namespace))
}

pub(super) fn invalid(error: kube::core::request::Error) -> ClusterError {
    ClusterError::Invalid(error.to_string())
}
