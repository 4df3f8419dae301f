//! Optionals: a value that may be absent. The library's own lose what they hold when they are passed on.

use std::sync::Arc;

use kube_cel::cel::Value;
use kube_cel::cel::objects::OptionalValue;

use super::fault::Fault;
use super::value::describe;

/// Makes one that holds a value.
pub fn of(value: Value) -> Value {
    Value::Opaque(Arc::new(OptionalValue::of(value)))
}

/// Makes one that holds nothing.
pub fn none() -> Value {
    Value::Opaque(Arc::new(OptionalValue::none()))
}

/// What an optional holds, if the value is one.
pub fn read(value: &Value) -> Option<Option<&Value>> {
    match value {
        Value::Opaque(opaque) => opaque
            .downcast_ref::<OptionalValue>()
            .map(OptionalValue::value),
        _ => None,
    }
}

/// What an optional holds.
///
/// # Errors
/// When the value is none.
pub fn wanted(value: &Value) -> Result<Option<&Value>, Fault> {
    read(value).ok_or_else(|| {
        Fault::error(format!(
            "an optional is wanted here, not {}",
            describe(value)
        ))
    })
}

/// Tells whether two optionals hold the same; nothing when one of the values is none.
pub fn same(left: &Value, right: &Value) -> Option<bool> {
    Some(read(left)? == read(right)?)
}
