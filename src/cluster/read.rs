//! Reads: metadata where that is enough, whole objects where it is not.

use kube::core::params::{GetParams, ListParams};
use kube::core::{DynamicObject, Request, Resource};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::recording::{Asked, Which};
use super::send::unreadable;
use super::{Cluster, ClusterError, Kind};
use crate::metrics::ApiVerb;
use crate::plan::Live;

/// Objects in one answer. Enough that common lists need one request, few enough that an answer stays in memory
/// many times over (an object's metadata with `managedFields` is about 2 kB).
const PAGE: u32 = 2000;

/// What may stand in one part of a path as it is (RFC 3986, `pchar`, of which names need these).
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b':')
    .remove(b'~');

/// Lists that change so fast that their continue tokens expire three times in a row are the server's trouble.
const LIST_TRIES: u32 = 3;

#[derive(Deserialize)]
pub(super) struct List<T> {
    #[serde(default)]
    pub metadata: ListMetadata,
    /// `null` when there are none (seen on v1.20.2).
    pub items: Option<Vec<T>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ListMetadata {
    resource_version: String,
    #[serde(rename = "continue")]
    continue_: Option<String>,
}

/// All objects of a list, and the version of the whole that they belong to.
pub(super) struct Listed<T> {
    pub items: Vec<T>,
    pub version: String,
}

/// How much of objects is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// Their metadata.
    Metadata,
    /// All of them.
    Whole,
}

/// An answer of which only the metadata is read.
#[derive(Clone, Deserialize)]
pub(super) struct MetadataOnly {
    pub metadata: Live,
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
            .list::<MetadataOnly>(kind, namespace, selector, Part::Metadata)
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
            .list::<Value>(kind, namespace, selector, Part::Whole)
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
        self.one(kind, namespace, name, Part::Whole).await
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
        let object = self.one::<MetadataOnly>(kind, namespace, name, Part::Metadata);
        Ok(object.await?.map(|object| object.metadata))
    }

    /// Reads one object, of which is kept what `T` reads, if it is there.
    pub(super) async fn one<T: DeserializeOwned>(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        name: &str,
        part: Part,
    ) -> Result<Option<T>, ClusterError> {
        let asked = || Asked::new(kind, namespace, Which::Named(name.to_owned()));
        let (one, params) = (segment(name), GetParams::default());
        let request = match part {
            Part::Metadata => request(kind, namespace).get_metadata(&one, &params),
            Part::Whole => request(kind, namespace).get(&one, &params),
        };
        self.foretold(asked)?;
        let answer = self.optional(request.map_err(invalid)?).await;
        self.note(asked, kind, &answer);
        answer
    }

    /// Lists objects of a kind, of which is kept what `T` reads.
    pub(super) async fn list<T: DeserializeOwned>(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: Option<&str>,
        part: Part,
    ) -> Result<Vec<T>, ClusterError> {
        let asked = || {
            let which = Which::Listed(selector.map(str::to_owned), part);
            Asked::new(kind, namespace, which)
        };
        let build = |params: &ListParams| {
            let request = request(kind, namespace);
            match part {
                Part::Metadata => request.list_metadata(params),
                Part::Whole => request.list(params),
            }
        };
        self.foretold(asked)?;
        let listed = self.list_pages(selector, build, |page| serde_json::from_slice(page));
        let answer = listed.await.map(|listed| listed.items);
        self.note(asked, kind, &answer);
        answer
    }

    /// Lists page by page, and from the start when the server no longer has the rest of the list.
    pub(super) async fn list_pages<T>(
        &self,
        selector: Option<&str>,
        build: impl Fn(&ListParams) -> Result<http::Request<Vec<u8>>, kube::core::request::Error>,
        read_page: impl Fn(&[u8]) -> Result<List<T>, serde_json::Error>,
    ) -> Result<Listed<T>, ClusterError> {
        let mut tries = 1;
        loop {
            match self.list_once(selector, &build, &read_page).await {
                Err(ClusterError::Expired(_)) if tries < LIST_TRIES => tries += 1,
                answer => return answer,
            }
        }
    }

    async fn list_once<T>(
        &self,
        selector: Option<&str>,
        build: impl Fn(&ListParams) -> Result<http::Request<Vec<u8>>, kube::core::request::Error>,
        read_page: impl Fn(&[u8]) -> Result<List<T>, serde_json::Error>,
    ) -> Result<Listed<T>, ClusterError> {
        let mut params = ListParams {
            label_selector: selector.map(str::to_owned),
            ..ListParams::default()
        }
        .limit(PAGE);
        let mut items = Vec::new();
        loop {
            let page = self
                .answer(ApiVerb::List, build(&params).map_err(invalid)?)
                .await?;
            let List {
                metadata,
                items: found,
            } = read_page(page.as_ref()).map_err(|error| unreadable(&error))?;
            items.extend(found.unwrap_or_default());
            match metadata.continue_.filter(|token| !token.is_empty()) {
                Some(token) => params = params.continue_token(&token),
                None => {
                    return Ok(Listed {
                        items,
                        version: metadata.resource_version,
                    });
                }
            }
        }
    }

    pub(super) async fn optional<T: DeserializeOwned>(
        &self,
        request: http::Request<Vec<u8>>,
    ) -> Result<Option<T>, ClusterError> {
        match self.read(ApiVerb::Get, request).await {
            Ok(object) => Ok(Some(object)),
            Err(ClusterError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }
}

pub(super) fn request(kind: &Kind, namespace: Option<&str>) -> Request {
    let namespace = namespace.map(segment);
    Request::new(DynamicObject::url_path(
        &kind.resource,
        namespace.as_deref(),
    ))
}

/// Makes a name one part of a path, whatever it holds: `..`, `/` and `?` must not lead elsewhere.
pub(super) fn segment(name: &str) -> String {
    match name {
        "." => "%2E".to_owned(),
        ".." => "%2E%2E".to_owned(),
        _ => utf8_percent_encode(name, SEGMENT).to_string(),
    }
}

pub(super) fn invalid(error: kube::core::request::Error) -> ClusterError {
    ClusterError::Invalid(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_never_leads_elsewhere() {
        assert_eq!(segment("system:node-1.a_b"), "system:node-1.a_b");
        for name in [
            "../x",
            "a/b",
            "a?dryRun=All",
            "a b",
            "..",
            ".",
            "a%2fb",
            "a#b",
        ] {
            let part = segment(name);
            assert!(
                !part.contains(['/', '?', '#', ' ']) && part != ".." && part != ".",
                "{part}"
            );
        }
    }
}
