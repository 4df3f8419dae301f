//! Structured merge: what server-side apply does to an object and to its `managedFields`.

mod schema;

pub use self::schema::{Field, Key, ListKind, Node, NodeId, PatchStrategy, Scalar, Schema, Struct};

// PLACEHOLDER
#[allow(missing_docs)]
mod placeholder {
    use super::{NodeId, Schema};
    use serde_json::Value;
    pub struct Typed<'a> { pub schema: &'a Schema, pub root: NodeId }
    pub struct By<'a> { pub manager: &'a str, pub api_version: &'a str, pub time: &'a str, pub subresource: &'a str }
    #[derive(Debug)]
    pub enum MergeError { Conflicts(Vec<Conflict>), Invalid(String) }
    #[derive(Debug)]
    pub struct Conflict { pub manager: String, pub operation: String, pub api_version: String, pub subresource: String, pub time: String, pub field: String }
    pub fn apply(live: Option<&Value>, applied: &Value, _typed: &Typed<'_>, _by: &By<'_>, _force: bool) -> Result<Value, MergeError> {
        let mut new = live.cloned().unwrap_or_else(|| applied.clone());
        if live.is_some() { crate::sandbox::patch::merge(&mut new, applied); }
        Ok(new)
    }
    pub fn update(_before: Option<&Value>, _after: &mut Value, _typed: &Typed<'_>, _by: &By<'_>) {}
}
pub use placeholder::*;
