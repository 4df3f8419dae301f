//! Definitions of OpenAPI as nodes of a schema.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::corrections::Definitions;
use crate::merge::{
    About, Field, Key, ListKind, Node, NodeId, PatchStrategy, Scalar, Schema, Struct,
};

/// Makes nodes of definitions, each once.
pub struct Shapes<'a> {
    definitions: &'a Definitions,
    schema: Schema,
    named: BTreeMap<String, NodeId>,
}

impl<'a> Shapes<'a> {
    pub fn new(definitions: &'a Definitions) -> Self {
        Self {
            definitions,
            schema: Schema::default(),
            named: BTreeMap::new(),
        }
    }

    pub fn finish(self) -> Schema {
        self.schema
    }

    /// The node of a definition.
    pub fn definition(&mut self, name: &str) -> NodeId {
        let scalar = match name.rsplit('.').next().unwrap_or(name) {
            "Quantity" => Some((Scalar::Quantity, "resource.Quantity")),
            "IntOrString" => Some((Scalar::IntOrString, "intstr.IntOrString")),
            "Time" => Some((Scalar::Time, "v1.Time")),
            "MicroTime" => Some((Scalar::Time, "v1.MicroTime")),
            _ => None,
        };
        if let (Some((scalar, go)), true) = (scalar, name.starts_with("io.k8s.apimachinery.")) {
            return self.scalar(scalar, go);
        }
        if let Some(id) = self.named.get(name) {
            return *id;
        }
        let id = self.schema.add(Node::Any);
        self.named.insert(name.to_owned(), id);
        let definitions = self.definitions;
        if let Some(definition) = definitions.types.get(name) {
            let node = self.node(definition);
            self.schema.set(id, node);
        }
        let (always, kept) = definitions.presence(name);
        let about = About {
            name: name.into(),
            always,
            kept,
        };
        self.schema.describe(id, about);
        id
    }

    /// The node of a value: of a field, of a list's items, of a map's values.
    fn value(&mut self, value: &Value) -> NodeId {
        if let Some(name) = reference(value) {
            let id = self.definition(name);
            return self.own_copy(id, value);
        }
        match self.node(value) {
            Node::Scalar(scalar) => self.scalar(scalar, go_name(value, scalar)),
            Node::Any => self.shared("any", Node::Any),
            node => self.schema.add(node),
        }
    }

    /// A field may own a struct whole that is granular elsewhere.
    fn own_copy(&mut self, id: NodeId, value: &Value) -> NodeId {
        let Node::Struct(shape) = self.schema.node(id) else {
            return id;
        };
        if shape.atomic || !is_atomic(value) {
            return id;
        }
        let node = Node::Struct(Struct {
            atomic: true,
            ..shape.clone()
        });
        let about = self.schema.about(id).cloned().unwrap_or_default();
        let copy = self.schema.add(node);
        self.schema.describe(copy, about);
        copy
    }

    fn scalar(&mut self, scalar: Scalar, go: &str) -> NodeId {
        let id = self.shared(go, Node::Scalar(scalar));
        let about = About {
            name: go.into(),
            ..About::default()
        };
        self.schema.describe(id, about);
        id
    }

    fn shared(&mut self, name: &str, node: Node) -> NodeId {
        let schema = &mut self.schema;
        *self
            .named
            .entry(format!("go {name}"))
            .or_insert_with(|| schema.add(node))
    }

    fn node(&mut self, value: &Value) -> Node {
        if flag(value, "x-kubernetes-int-or-string") {
            return Node::Scalar(Scalar::IntOrString);
        }
        match text(value, "type") {
            "string" => Node::Scalar(match text(value, "format") {
                "byte" => Scalar::Bytes,
                "date-time" => Scalar::Time,
                "int-or-string" => Scalar::IntOrString,
                _ => Scalar::String,
            }),
            "integer" => Node::Scalar(Scalar::Integer),
            "number" => Node::Scalar(Scalar::Number),
            "boolean" => Node::Scalar(Scalar::Boolean),
            "array" => Node::List {
                items: self.value(value.get("items").unwrap_or(&Value::Null)),
                kind: self.list_kind(value),
            },
            _ => self.object(value),
        }
    }

