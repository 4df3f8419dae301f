//! Objects in the form that somebody wants them in.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap as _, SerializeSeq as _, Serializer};
use serde_json::{Map, Value, json};

use super::accept::Form;
use crate::error::ApiError;
use crate::merge;
use crate::read::List;
use crate::types::{Kind, Origin, tables};

/// Objects, and how to show them.
pub struct Shown {
    /// Their kind, at the version that was asked for.
    pub kind: Arc<Kind>,
    /// The form that was asked for.
    pub form: Form,
    /// The objects.
    pub content: Content,
}

/// What is shown.
pub enum Content {
    /// One object, or a `Status`.
    One(Arc<Value>),
    /// A list.
    Many(List),
}

/// Whether a form is good for what is to be shown.
///
/// # Errors
/// 406 for a list where an object was asked for, or the other way round.
pub fn check(form: Form, kind: &Kind, is_list: bool) -> Result<(), ApiError> {
    let message = match form {
        Form::Metadata { list: false } if is_list => format!(
            "you requested PartialObjectMetadata, but the requested object is a list ({})",
            kind.list_kind
        ),
        Form::Metadata { list: true } if !is_list => format!(
            "you requested PartialObjectMetadataList, but the requested object is not a list ({})",
            kind.kind
        ),
        _ => return Ok(()),
    };
    Err(ApiError::new(406, "NotAcceptable", message))
}

impl Serialize for Shown {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match &self.content {
            Content::One(object) => One {
                object,
                kind: &self.kind,
                form: self.form,
                in_list: false,
            }
            .serialize(serializer),
            Content::Many(list) => self.many(list, serializer),
        }
    }
}

impl Shown {
    fn many<S: Serializer>(&self, list: &List, serializer: S) -> Result<S::Ok, S::Error> {
        let metadata = list_metadata(list);
        let (kind, api_version) = match self.form {
            Form::Table(include) => {
                let table = tables::table(&self.kind, &list.items, include, metadata.into());
                return table.serialize(serializer);
            }
            Form::Metadata { .. } => ("PartialObjectMetadataList", META.to_owned()),
            Form::Whole => (self.kind.list_kind.as_str(), self.kind.api_version()),
        };
        let mut map = serializer.serialize_map(Some(4))?;
        map.serialize_entry("kind", kind)?;
        map.serialize_entry("apiVersion", &api_version)?;
        map.serialize_entry("metadata", &metadata)?;
        map.serialize_entry("items", &Items { shown: self, list })?;
        map.end()
    }
}

fn list_metadata(list: &List) -> Map<String, Value> {
    let mut metadata = Map::new();
    let mut put = |name: &str, value: Value| metadata.insert(name.to_owned(), value);
    put("resourceVersion", list.version.to_string().into());
    if let Some(next) = &list.next {
        put("continue", next.as_str().into());
    }
    if let Some(remaining) = list.remaining {
        put("remainingItemCount", remaining.into());
    }
    metadata
}

const META: &str = "meta.k8s.io/v1";

struct Items<'a> {
    shown: &'a Shown,
    list: &'a List,
}

impl Serialize for Items<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Shown { kind, form, .. } = self.shown;
        let mut items = serializer.serialize_seq(Some(self.list.items.len()))?;
        for object in &self.list.items {
            items.serialize_element(&One {
                object,
                kind,
                form: *form,
                in_list: true,
            })?;
        }
        items.end()
    }
}

/// An object as it is written out: stored once, and shown at any version of its kind.
pub struct One<'a> {
    /// The object.
    pub object: &'a Arc<Value>,
    /// Its kind, at the version that was asked for.
    pub kind: &'a Kind,
    /// The form that was asked for.
    pub form: Form,
    /// Whether it is an item of a list: built-in kinds do not say there what they are.
    pub in_list: bool,
}

impl Serialize for One<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(fields) = self.object.as_object() else {
            return self.object.serialize(serializer);
        };
        // A `Status`, or a `Scale`.
        if fields.get("kind").and_then(Value::as_str) != Some(self.kind.kind.as_str()) {
            return fields.serialize(serializer);
        }
        if let Form::Table(include) = self.form {
            let version = self.object.pointer("/metadata/resourceVersion");
            let metadata = json!({ "resourceVersion": version });
            let objects = std::slice::from_ref(self.object);
            return tables::table(self.kind, objects, include, metadata).serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        if let Form::Metadata { .. } = self.form {
            map.serialize_entry("kind", "PartialObjectMetadata")?;
            map.serialize_entry("apiVersion", META)?;
            map.serialize_entry("metadata", &fields.get("metadata").map(Metadata))?;
            return map.end();
        }
        if !(self.in_list && self.kind.origin == Origin::BuiltIn) {
            map.serialize_entry("kind", &self.kind.kind)?;
            map.serialize_entry("apiVersion", &self.kind.api_version())?;
        }
        for (name, value) in fields {
            match name.as_str() {
                "kind" | "apiVersion" => {}
                "metadata" => map.serialize_entry(name, &Metadata(value))?,
                _ => map.serialize_entry(name, value)?,
            }
        }
        map.end()
    }
}

/// An object's metadata, with the fields that its managers have written out.
struct Metadata<'a>(&'a Value);

impl Serialize for Metadata<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_with(serializer, self.0, "managedFields", |entries| {
            let entries = entries.as_array()?;
            Some(entries.iter().map(ManagedFields).collect::<Vec<_>>())
        })
    }
}

/// One of `managedFields`.
struct ManagedFields<'a>(&'a Value);

impl Serialize for ManagedFields<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_with(serializer, self.0, "fieldsV1", merge::written)
    }
}

/// Serializes an object with another value in the place of that of one field, if there is another.
fn serialize_with<'a, S: Serializer, T: Serialize>(
    serializer: S,
    object: &'a Value,
    field: &str,
    instead: impl FnOnce(&'a Value) -> Option<T>,
) -> Result<S::Ok, S::Error> {
    let Some(fields) = object.as_object() else {
        return object.serialize(serializer);
    };
    let mut instead = fields.get(field).and_then(instead);
    let mut map = serializer.serialize_map(Some(fields.len()))?;
    for (name, value) in fields {
        match instead.take_if(|_| name == field) {
            Some(value) => map.serialize_entry(name, &value)?,
            None => map.serialize_entry(name, value)?,
        }
    }
    map.end()
}
