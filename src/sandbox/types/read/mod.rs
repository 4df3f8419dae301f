//! Objects of built-in kinds, brought into the form that Go's types give them.

mod message;
mod quantity;
mod scalar;
#[cfg(test)]
mod tests;
mod zero;

use serde_json::{Map, Value};

use self::message::Place;
use self::zero::Presence;
pub(crate) use self::zero::of as zero;
use super::Kind;
use crate::merge::{Field, Node, NodeId, Schema, Struct};

/// What reading an object as its kind found.
#[derive(Clone, Debug, Default)]
pub struct Read {
    /// Fields that its kind does not have, which were taken out, such as `spec.containers[0].bogus`.
    pub unknown: Vec<String>,
}

/// Reads an object as a built-in kind, as Go does: takes out unknown fields and nulls, brings quantities, times and base64
/// into the form they are kept in, leaves out what is empty, and adds what is never absent.
///
/// # Errors
/// What cannot be read, worded as the API server words it in its 400.
pub fn read(kind: &Kind, object: &mut Value) -> Result<Read, String> {
    let mut reader = Reader {
        schema: &kind.schema,
        place: Place::default(),
        unknown: Vec::new(),
    };
    reader.value(kind.root, object).map_err(|why| {
        let Kind { kind, version, .. } = kind;
        format!("{kind} in version {version:?} cannot be handled as a {kind}: {why}")
    })?;
    Ok(Read {
        unknown: reader.unknown,
    })
}

struct Reader<'a> {
    schema: &'a Schema,
    place: Place<'a>,
    unknown: Vec<String>,
}

impl<'a> Reader<'a> {
    fn value(&mut self, id: NodeId, value: &mut Value) -> Result<(), String> {
        let schema = self.schema;
        match (schema.node(id), &mut *value) {
            (Node::Any, _) => Ok(()),
            (_, Value::Null) => {
                *value = zero::of(schema, id);
                Ok(())
            }
            (Node::Scalar(scalar), _) => {
                let go = schema.about(id).map_or("", |about| &about.name);
                scalar::read(*scalar, go, value).map_err(|failure| self.place.explain(failure))
            }
            (Node::Struct(shape), Value::Object(object)) => self.fields(id, shape, object),
            (Node::Map { values, .. }, Value::Object(object)) => {
                for (key, value) in object.iter_mut() {
                    self.place.key(key);
                    self.value(*values, value)?;
                    self.place.leave();
                }
                Ok(())
            }
            (Node::List { items, .. }, Value::Array(list)) => {
                for (index, item) in list.iter_mut().enumerate() {
                    self.place.index(index);
                    self.value(*items, item)?;
                    self.place.leave();
                }
                Ok(())
            }
            (_, other) => Err(self.place.mismatch(other, &message::go_type(schema, id))),
        }
    }

    fn fields(
        &mut self,
        id: NodeId,
        shape: &'a Struct,
        object: &mut Map<String, Value>,
    ) -> Result<(), String> {
        let schema = self.schema;
        let about = schema.about(id);
        let owner = about.map_or("", |about| message::short(&about.name));
        let is_known = |key: &String| shape.fields.contains_key(key.as_str());
        if !shape.open && !object.keys().all(is_known) {
            let unknown = object.keys().filter(|key| !is_known(key));
            self.unknown.extend(unknown.map(|key| self.place.path(key)));
            object.retain(|key, _| is_known(key));
        }
        let mut done = Ok(());
        object.retain(|key, value| {
            let known = shape.fields.get_key_value(key.as_str());
            let Some((name, field)) = known.filter(|_| done.is_ok()) else {
                return true;
            };
            if !value.is_null() {
                self.place.field(owner, name);
                done = self.value(field.node, value);
                self.place.leave();
            }
            settle(schema, field, Presence::of(field, name, about), value)
        });
        done?;
        for (name, field) in &shape.fields {
            let presence = Presence::of(field, name, about);
            if presence.is_lasting() && !object.contains_key(&**name) {
                object.insert(name.to_string(), presence.zero(schema, field.node));
            }
        }
        Ok(())
    }
}

/// Brings a field that is there into the form in which Go would write it; tells whether it would.
fn settle(schema: &Schema, field: &Field, presence: Presence, value: &mut Value) -> bool {
    let is_null = value.is_null();
    let is_empty = is_null || zero::is_empty(schema.node(field.node), value);
    match presence {
        // What is stored knows no empty lists, only none.
        Presence::Always if is_empty => *value = presence.zero(schema, field.node),
        Presence::Always | Presence::Null => {}
        Presence::Kept => return !is_null,
        Presence::NotEmpty => return !is_empty,
    }
    true
}
