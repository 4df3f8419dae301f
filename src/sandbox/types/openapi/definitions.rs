//! Types as OpenAPI writes them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use crate::merge::{Field, ListKind, Node, NodeId, PatchStrategy, Scalar, Schema, Struct};
use crate::types::{Kind, Origin, Registry, built_in, parts};

/// The version of OpenAPI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    V2,
    V3,
}

/// Definitions by their names, each written once.
pub struct Definitions {
    dialect: Dialect,
    written: BTreeMap<String, Value>,
}

impl Dialect {
    /// A reference to a definition.
    pub fn reference(self, name: &str) -> Value {
        let place = match self {
            Self::V2 => "#/definitions",
            Self::V3 => "#/components/schemas",
        };
        json!({ "$ref": format!("{place}/{name}") })
    }
}

impl Definitions {
    pub fn new(dialect: Dialect) -> Self {
        Self {
            dialect,
            written: BTreeMap::new(),
        }
    }

    pub fn finish(self) -> BTreeMap<String, Value> {
        self.written
    }

    /// Writes the type of a kind's objects, and gives its name.
    pub fn root(&mut self, kind: &Kind) -> String {
        let name = root_name(kind);
        let mut definition = match &kind.validation {
            Some(validation) => (**validation).clone(),
            None => {
                // Types may refer to themselves.
                self.written.insert(name.clone(), Value::Null);
                self.node(&kind.schema, kind.root)
            }
        };
        if kind.origin != Origin::BuiltIn {
            self.add_what_all_objects_have(&mut definition);
        }
        let Kind {
            group,
            version,
            kind,
            ..
        } = kind;
        let gvk = json!([{ "group": group, "version": version, "kind": kind }]);
        insert(&mut definition, "x-kubernetes-group-version-kind", gvk);
        self.written.insert(name.clone(), definition);
        name
    }

    /// Writes the types of what requests carry beside objects.
    pub fn parts(&mut self, kinds: &Registry) {
        for name in parts::DEFINITIONS {
            let kind = name.rsplit('.').next().unwrap_or(name);
            if let Some((schema, place)) = parts::find(kinds, kind) {
                self.value(&schema, place);
            }
        }
    }

    fn add_what_all_objects_have(&mut self, definition: &mut Value) {
        let metadata = self.metadata();
        insert(definition, "type", "object".into());
        let Some(definition) = definition.as_object_mut() else {
            return;
        };
        let properties = definition.entry("properties").or_insert_with(|| json!({}));
        insert(properties, "apiVersion", json!({ "type": "string" }));
        insert(properties, "kind", json!({ "type": "string" }));
        insert(properties, "metadata", metadata);
    }

    /// The type of `metadata`, which is that of any built-in kind.
    fn metadata(&mut self) -> Value {
        let kinds = built_in();
        let Some(kind) = kinds.of("v1", "ConfigMap") else {
            return json!({ "type": "object" });
        };
        match kind.schema.node(kind.root) {
            Node::Struct(Struct { fields, .. }) => match fields.get("metadata") {
                Some(field) => self.value(&kind.schema, field.node),
                None => json!({ "type": "object" }),
            },
            _ => json!({ "type": "object" }),
        }
    }

    /// A value's type: by reference where it has a name.
    fn value(&mut self, schema: &Schema, id: NodeId) -> Value {
        let name = schema.about(id).map_or("", |about| &about.name);
        if !name.starts_with("io.k8s.") {
            return self.node(schema, id);
        }
        if !self.written.contains_key(name) {
            self.written.insert(name.to_owned(), Value::Null);
            let definition = self.node(schema, id);
            self.written.insert(name.to_owned(), definition);
        }
        self.dialect.reference(name)
    }

    fn node(&mut self, schema: &Schema, id: NodeId) -> Value {
        match schema.node(id) {
            Node::Any => json!({ "x-kubernetes-preserve-unknown-fields": true }),
            Node::Scalar(scalar) => {
                self.scalar(*scalar, schema.about(id).map_or("", |about| &about.name))
            }
            Node::Map { values, atomic } => {
                let mut map = json!({
                    "type": "object", "additionalProperties": self.value(schema, *values),
                });
                if *atomic {
                    insert(&mut map, "x-kubernetes-map-type", "atomic".into());
                }
                map
            }
            Node::List { items, kind } => self.list(schema, *items, kind),
            Node::Struct(shape) => self.object(schema, shape),
        }
    }

