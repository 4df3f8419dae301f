//! A request of a sequence.

use std::fmt;

use serde_json::Value;

use super::pair::Call;

/// The objects that a sequence is about.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Resource {
    /// Such as `apis/apps/v1`.
    pub api: &'static str,
    pub plural: &'static str,
    pub kind: &'static str,
    pub namespaced: bool,
}

pub const CONFIG_MAPS: Resource = core("configmaps", "ConfigMap");
pub const SERVICES: Resource = core("services", "Service");
/// Templates of pods of which nobody makes pods.
pub const POD_TEMPLATES: Resource = core("podtemplates", "PodTemplate");

const fn core(plural: &'static str, kind: &'static str) -> Resource {
    Resource {
        api: "api/v1",
        plural,
        kind,
        namespaced: true,
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Get,
    Create,
    Put,
    Json,
    Merge,
    Strategic,
    Apply,
    Delete,
}

/// One request about an object.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub verb: Verb,
    /// `status`, `scale` or empty.
    pub subresource: &'static str,
    /// Parameters.
    pub query: String,
    /// `$NAME` in it stands for the object's name, `$VERSION` for its latest resource version, `$STALE` for its first one,
    /// `$UID` for its uid.
    pub body: Value,
}

impl Step {
    pub fn new(verb: Verb, query: impl Into<String>, body: Value) -> Self {
        Self {
            verb,
            subresource: "",
            query: query.into(),
            body,
        }
    }

    /// The same at a subresource.
    pub fn at(self, subresource: &'static str) -> Self {
        Self {
            subresource,
            ..self
        }
    }

    /// The request, once the object's name is known.
    pub fn call(&self, of: &Resource, namespace: &str, name: &str) -> Call {
        let mut path = format!("/{}", of.api);
        if of.namespaced {
            path += &format!("/namespaces/{namespace}");
        }
        path += &format!("/{}", of.plural);
        if self.verb != Verb::Create {
            path += &format!("/{name}");
        }
        if !self.subresource.is_empty() {
            path += &format!("/{}", self.subresource);
        }
        if !self.query.is_empty() {
            path += &format!("?{}", self.query);
        }
        let (method, content) = self.verb.http();
        Call {
            method,
            path,
            content,
            body: self.body.clone(),
        }
    }
}

impl Verb {
    fn http(self) -> (&'static str, &'static str) {
        match self {
            Self::Get => ("GET", ""),
            Self::Create => ("POST", "application/json"),
            Self::Put => ("PUT", "application/json"),
            Self::Delete => ("DELETE", "application/json"),
            Self::Json => ("PATCH", "application/json-patch+json"),
            Self::Merge => ("PATCH", "application/merge-patch+json"),
            Self::Strategic => ("PATCH", "application/strategic-merge-patch+json"),
            Self::Apply => ("PATCH", "application/apply-patch+yaml"),
        }
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.verb)?;
        if !self.subresource.is_empty() {
            write!(f, " /{}", self.subresource)?;
        }
        if !self.query.is_empty() {
            write!(f, " ?{}", self.query)?;
        }
        if !self.body.is_null() {
            write!(f, " {}", self.body)?;
        }
        Ok(())
    }
}

/// Puts values in the place of `$NAME` and the like.
pub fn fill(value: &Value, with: &dyn Fn(&str) -> Option<String>) -> Value {
    match value {
        Value::String(text) => match with(text) {
            Some(other) => other.into(),
            None => value.clone(),
        },
        Value::Array(items) => items.iter().map(|item| fill(item, with)).collect(),
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), fill(value, with)))
            .collect(),
        value => value.clone(),
    }
}
