//! Types, and an object that managers write to one after the other.

use serde_json::{Value, json};

use super::super::schema::*;
use super::super::{By, MergeError, Typed, apply, expand, update};

/// Reads a type: `"string"`, `{"map": …}`, `{"set": …}`, `{"whole": …}`, `{"list": …, "keys": {"name": null}}`, or fields.
pub(super) fn read(schema: &mut Schema, text: &Value) -> NodeId {
    let node = match text.as_str() {
        Some("string") => Node::Scalar(Scalar::String),
        Some("number") => Node::Scalar(Scalar::Integer),
        Some("boolean") => Node::Scalar(Scalar::Boolean),
        Some("quantity") => Node::Scalar(Scalar::Quantity),
        Some(_) => Node::Any,
        None => parts(schema, text),
    };
    schema.add(node)
}

fn parts(schema: &mut Schema, text: &Value) -> Node {
    let mut list = |items: &Value, kind| Node::List {
        items: read(schema, items),
        kind,
    };
    if let Some(items) = text.get("list") {
        let keys = text["keys"].as_object().unwrap().iter();
        let keys = keys.map(|(name, default)| Key {
            name: name.as_str().into(),
            default: Some(default.clone()).filter(|default| !default.is_null()),
        });
        list(items, ListKind::Map(keys.collect()))
    } else if let Some(items) = text.get("set") {
        list(items, ListKind::Set)
    } else if let Some(items) = text.get("whole") {
        list(items, ListKind::Atomic)
    } else if let Some(values) = text.get("map") {
        Node::Map {
            values: read(schema, values),
            atomic: text.get("atomic").is_some(),
        }
    } else {
        let fields = text.as_object().unwrap().iter();
        let fields = fields.map(|(name, of)| {
            let field = Field {
                node: read(schema, of),
                patch: None,
                required: false,
            };
            (name.as_str().into(), field)
        });
        Node::Struct(Struct {
            fields: fields.collect(),
            ..Struct::default()
        })
    }
}

/// A type that has one of everything, in the likeness of a Service and a Deployment.
pub(super) fn everything() -> (Schema, NodeId) {
    let mut schema = Schema::default();
    let root = read(
        &mut schema,
        &json!({
            "apiVersion": "string", "kind": "string",
            "metadata": {
                "name": "string", "namespace": "string", "uid": "string", "resourceVersion": "string",
                "labels": {"map": "string"}, "annotations": {"map": "string"}, "finalizers": {"set": "string"},
                "managedFields": {"whole": "any"},
            },
            "data": {"map": "string"},
            "spec": {
                "replicas": "number", "paused": "boolean", "type": "string",
                "selector": {"map": "string", "atomic": true},
                "strategy": {"type": "string", "rollingUpdate": {"maxSurge": "number", "maxUnavailable": "number"}},
                "ports": {
                    "list": {"name": "string", "port": "number", "protocol": "string", "targetPort": "number"},
                    "keys": {"port": null, "protocol": "TCP"},
                },
                "containers": {
                    "list": {
                        "name": "string", "image": "string", "args": {"whole": "string"},
                        "env": {"list": {"name": "string", "value": "string"}, "keys": {"name": null}},
                        "limits": {"map": "quantity"},
                    },
                    "keys": {"name": null},
                },
                "free": "any",
            },
            "status": {"replicas": "number"},
        }),
    );
    (schema, root)
}

/// An object that managers write to.
pub(super) struct Cluster {
    schema: Schema,
    root: NodeId,
    pub(super) object: Option<Value>,
    /// Seconds since the start: each write has a time of its own.
    pub(super) clock: u32,
}

impl Cluster {
    pub(super) fn new() -> Self {
        let (schema, root) = everything();
        Self {
            schema,
            root,
            object: None,
            clock: 0,
        }
    }

    fn by<'a>(&mut self, manager: &'a str, time: &'a mut String) -> (Typed<'_>, By<'a>) {
        self.clock += 1;
        *time = format!("2026-01-01T00:00:{:02}Z", self.clock);
        let by = By {
            manager,
            api_version: "v1",
            time,
            subresource: "",
        };
        let typed = Typed {
            schema: &self.schema,
            root: self.root,
        };
        (typed, by)
    }

    fn with(&mut self, manager: &str, fields: &Value, force: bool) -> Result<(), MergeError> {
        let live = self.object.clone();
        let mut time = String::new();
        let (typed, by) = self.by(manager, &mut time);
        let object = apply(live.as_ref(), &named(fields), &typed, &by, force)?;
        self.object = Some(object);
        Ok(())
    }

    pub(super) fn apply(&mut self, manager: &str, fields: Value) {
        self.with(manager, &fields, false).unwrap();
    }

    pub(super) fn force(&mut self, manager: &str, fields: Value) {
        self.with(manager, &fields, true).unwrap();
    }

    /// Applies in vain, and says why.
    pub(super) fn refused(&mut self, manager: &str, fields: Value) -> MergeError {
        let before = self.object.clone();
        let error = self.with(manager, &fields, false).unwrap_err();
        assert_eq!(self.object, before);
        error
    }

    /// Creates or replaces the object; what `fields` lacks of `managedFields` is kept.
    pub(super) fn put(&mut self, manager: &str, fields: Value) {
        let mut object = named(&fields);
        object["metadata"]["uid"] = "u".into();
        let before = self.object.clone();
        let mut time = String::new();
        let (typed, by) = self.by(manager, &mut time);
        update(before.as_ref(), &mut object, &typed, &by);
        self.object = Some(object);
    }

    /// The object without what everybody's has.
    pub(super) fn fields(&self) -> Value {
        let mut object = self.object.clone().unwrap();
        let metadata = object["metadata"].as_object_mut().unwrap();
        for name in ["name", "uid", "managedFields"] {
            metadata.remove(name);
        }
        let empty = metadata.is_empty();
        let fields = object.as_object_mut().unwrap();
        fields.remove("apiVersion");
        fields.remove("kind");
        if empty {
            fields.remove("metadata");
        }
        object
    }

    /// The entries in order, each as manager, operation, seconds and fields.
    pub(super) fn managed(&self) -> Value {
        let mut object = self.object.clone().unwrap();
        expand(&mut object);
        let entries = object["metadata"]["managedFields"].as_array();
        let entries = entries.into_iter().flatten().map(|entry| {
            let seconds: u32 = entry["time"].as_str().unwrap()[17..19].parse().unwrap();
            json!([
                entry["manager"],
                entry["operation"],
                seconds,
                entry["fieldsV1"]
            ])
        });
        entries.collect()
    }
}

fn named(fields: &Value) -> Value {
    let mut object = json!({ "apiVersion": "v1", "kind": "Thing", "metadata": { "name": "a" } });
    for (name, value) in fields.as_object().unwrap() {
        match name.as_str() {
            "metadata" => object["metadata"]
                .as_object_mut()
                .unwrap()
                .extend(value.as_object().unwrap().clone()),
            _ => object[name] = value.clone(),
        }
    }
    object
}
