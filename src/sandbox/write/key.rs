//! A write on its way: its request, and what comes up while it is done.

use std::sync::Arc;

use serde_json::Value;

use super::Written;
use crate::error::{ApiError, Cause};
use crate::merge::{By, Typed};
use crate::request::Request;
use crate::store::Key;
use crate::types::{Kind, Origin};

/// What a write knows all the way.
pub(super) struct Write<'a> {
    pub(super) request: &'a Request,
    pub(super) kind: &'a Arc<Kind>,
    /// Where the object is; without a name until a new one has got its own.
    pub(super) key: Key,
    /// The time of this write.
    pub(super) now: String,
    pub(super) api_version: String,
    pub(super) warnings: Vec<String>,
}

impl<'a> Write<'a> {
    pub(super) fn new(request: &'a Request) -> Self {
        Self {
            request,
            kind: &request.kind,
            key: request.key(),
            now: now(),
            api_version: request.kind.api_version(),
            warnings: Vec::new(),
        }
    }

    /// The subresource, or nothing for the object's own endpoint.
    pub(super) fn subresource(&self) -> &'a str {
        self.request.subresource.as_deref().unwrap_or_default()
    }

    pub(super) fn typed(&self) -> Typed<'a> {
        Typed {
            schema: &self.kind.schema,
            root: self.kind.root,
        }
    }

    pub(super) fn by(&self) -> By<'_> {
        By {
            manager: &self.request.manager,
            api_version: &self.api_version,
            time: &self.now,
            subresource: self.subresource(),
        }
    }

    /// Whether an apply takes over what others manage.
    pub(super) fn forced(&self) -> bool {
        matches!(self.request.parameter("force"), Some("true" | "1" | ""))
    }

    /// Whether a CustomResourceDefinition, or nobody, knows the kind.
    pub(super) fn custom(&self) -> bool {
        self.kind.origin != Origin::BuiltIn
    }

    pub(super) fn not_found(&self) -> ApiError {
        ApiError::not_found(&self.kind.group, &self.kind.plural, &self.key.name)
    }

    pub(super) fn invalid(&self, causes: Vec<Cause>) -> ApiError {
        ApiError::invalid(&self.kind.group, &self.kind.kind, &self.key.name, causes)
    }

    pub(super) fn conflict(&self, why: &str) -> ApiError {
        ApiError::conflict(&self.kind.group, &self.kind.plural, &self.key.name, why)
    }

    pub(super) fn forbidden(&self, why: &str) -> ApiError {
        ApiError::forbidden(&self.kind.group, &self.kind.plural, &self.key.name, why)
    }

    /// The answer.
    pub(super) fn written(self, code: u16, object: Arc<Value>) -> Written {
        Written {
            code,
            object: self.at_version(object),
            warnings: self.warnings,
        }
    }

    /// The object as it is at the version that was asked for: versions of a group share what is stored.
    pub(super) fn at_version(&self, object: Arc<Value>) -> Arc<Value> {
        let kind = object.get("kind").and_then(Value::as_str);
        let version = object.get("apiVersion").and_then(Value::as_str);
        if kind != Some(&self.kind.kind) || version == Some(&self.api_version) {
            return object;
        }
        let mut object = Arc::unwrap_or_clone(object);
        if let Some(version) = object.get_mut("apiVersion") {
            *version = self.api_version.as_str().into();
        }
        Arc::new(object)
    }
}

/// This moment, as Kubernetes writes it: RFC 3339, to the second.
pub fn now() -> String {
    jiff::Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%SZ")
        .to_string()
}
