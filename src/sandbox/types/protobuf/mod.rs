//! Objects in Kubernetes' protobuf encoding, which kubectl sends when it makes objects by itself (`kubectl create namespace`).

mod numbers;
mod wire;

use serde_json::{Map, Number, Value};

use self::numbers::{Place, fields_of};
use self::wire::{Message, Part};
use super::{built_in, parts};
use crate::merge::{Node, NodeId, Scalar, Schema};

/// What every encoded object begins with.
const MAGIC: &[u8] = b"k8s\0";

/// An object of a built-in kind, or options, as JSON would have it.
///
/// # Errors
/// What is wrong with the bytes, or what in them has no place in JSON that is known here.
pub fn decode(bytes: &[u8]) -> Result<Value, String> {
    let Some(rest) = bytes.strip_prefix(MAGIC) else {
        return Err("the body is no object in the protobuf encoding of Kubernetes".to_owned());
    };
    let envelope = Message::of(rest);
    let kind = envelope.message(1)?.unwrap_or_default();
    let (api_version, kind) = (kind.text(1)?, kind.text(2)?);
    let raw = envelope.bytes(2)?;
    if envelope.text(4)? == "application/json" {
        return serde_json::from_slice(raw).map_err(|error| error.to_string());
    }
    let kinds = built_in();
    let (schema, root) = match kinds.of(&api_version, &kind) {
        Some(found) => (found.schema.clone(), found.root),
        None => parts::find(&kinds, &kind)
            .ok_or_else(|| format!("no kind {kind:?} is registered for version {api_version:?}"))?,
    };
    let mut object = message(&schema, root, &Message::of(raw))?;
    object.insert("apiVersion".to_owned(), api_version.into());
    object.insert("kind".to_owned(), kind.into());
    Ok(object.into())
}

fn message(
    schema: &Schema,
    id: NodeId,
    message: &Message<'_>,
) -> Result<Map<String, Value>, String> {
    let name = schema.about(id).map_or("", |about| &about.name);
    let mut object = Map::new();
    fill(schema, id, name, message, &mut object)?;
    Ok(object)
}

/// Adds what is in a message of a type to an object, which is of that type or holds it inline.
fn fill(
    schema: &Schema,
    id: NodeId,
    type_name: &str,
    message: &Message<'_>,
    object: &mut Map<String, Value>,
) -> Result<(), String> {
    let places = fields_of(type_name);
    for part in message.parts() {
        let (number, part) = part?;
        match places.iter().find(|(known, _)| *known == number) {
            Some((_, Place::Inline(inner))) => fill(schema, id, inner, &part.message()?, object)?,
            Some((_, Place::Field(field))) => {
                let Node::Struct(shape) = schema.node(id) else {
                    return Err(unknown(type_name, number));
                };
                let Some(field_type) = shape.fields.get(*field) else {
                    return Err(unknown(type_name, number));
                };
                add(schema, field_type.node, &part, object, field)?;
            }
            // Zeros of fields that have come since are sent, too.
            None if part.is_zero() => {}
            None => return Err(unknown(type_name, number)),
        }
    }
    Ok(())
}

fn unknown(type_name: &str, number: u32) -> String {
    format!("field {number} of {type_name} is not known in protobuf: send JSON")
}

/// Adds a field, or one more item of it.
fn add(
    schema: &Schema,
    id: NodeId,
    part: &Part<'_>,
    object: &mut Map<String, Value>,
    field: &str,
) -> Result<(), String> {
    match schema.node(id) {
        Node::List { items, .. } => {
            let item = value(schema, *items, part)?;
            let list = object
                .entry(field)
                .or_insert_with(|| Vec::<Value>::new().into());
            if let Some(list) = list.as_array_mut() {
                list.push(item);
            }
        }
        Node::Map { values, .. } => {
            let entry = part.message()?;
            let mut content = zero(schema, *values);
            for part in entry.parts() {
                if let (2, part) = part? {
                    content = value(schema, *values, &part)?;
                }
            }
            let map = object.entry(field).or_insert_with(|| Map::new().into());
            if let Some(map) = map.as_object_mut() {
                map.insert(entry.text(1)?, content);
            }
        }
        _ => {
            object.insert(field.to_owned(), value(schema, id, part)?);
        }
    }
    Ok(())
}

fn zero(schema: &Schema, id: NodeId) -> Value {
    match schema.node(id) {
        Node::Scalar(Scalar::String | Scalar::Bytes) => "".into(),
        _ => Value::Null,
    }
}

fn value(schema: &Schema, id: NodeId, part: &Part<'_>) -> Result<Value, String> {
    match schema.node(id) {
        Node::Scalar(scalar) => {
            let is_micro = schema
                .about(id)
                .is_some_and(|about| &*about.name == "v1.MicroTime");
            scalar_of(*scalar, is_micro, part)
        }
        Node::Struct(_) => Ok(message(schema, id, &part.message()?)?.into()),
        // JSON, as it is, in a message of its own.
        Node::Any => {
            let message = part.message()?;
            match message.bytes(1)? {
                [] => Ok(Value::Null),
                raw => serde_json::from_slice(raw).map_err(|error| error.to_string()),
            }
        }
        // A list in a list or a map, as in `extra` of users.
        Node::List { items, .. } => {
            let message = part.message()?;
            let mut list = Vec::new();
            for part in message.parts() {
                list.push(value(schema, *items, &part?.1)?);
            }
            Ok(list.into())
        }
        Node::Map { .. } => Err("a map in a list is not known in protobuf: send JSON".to_owned()),
    }
}

fn scalar_of(scalar: Scalar, is_micro: bool, part: &Part<'_>) -> Result<Value, String> {
    Ok(match scalar {
        Scalar::String => part.text()?.into(),
        Scalar::Bytes => wire::base64(part.bytes()?).into(),
        Scalar::Integer => part.integer()?.into(),
        Scalar::Boolean => (part.integer()? != 0).into(),
        Scalar::Number => Number::from_f64(part.number()?).map_or(Value::Null, Value::Number),
        Scalar::Quantity => part.message()?.text(1)?.into(),
        Scalar::IntOrString => {
            let message = part.message()?;
            match message.integer(1)? {
                0 => message.integer(2)?.into(),
                _ => message.text(3)?.into(),
            }
        }
        Scalar::Time => {
            let message = part.message()?;
            let (seconds, nanos) = (message.integer(1)?, message.integer(2)?);
            wire::time(seconds, nanos, is_micro)
        }
    })
}

#[cfg(test)]
mod tests;