    /// Kubernetes has definitions of its own for what Go has types of its own for.
    fn scalar(&mut self, scalar: Scalar, go: &str) -> Value {
        let time = || json!({ "type": "string", "format": "date-time" });
        let text = match self.dialect {
            Dialect::V2 => json!({ "type": "string", "format": "int-or-string" }),
            Dialect::V3 => json!({
                "format": "int-or-string", "oneOf": [{ "type": "integer" }, { "type": "string" }],
            }),
        };
        let (name, definition) = match scalar {
            Scalar::String => return json!({ "type": "string" }),
            Scalar::Bytes => return json!({ "type": "string", "format": "byte" }),
            Scalar::Boolean => return json!({ "type": "boolean" }),
            Scalar::Number => return json!({ "type": "number", "format": "double" }),
            Scalar::Integer => {
                let format = if go == "int32" { "int32" } else { "int64" };
                return json!({ "type": "integer", "format": format });
            }
            Scalar::Quantity => ("api.resource.Quantity", json!({ "type": "string" })),
            Scalar::Time if go == "v1.MicroTime" => ("apis.meta.v1.MicroTime", time()),
            Scalar::Time => ("apis.meta.v1.Time", time()),
            Scalar::IntOrString => ("util.intstr.IntOrString", text),
        };
        let name = format!("io.k8s.apimachinery.pkg.{name}");
        let reference = self.dialect.reference(&name);
        self.written.insert(name, definition);
        reference
    }

    fn list(&mut self, schema: &Schema, items: NodeId, kind: &ListKind) -> Value {
        let mut list = json!({ "type": "array", "items": self.value(schema, items) });
        let word = match kind {
            ListKind::Atomic => "atomic",
            ListKind::Set => "set",
            ListKind::Map(keys) => {
                let keys: Vec<&str> = keys.iter().map(|key| &*key.name).collect();
                insert(&mut list, "x-kubernetes-list-map-keys", json!(keys));
                "map"
            }
        };
        insert(&mut list, "x-kubernetes-list-type", word.into());
        list
    }

    fn object(&mut self, schema: &Schema, shape: &Struct) -> Value {
        let properties: Map<String, Value> = shape
            .fields
            .iter()
            .map(|(name, field)| (name.to_string(), self.field(schema, field)))
            .collect();
        let required: Vec<&str> = shape
            .fields
            .iter()
            .filter(|(_, field)| field.required)
            .map(|(name, _)| &**name)
            .collect();
        let mut object = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            insert(&mut object, "required", json!(required));
        }
        if shape.atomic {
            insert(&mut object, "x-kubernetes-map-type", "atomic".into());
        }
        if shape.open {
            insert(
                &mut object,
                "x-kubernetes-preserve-unknown-fields",
                true.into(),
            );
        }
        object
    }

    fn field(&mut self, schema: &Schema, field: &Field) -> Value {
        let value = self.value(schema, field.node);
        let Some(patch) = &field.patch else {
            return value;
        };
        // Beside a reference nothing else counts, so it is wrapped.
        let mut value = match value.get("$ref") {
            Some(_) if self.dialect == Dialect::V3 => json!({ "allOf": [value] }),
            _ => value,
        };
        insert(
            &mut value,
            "x-kubernetes-patch-strategy",
            strategy(patch).into(),
        );
        if let Some(key) = &patch.key {
            insert(&mut value, "x-kubernetes-patch-merge-key", json!(key));
        }
        value
    }
}

fn strategy(patch: &PatchStrategy) -> String {
    let words = [(patch.merge, "merge"), (patch.retain_keys, "retainKeys")];
    let words: Vec<&str> = words
        .iter()
        .filter(|(has, _)| *has)
        .map(|(_, word)| *word)
        .collect();
    words.join(",")
}

/// `io.k8s.api.apps.v1.Deployment`, or `org.example.v1.Gadget` of a group `example.org`.
fn root_name(kind: &Kind) -> String {
    let known = kind.schema.about(kind.root).map_or("", |about| &about.name);
    if kind.origin == Origin::BuiltIn && known.starts_with("io.k8s.") {
        return known.to_owned();
    }
    let parts = kind.group.split('.').rev();
    let mut parts: Vec<&str> = parts
        .chain([kind.version.as_str(), kind.kind.as_str()])
        .collect();
    parts.retain(|part| !part.is_empty());
    parts.join(".")
}

fn insert(value: &mut Value, name: &str, content: Value) {
    if let Some(object) = value.as_object_mut() {
        object.insert(name.to_owned(), content);
    }
}
