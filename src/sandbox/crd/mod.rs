//! CustomResourceDefinitions, and the objects of the kinds they make.

use serde_json::Value;

use super::error::Cause;
use super::types::Kind;

/// The kinds that an established definition makes, one for each served version.
pub fn kinds(_definition: &Value) -> Vec<Kind> {
    Vec::new()
}

/// Adds defaults to a definition (names, versions' conversion strategy).
pub fn default_definition(_definition: &mut Value) {}

/// What is wrong with a definition; `old` is absent for a new one.
pub fn validate_definition(_definition: &Value, _old: Option<&Value>) -> Vec<Cause> {
    Vec::new()
}

/// Takes out of a custom object what its schema does not know, and names it.
pub fn prune(_kind: &Kind, _object: &mut Value) -> Vec<String> {
    Vec::new()
}

/// Adds a schema's defaults to a custom object.
pub fn default(_kind: &Kind, _object: &mut Value) {}

/// What is wrong with a custom object; `old` is absent for a new one.
pub fn validate(_kind: &Kind, _object: &Value, _old: Option<&Value>) -> Vec<Cause> {
    Vec::new()
}
