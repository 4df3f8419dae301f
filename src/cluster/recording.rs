//! What was asked of an API server, so that it can be asked again, or answered elsewhere.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use http::Request;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::read::Part;
use super::{Cluster, ClusterError, Kind};
use crate::metrics::ApiVerb;

/// Some objects of a kind that somebody wanted to know of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Asked {
    /// `apiVersion` of the kind.
    pub api_version: String,
    /// The kind.
    pub kind: String,
    /// Namespace; `None` for all, and for kinds without.
    pub namespace: Option<String>,
    /// Which of them.
    pub which: Which,
}

/// Which objects of a kind in a place.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Which {
    /// The one of this name.
    Named(String),
    /// All that a selector matches, and how much of them.
    Listed(Option<String>, Part),
}

/// What was asked for and not allowed, and what the server said to that.
pub type Refusals = BTreeMap<Asked, String>;

/// All that was asked of a server.
#[derive(Debug, Default)]
pub struct Recording(Mutex<BTreeMap<Asked, Heard>>);

#[derive(Clone, Debug)]
struct Heard {
    kind: Kind,
    refused: Option<String>,
}

impl Recording {
    /// What was asked for, each with its kind, but for what was refused.
    pub fn answered(&self) -> Vec<(Asked, Kind)> {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let answered = heard.iter().filter(|(_, heard)| heard.refused.is_none());
        let answered = answered.map(|(asked, heard)| (asked.clone(), heard.kind.clone()));
        answered.collect()
    }

    /// What was refused.
    pub fn refused(&self) -> Refusals {
        let heard = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let refused = heard.iter();
        let refused =
            refused.filter_map(|(asked, heard)| Some((asked.clone(), heard.refused.clone()?)));
        refused.collect()
    }
}

impl Asked {
    pub(super) fn new(kind: &Kind, namespace: Option<&str>, which: Which) -> Self {
        Self {
            api_version: kind.resource.api_version.clone(),
            kind: kind.resource.kind.clone(),
            namespace: namespace.map(str::to_owned),
            which,
        }
    }
}

impl Cluster {
    /// Fails when this is known to be refused.
    pub(super) fn foretold(&self, asked: impl Fn() -> Asked) -> Result<(), ClusterError> {
        if self.refusals.is_empty() {
            return Ok(());
        }
        match self.refusals.get(&asked()) {
            Some(message) => Err(ClusterError::Forbidden(message.clone())),
            None => Ok(()),
        }
    }

    /// Notes what was asked for, if somebody wants to know.
    pub(super) fn note<T>(
        &self,
        asked: impl Fn() -> Asked,
        kind: &Kind,
        answer: &Result<T, ClusterError>,
    ) {
        let Some(Recording(heard)) = self.recording.as_deref() else {
            return;
        };
        let refused = match answer {
            Ok(_) => None,
            Err(ClusterError::Forbidden(message)) => Some(message.clone()),
            Err(_) => return,
        };
        let kind_of = Heard {
            kind: kind.clone(),
            refused,
        };
        let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.insert(asked(), kind_of);
    }

    /// Reads once more what was asked for, whole or just its metadata. The objects carry their `apiVersion` and `kind`.
    ///
    /// # Errors
    /// As the server answers.
    pub async fn read_again(
        &self,
        asked: &Asked,
        kind: &Kind,
        whole: bool,
    ) -> Result<Vec<Value>, ClusterError> {
        let namespace = asked.namespace.as_deref();
        match &asked.which {
            Which::Named(name) => Ok(self.get(kind, namespace, name).await?.into_iter().collect()),
            Which::Listed(selector, _) if whole => {
                self.list_objects(kind, namespace, selector.as_deref())
                    .await
            }
            Which::Listed(selector, _) => {
                let found =
                    self.list::<Value>(kind, namespace, selector.as_deref(), Part::Metadata);
                let mut found = found.await?;
                for item in found.iter_mut().filter_map(Value::as_object_mut) {
                    item.insert(
                        "apiVersion".into(),
                        kind.resource.api_version.clone().into(),
                    );
                    item.insert("kind".into(), kind.resource.kind.clone().into());
                }
                Ok(found)
            }
        }
    }

    /// Reads all that the server says of its kinds: its OpenAPI document (version 2), and the kinds of each `apiVersion`.
    ///
    /// # Errors
    /// When the server cannot be asked. An API that does not answer is left out: it may be an aggregated one that is down.
    pub async fn schemas(&self) -> Result<(Value, Vec<Value>), ClusterError> {
        let openapi = self.raw("/openapi/v2").await?;
        let mut lists = Vec::new();
        for version in self.api_versions().await? {
            let path = match version.contains('/') {
                true => format!("/apis/{version}"),
                false => format!("/api/{version}"),
            };
            match self.raw(&path).await {
                Ok(list) => lists.push(list),
                Err(ClusterError::NotFound(_) | ClusterError::Unavailable(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok((openapi, lists))
    }

    async fn raw(&self, path: &str) -> Result<Value, ClusterError> {
        let request = Request::get(path)
            .body(Vec::new())
            .map_err(|error| ClusterError::Invalid(error.to_string()))?;
        self.read(ApiVerb::Get, request).await
    }
}
