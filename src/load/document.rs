//! One object of a source.

use std::sync::Arc;

use super::{Node, Origin};
use crate::api::ObjectId;

/// One object as it stands in a source: identified, with places, not yet changed in any way.
#[derive(Clone, Debug)]
pub struct Document {
    /// Where the object begins.
    pub origin: Origin,
    /// Group, kind, namespace (only when written) and name.
    pub id: ObjectId,
    /// `apiVersion` as written, for instance `apps/v1`.
    pub api_version: String,
    /// The object; a mapping. Shared with what is kept for the next reading.
    pub root: Arc<Node>,
}
