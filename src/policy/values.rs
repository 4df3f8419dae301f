//! What expressions can name.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use serde_json::Value as Json;

use super::cel::{self, from_json, unknown};
use super::matching::{namespace_labels, unknown_namespace};
use super::request::request;
use super::subject::{Old, Subject, Surroundings};

/// What expressions can name, made of an object when it is first needed.
pub struct Values<'a> {
    /// The object.
    pub subject: &'a Subject<'a>,
    /// What is known around it.
    pub around: &'a Surroundings<'a>,
    object: OnceCell<cel::Value>,
    old: OnceCell<cel::Value>,
    request: OnceCell<cel::Value>,
    namespace: OnceCell<cel::Value>,
}

impl<'a> Values<'a> {
    /// Makes those of an object.
    pub fn new(subject: &'a Subject<'a>, around: &'a Surroundings<'a>) -> Self {
        Self {
            subject,
            around,
            object: OnceCell::new(),
            old: OnceCell::new(),
            request: OnceCell::new(),
            namespace: OnceCell::new(),
        }
    }

    fn old(&self) -> cel::Value {
        match &self.subject.old {
            Old::Absent => cel::Value::Null,
            Old::Present {
                object: Some(object),
                ..
            } => from_json(object),
            Old::Present { object: None, .. } => {
                unknown("oldObject is not known: the object in the cluster was not read")
            }
        }
    }

    fn namespace(&self) -> cel::Value {
        let Some(name) = &self.subject.id.namespace else {
            return cel::Value::Null;
        };
        let Some(object) = self.around.namespaces.get(name) else {
            return unknown(unknown_namespace(name));
        };
        let mut object = object.clone();
        let labels: serde_json::Map<String, Json> = namespace_labels(name, &object)
            .into_iter()
            .map(|(key, value)| (key, Json::String(value)))
            .collect();
        if let Some(metadata) = object.get_mut("metadata").and_then(Json::as_object_mut) {
            metadata.insert("labels".to_owned(), Json::Object(labels));
        }
        from_json(&object)
    }

    /// All values, with those of one parameter.
    pub fn with(&self, param: Option<&Json>) -> BTreeMap<&'static str, cel::Value> {
        let object = self.object.get_or_init(|| from_json(self.subject.object));
        let request = self
            .request
            .get_or_init(|| request(self.subject, self.around));
        let namespace = self.namespace.get_or_init(|| self.namespace());
        let old = self.old.get_or_init(|| self.old());
        BTreeMap::from([
            ("object", object.clone()),
            ("oldObject", old.clone()),
            ("request", request.clone()),
            ("namespaceObject", namespace.clone()),
            ("params", param.map_or(cel::Value::Null, from_json)),
            (
                "authorizer",
                unknown(
                    "authorizer needs the API server, and is not there before the request is made",
                ),
            ),
        ])
    }
}
