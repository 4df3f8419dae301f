//! JSON -> CEL values, as the API server makes them of unstructured objects: keys as they are, integers as `int`, the
//! rest as `double`; `uint` never comes from JSON.

use std::collections::HashMap;
use std::sync::Arc;

use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, Map, Opaque, OptionalValue};
use serde_json::Value as Json;

use super::fault::Fault;

/// Makes a CEL value of JSON.
pub fn from_json(json: &Json) -> Value {
    match json {
        Json::Null => Value::Null,
        Json::Bool(it) => Value::Bool(*it),
        Json::Number(number) => match number.as_i64() {
            Some(int) => Value::Int(int),
            None => Value::Float(number.as_f64().unwrap_or(f64::NAN)),
        },
        Json::String(text) => string(text.as_str()),
        Json::Array(items) => list(items.iter().map(from_json).collect()),
        Json::Object(fields) => map(fields
            .iter()
            .map(|(key, value)| (Key::String(Arc::new(key.clone())), from_json(value)))
            .collect()),
    }
}

/// Makes a string.
pub fn string(text: impl Into<String>) -> Value {
    Value::String(Arc::new(text.into()))
}

/// Makes a list.
pub fn list(items: Vec<Value>) -> Value {
    Value::List(Arc::new(items))
}

/// Makes a mapping.
pub fn map(entries: HashMap<Key, Value>) -> Value {
    let map = Arc::new(entries);
    Value::Map(Map { map })
}

/// Stands for something that cannot be known here, and says why: every look at it is a fault.
#[derive(Debug, PartialEq, Eq)]
struct Unknown(String);

impl Opaque for Unknown {
    fn runtime_type_name(&self) -> &str {
        "unknown"
    }
}

/// Makes what stands for something that cannot be known here, with the reason.
pub fn unknown(why: impl Into<String>) -> Value {
    Value::Opaque(Arc::new(Unknown(why.into())))
}

/// Passes on what is known.
///
/// # Errors
/// Why it is not.
pub fn known(value: &Value) -> Result<Value, Fault> {
    match value {
        Value::Opaque(opaque) => match opaque.downcast_ref::<Unknown>() {
            Some(Unknown(why)) => Err(Fault::Unknown(why.clone())),
            None => Ok(value.clone()),
        },
        _ => Ok(value.clone()),
    }
}

/// A type as a value: what `type(x)` gives.
#[derive(Debug, PartialEq, Eq)]
struct TypeName(&'static str);

impl Opaque for TypeName {
    fn runtime_type_name(&self) -> &str {
        "type"
    }
}

/// The names of types that an expression may use as values.
pub const TYPES: [&str; 10] = [
    "bool",
    "bytes",
    "double",
    "int",
    "list",
    "map",
    "null_type",
    "string",
    "type",
    "uint",
];

/// Gives the type that a name stands for, if it is one.
pub fn type_named(name: &str) -> Option<Value> {
    let name = TYPES.iter().find(|known| **known == name)?;
    Some(Value::Opaque(Arc::new(TypeName(name))))
}

/// Gives the type of a value as a value.
pub fn type_of(value: &Value) -> Option<Value> {
    let name = match value {
        Value::Bool(_) => "bool",
        Value::Bytes(_) => "bytes",
        Value::Float(_) => "double",
        Value::Int(_) => "int",
        Value::List(_) => "list",
        Value::Map(_) => "map",
        Value::Null => "null_type",
        Value::String(_) => "string",
        Value::UInt(_) => "uint",
        Value::Opaque(opaque) if opaque.downcast_ref::<TypeName>().is_some() => "type",
        _ => return None,
    };
    type_named(name)
}

/// Names the type of a value for people, with its article.
pub fn describe(value: &Value) -> &'static str {
    match value {
        Value::Bool(_) => "a bool",
        Value::Bytes(_) => "bytes",
        Value::Float(_) => "a double",
        Value::Int(_) => "an int",
        Value::List(_) => "a list",
        Value::Map(_) => "a map",
        Value::Null => "null",
        Value::String(_) => "a string",
        Value::UInt(_) => "a uint",
        Value::Duration(_) => "a duration",
        Value::Timestamp(_) => "a timestamp",
        Value::Opaque(opaque) if opaque.downcast_ref::<OptionalValue>().is_some() => "an optional",
        Value::Opaque(_) | Value::Function(..) => "a value of another type",
    }
}

/// Takes a bool.
///
/// # Errors
/// When it is something else.
pub fn truth(value: &Value) -> Result<bool, Fault> {
    match value {
        Value::Bool(it) => Ok(*it),
        other => Err(Fault::error(format!(
            "a bool is wanted here, not {}",
            describe(other)
        ))),
    }
}
