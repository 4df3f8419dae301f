//! Which types the server at hand takes whole.
//!
//! Kubernetes has changed that over time (selectors and references are whole since 1.21). A sandbox does as new servers do;
//! beside an old one it is told what that one says of itself, so that all else can be compared.

use std::collections::BTreeMap;
use std::sync::Arc;

use covergence::sandbox::merge::{Key, ListKind, Node, Schema, Struct};
use covergence::sandbox::types::{Kind, Registry};
use serde_json::Value;

/// The kinds, with types that are as whole as a server's OpenAPI document says.
pub fn aligned(kinds: &Registry, openapi: &Value) -> Registry {
    let mut done: BTreeMap<*const Schema, Arc<Schema>> = BTreeMap::new();
    let mut aligned = Registry::default();
    for kind in kinds.all() {
        let schema = done
            .entry(Arc::as_ptr(&kind.schema))
            .or_insert_with(|| Arc::new(schema(&kind.schema, &openapi["definitions"])));
        aligned.add(Kind {
            schema: schema.clone(),
            ..(**kind).clone()
        });
    }
    aligned
}

fn schema(given: &Schema, definitions: &Value) -> Schema {
    let mut schema = given.clone();
    for (number, node) in given.nodes().iter().enumerate() {
        let id = Schema::place(u32::try_from(number).unwrap());
        let (Node::Struct(shape), Some(about)) = (node, given.about(id)) else {
            continue;
        };
        let Some(definition) = definitions.get(&*about.name) else {
            continue;
        };
        let mut shape: Struct = shape.clone();
        shape.atomic = definition["x-kubernetes-map-type"] == "atomic";
        for (name, field) in &mut shape.fields {
            let Some(property) = definition["properties"].get(&**name) else {
                continue;
            };
            let node = match given.node(field.node).clone() {
                Node::List { items, kind } => Node::List {
                    items,
                    kind: list(property, kind),
                },
                Node::Map { values, .. } => Node::Map {
                    values,
                    atomic: property["x-kubernetes-map-type"] == "atomic",
                },
                _ => continue,
            };
            field.node = schema.add(node);
        }
        schema.set(id, Node::Struct(shape));
    }
    schema
}

/// How a list is merged: as its type says, or else as strategic merge patches do.
fn list(property: &Value, ours: ListKind) -> ListKind {
    let text = |name: &str| property[name].as_str().unwrap_or_default();
    let keys = |names: &[&str]| {
        let keys = names.iter().map(|name| Key {
            name: (*name).into(),
            default: default(&ours, name),
        });
        ListKind::Map(keys.collect())
    };
    let named: Vec<&str> = property["x-kubernetes-list-map-keys"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    match (
        text("x-kubernetes-list-type"),
        text("x-kubernetes-patch-merge-key"),
    ) {
        ("map", _) => keys(&named),
        ("set", _) => ListKind::Set,
        ("atomic", _) => ListKind::Atomic,
        (_, key) if text("x-kubernetes-patch-strategy").starts_with("merge") => match key {
            "" => ListKind::Set,
            key => keys(&[key]),
        },
        _ => ListKind::Atomic,
    }
}

fn default(ours: &ListKind, name: &str) -> Option<Value> {
    let ListKind::Map(keys) = ours else {
        return None;
    };
    keys.iter().find(|key| &*key.name == name)?.default.clone()
}
