//! Structured merge: what server-side apply does to an object and to its `managedFields`.

mod schema;

pub use self::schema::{Field, Key, ListKind, Node, NodeId, PatchStrategy, Scalar, Schema, Struct};
