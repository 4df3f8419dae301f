//! Sets of fields as `managedFields` hold them (`fieldsV1`).

use serde_json::{Map, Value};

use super::item;
use super::set::FieldSet;

impl FieldSet {
    /// Reads `fieldsV1`; `None` when it is none.
    pub fn decode(fields: &Value) -> Option<Self> {
        let mut set = Self::default();
        for (key, value) in fields.as_object()? {
            if key == "." {
                set.own = true;
                continue;
            }
            let mut part = Self::decode(value)?;
            // A place without parts is in the set; one with parts says so with a dot.
            part.own |= !part.has_parts();
            match key.split_once(':')? {
                ("f", name) => set.fields.insert(name.into(), part),
                (kind, text) => set.items.insert(item::canonical(kind, text)?, part),
            };
        }
        Some(set)
    }

    /// Writes `fieldsV1`.
    pub fn encode(&self) -> Value {
        let Self { own, fields, items } = self;
        let mut object = Map::new();
        if *own && self.has_parts() {
            object.insert(".".to_owned(), Value::Object(Map::new()));
        }
        for (name, part) in fields {
            object.insert(format!("f:{name}"), part.encode());
        }
        for (item, part) in items {
            object.insert(item.as_ref().to_owned(), part.encode());
        }
        Value::Object(object)
    }
}
