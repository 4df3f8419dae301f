//! Custom objects: pruned, filled with defaults, and checked.

mod choices;
mod default;
mod embedded;
mod formats;
mod lists;
mod prune;
mod types;
mod validate;

use serde_json::Value;

use crate::error::Cause;
use crate::types::Kind;

pub(super) use self::embedded::identity;
pub(super) use self::prune::unknown;
pub(super) use self::validate::causes;

/// Takes out of a custom object what its schema does not know, and names it.
pub fn prune(kind: &Kind, object: &mut Value) -> Vec<String> {
    let mut found = Vec::new();
    let schema = kind.validation.as_deref().unwrap_or(&Value::Null);
    prune::whole(schema, object, "", &mut found);
    found.sort();
    found
}

/// Adds a schema's defaults to a custom object, and takes out nulls that may not be.
pub fn default(kind: &Kind, object: &mut Value) {
    if let Some(schema) = &kind.validation {
        default::drop_nulls(schema, object);
        default::fill(schema, object);
    }
}

/// What is wrong with a custom object; `old` is absent for a new one.
pub fn validate(kind: &Kind, object: &Value, _old: Option<&Value>) -> Vec<Cause> {
    let Some(schema) = &kind.validation else {
        return Vec::new();
    };
    let mut causes = validate::causes(schema, object, "");
    embedded::check(schema, object, "", &mut causes);
    lists::check(schema, object, "", &mut causes);
    causes
}

/// The path of a field of what is at a path.
fn child(path: &str, field: &str) -> String {
    match path {
        "" => field.to_owned(),
        path => format!("{path}.{field}"),
    }
}

/// The path of an item of what is at a path.
fn item(path: &str, index: usize) -> String {
    format!("{path}[{index}]")
}

/// The schema of a field: its own, or that of all values of a map.
fn of_field<'a>(schema: &'a Value, field: &str) -> Option<&'a Value> {
    let own = schema.get("properties").and_then(|all| all.get(field));
    own.or_else(|| {
        let values = schema.get("additionalProperties")?;
        values.is_object().then_some(values)
    })
}
