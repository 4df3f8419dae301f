//! Types of values.

use serde_json::Value;

use super::super::fields::{flag, text};
use super::super::{cause, show};
use crate::error::Cause;

/// What is wrong with a value's type.
pub(super) fn check(schema: &Value, value: &Value, path: &str) -> Option<Cause> {
    let either = flag(schema, "x-kubernetes-int-or-string");
    let wanted = match text(schema, "type") {
        _ if either => "integer,string",
        wanted => wanted,
    };
    let found = of(value);
    let good = match wanted {
        "" => true,
        _ if value.is_null() => flag(schema, "nullable"),
        "integer,string" => found == "integer" || found == "string",
        "number" => found == "integer" || found == "number",
        wanted => found == wanted,
    };
    if good {
        return None;
    }
    let found = show::quoted(found);
    let message =
        format!("Invalid value: {found}: {path} in body must be of type {wanted}: {found}");
    Some(cause("FieldValueInvalid", path, message))
}

/// The type of a value; whole numbers are integers, however they are written.
fn of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.as_f64().is_some_and(|n| n.fract() == 0.0) => "integer",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
