//! Kinds as an API server describes them, in its OpenAPI document and its lists of resources.

mod corrections;
mod kinds;
mod shape;

use serde_json::Value;

use super::Registry;

/// The kinds of an API server, from its OpenAPI v2 document and the `APIResourceList` of each group's versions.
pub fn registry(openapi_v2: &Value, resource_lists: &[Value]) -> Registry {
    let definitions = corrections::definitions(openapi_v2);
    kinds::registry(&definitions, resource_lists)
}

/// The same, without what other versions of the server have.
pub fn exact(openapi_v2: &Value, resource_lists: &[Value]) -> Registry {
    let definitions = corrections::unchanged(openapi_v2);
    kinds::registry(&definitions, resource_lists)
}
