//! What Go makes of fields that are not there.

use serde_json::{Map, Value};

use crate::merge::{About, Field, Node, NodeId, Scalar, Schema};

/// When a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Presence {
    /// Always.
    Always,
    /// Always: a pointer to nothing is written as null.
    Null,
    /// When it was given, whatever it is.
    Kept,
    /// When it is not empty.
    NotEmpty,
}

impl Presence {
    pub fn of(field: &Field, name: &str, about: Option<&About>) -> Self {
        let is_in = |names: fn(&About) -> &[Box<str>]| {
            about.is_some_and(|about| names(about).iter().any(|it| &**it == name))
        };
        let (always, kept) = (is_in(|about| &about.always), is_in(|about| &about.kept));
        match (always, kept, field.required) {
            (true, true, _) => Self::Null,
            (true, false, _) | (false, false, true) => Self::Always,
            (false, true, _) => Self::Kept,
            (false, false, false) => Self::NotEmpty,
        }
    }

    /// Whether a field is written that is not there.
    pub fn is_lasting(self) -> bool {
        matches!(self, Self::Always | Self::Null)
    }

    /// What is written of a field that is not there, if anything is.
    pub fn zero(self, schema: &Schema, id: NodeId) -> Value {
        match self {
            Self::Always => of(schema, id),
            _ => Value::Null,
        }
    }
}

/// The zero value of a type, as Go writes it.
pub fn of(schema: &Schema, id: NodeId) -> Value {
    match schema.node(id) {
        Node::Scalar(scalar) => match scalar {
            Scalar::String | Scalar::Bytes => "".into(),
            Scalar::Quantity => "0".into(),
            Scalar::Integer | Scalar::Number | Scalar::IntOrString => 0.into(),
            Scalar::Boolean => false.into(),
            Scalar::Time => Value::Null,
        },
        Node::Struct(shape) => {
            let about = schema.about(id);
            let mut object = Map::new();
            for (name, field) in &shape.fields {
                let presence = Presence::of(field, name, about);
                if presence.is_lasting() {
                    object.insert(name.to_string(), presence.zero(schema, field.node));
                }
            }
            object.into()
        }
        Node::Map { .. } | Node::List { .. } | Node::Any => Value::Null,
    }
}

/// Whether a value is a zero, as `omitempty` sees it. Structs are not: those that may be absent are pointers.
pub fn is_empty(node: &Node, value: &Value) -> bool {
    match (node, value) {
        (Node::Struct(_) | Node::Any | Node::Scalar(Scalar::Quantity | Scalar::IntOrString), _) => {
            false
        }
        (_, Value::Array(list)) => list.is_empty(),
        (_, Value::Object(object)) => object.is_empty(),
        (_, Value::String(text)) => text.is_empty(),
        (_, Value::Number(number)) => number.as_f64() == Some(0.0),
        (_, Value::Bool(flag)) => !flag,
        (_, Value::Null) => true,
    }
}
