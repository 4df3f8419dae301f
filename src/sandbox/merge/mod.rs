//! Structured merge: what server-side apply does to an object and to its `managedFields`.
//!
//! Everything here follows the types of a [`Schema`]: which values are taken whole, which lists are keyed. An object is
//! compared, merged and pruned field by field; who manages which of them is kept in [`FieldSet`]s.

mod apply;
mod check;
mod collect;
mod combine;
mod compare;
mod conflict;
mod fields_v1;
mod item;
mod managers;
mod parts;
mod prune;
mod schema;
mod set;
mod shape;
mod stripped;
mod update;

#[cfg(test)]
mod tests;

pub use self::apply::apply;
pub use self::conflict::{Conflict, MergeError};
pub use self::fields_v1::{expand, written};
pub use self::schema::{
    About, Field, Key, ListKind, Node, NodeId, PatchStrategy, Scalar, Schema, Struct,
};
pub use self::set::FieldSet;
pub use self::update::update;

/// The type of whole objects.
#[derive(Clone, Copy, Debug)]
pub struct Typed<'a> {
    /// Where the types are.
    pub schema: &'a Schema,
    /// The object's own.
    pub root: NodeId,
}

/// Who writes, and how.
#[derive(Clone, Copy, Debug)]
pub struct By<'a> {
    /// Field manager.
    pub manager: &'a str,
    /// Version that is written at, such as `apps/v1`.
    pub api_version: &'a str,
    /// Time of the write, RFC 3339 in seconds.
    pub time: &'a str,
    /// `status`, `scale`, or empty for the object's own endpoint.
    pub subresource: &'a str,
}
