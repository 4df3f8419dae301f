//! From a structural schema to what merging knows of its types.

use serde_json::Value;

use super::fields::{flag, text, texts};
use crate::merge::{Field, Key, ListKind, Node, NodeId, Scalar, Schema, Struct};

/// The types of a custom object, and that of the whole; its metadata is that of all objects.
pub(super) fn merging(structural: &Value) -> (Schema, NodeId) {
    let mut schema = Schema::default();
    let any = schema.add(Node::Any);
    let string = schema.add(Node::Scalar(Scalar::String));
    let metadata = metadata(&mut schema, string);
    let mut building = Building {
        schema,
        any,
        string,
        metadata,
    };
    let root = building.object(structural, true);
    (building.schema, root)
}

struct Building {
    schema: Schema,
    any: NodeId,
    string: NodeId,
    metadata: NodeId,
}

impl Building {
    fn node(&mut self, structural: &Value) -> NodeId {
        if flag(structural, "x-kubernetes-int-or-string") {
            return self.schema.add(Node::Scalar(Scalar::IntOrString));
        }
        match text(structural, "type") {
            "object" => self.object(
                structural,
                flag(structural, "x-kubernetes-embedded-resource"),
            ),
            "array" => self.list(structural),
            "string" => self.string,
            "integer" => self.schema.add(Node::Scalar(Scalar::Integer)),
            "number" => self.schema.add(Node::Scalar(Scalar::Number)),
            "boolean" => self.schema.add(Node::Scalar(Scalar::Boolean)),
            _ => self.any,
        }
    }

    fn object(&mut self, structural: &Value, whole: bool) -> NodeId {
        let atomic = text(structural, "x-kubernetes-map-type") == "atomic";
        let open = flag(structural, "x-kubernetes-preserve-unknown-fields");
        let properties = structural.get("properties").and_then(Value::as_object);
        let has_properties = properties.is_some_and(|properties| !properties.is_empty());
        if !whole && !has_properties {
            return match structural.get("additionalProperties") {
                Some(values) if values.is_object() => {
                    let values = self.node(values);
                    self.schema.add(Node::Map { values, atomic })
                }
                _ if atomic => self.schema.add(Node::Map {
                    values: self.any,
                    atomic,
                }),
                _ => self.any,
            };
        }
        let required: Vec<&str> = texts(structural, "required");
        let mut fields = Struct {
            atomic,
            open: open || !has_properties,
            ..Struct::default()
        };
        for (name, property) in properties.into_iter().flatten() {
            let node = self.node(property);
            let required = required.contains(&name.as_str());
            fields.fields.insert(
                name.as_str().into(),
                Field {
                    node,
                    patch: None,
                    required,
                },
            );
        }
        if whole {
            let of_all = [
                ("apiVersion", self.string),
                ("kind", self.string),
                ("metadata", self.metadata),
            ];
            for (name, node) in of_all {
                fields.fields.insert(name.into(), plain(node));
            }
        }
        self.schema.add(Node::Struct(fields))
    }

    fn list(&mut self, structural: &Value) -> NodeId {
        let of = structural.get("items").unwrap_or(&Value::Null);
        let items = self.node(of);
        let kind = match text(structural, "x-kubernetes-list-type") {
            "set" => ListKind::Set,
            "map" => ListKind::Map(
                texts(structural, "x-kubernetes-list-map-keys")
                    .into_iter()
                    .map(|name| Key {
                        name: name.into(),
                        default: of
                            .get("properties")
                            .and_then(|properties| properties.get(name)?.get("default"))
                            .cloned(),
                    })
                    .collect(),
            ),
            _ => ListKind::Atomic,
        };
        self.schema.add(Node::List { items, kind })
    }
}

/// The fields of metadata, which definitions have no say in.
fn metadata(schema: &mut Schema, string: NodeId) -> NodeId {
    let integer = schema.add(Node::Scalar(Scalar::Integer));
    let boolean = schema.add(Node::Scalar(Scalar::Boolean));
    let time = schema.add(Node::Scalar(Scalar::Time));
    let any = schema.add(Node::Any);
    let strings = schema.add(Node::Map {
        values: string,
        atomic: false,
    });
    let finalizers = schema.add(Node::List {
        items: string,
        kind: ListKind::Set,
    });
    let managed = schema.add(Node::List {
        items: any,
        kind: ListKind::Atomic,
    });
    let owner = structure([
        ("apiVersion", string),
        ("kind", string),
        ("name", string),
        ("uid", string),
        ("controller", boolean),
        ("blockOwnerDeletion", boolean),
    ]);
    let owner = schema.add(Node::Struct(Struct {
        atomic: true,
        ..owner
    }));
    let uid = Key {
        name: "uid".into(),
        default: None,
    };
    let owners = schema.add(Node::List {
        items: owner,
        kind: ListKind::Map([uid].into()),
    });
    let fields = structure([
        ("annotations", strings),
        ("clusterName", string),
        ("creationTimestamp", time),
        ("deletionGracePeriodSeconds", integer),
        ("deletionTimestamp", time),
        ("finalizers", finalizers),
        ("generateName", string),
        ("generation", integer),
        ("labels", strings),
        ("managedFields", managed),
        ("name", string),
        ("namespace", string),
        ("ownerReferences", owners),
        ("resourceVersion", string),
        ("selfLink", string),
        ("uid", string),
    ]);
    schema.add(Node::Struct(fields))
}

fn structure<const N: usize>(fields: [(&str, NodeId); N]) -> Struct {
    Struct {
        fields: fields
            .into_iter()
            .map(|(name, node)| (name.into(), plain(node)))
            .collect(),
        ..Struct::default()
    }
}

fn plain(node: NodeId) -> Field {
    Field {
        node,
        patch: None,
        required: false,
    }
}