    fn object(&mut self, value: &Value) -> Node {
        let open = flag(value, "x-kubernetes-preserve-unknown-fields");
        if let Some(properties) = value.get("properties").and_then(Value::as_object) {
            return Node::Struct(Struct {
                fields: self.fields(properties, value),
                atomic: is_atomic(value),
                open,
            });
        }
        match value.get("additionalProperties") {
            Some(values @ Value::Object(_)) => Node::Map {
                values: self.value(values),
                atomic: is_atomic(value),
            },
            _ => Node::Any,
        }
    }

    fn fields(
        &mut self,
        properties: &Map<String, Value>,
        owner: &Value,
    ) -> BTreeMap<Box<str>, Field> {
        let required: Vec<&str> = strings(owner, "required").collect();
        let field = |(name, value): (&String, &Value)| {
            let field = Field {
                node: self.value(value),
                patch: patch_strategy(value),
                required: required.contains(&name.as_str()),
            };
            (name.as_str().into(), field)
        };
        properties.iter().map(field).collect()
    }

    fn list_kind(&self, list: &Value) -> ListKind {
        match text(list, "x-kubernetes-list-type") {
            "set" => ListKind::Set,
            "map" => {
                let items = list.get("items").unwrap_or(&Value::Null);
                let items = match reference(items) {
                    Some(name) => self.definitions.types.get(name).unwrap_or(&Value::Null),
                    None => items,
                };
                let key = |name: &str| Key {
                    name: name.into(),
                    default: items
                        .pointer(&format!("/properties/{name}/default"))
                        .cloned(),
                };
                ListKind::Map(
                    strings(list, "x-kubernetes-list-map-keys")
                        .map(key)
                        .collect(),
                )
            }
            "atomic" => ListKind::Atomic,
            // What API servers do with lists that say no type but how they are patched.
            _ => match (
                text(list, "x-kubernetes-patch-strategy").contains("merge"),
                text(list, "x-kubernetes-patch-merge-key"),
            ) {
                (false, _) => ListKind::Atomic,
                (true, "") => ListKind::Set,
                (true, key) => ListKind::Map(Box::new([Key {
                    name: key.into(),
                    default: None,
                }])),
            },
        }
    }
}

/// What a value refers to; newer servers wrap that in `allOf` to say something beside it.
fn reference(value: &Value) -> Option<&str> {
    value
        .get("$ref")
        .or_else(|| value.pointer("/allOf/0/$ref"))
        .and_then(Value::as_str)
        .and_then(|reference| reference.rsplit('/').next())
}

fn patch_strategy(value: &Value) -> Option<PatchStrategy> {
    let said = value.get("x-kubernetes-patch-strategy")?.as_str()?;
    Some(PatchStrategy {
        merge: said.split(',').any(|word| word == "merge"),
        key: match text(value, "x-kubernetes-patch-merge-key") {
            "" => None,
            key => Some(key.into()),
        },
        retain_keys: said.split(',').any(|word| word == "retainKeys"),
    })
}

fn go_name(value: &Value, scalar: Scalar) -> &'static str {
    match (scalar, text(value, "format")) {
        (Scalar::Integer, "int32") => "int32",
        (Scalar::Integer, _) => "int64",
        (Scalar::Number, _) => "float64",
        (Scalar::Boolean, _) => "bool",
        (Scalar::Bytes, _) => "[]uint8",
        (Scalar::IntOrString, _) => "intstr.IntOrString",
        (Scalar::Quantity, _) => "resource.Quantity",
        (Scalar::Time, _) => "v1.Time",
        (Scalar::String, _) => "string",
    }
}

fn is_atomic(value: &Value) -> bool {
    text(value, "x-kubernetes-map-type") == "atomic"
}

fn flag(value: &Value, name: &str) -> bool {
    value.get(name).and_then(Value::as_bool) == Some(true)
}

pub fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

pub fn strings<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a str> + use<'a> {
    let list = value.get(name).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_str)
}
