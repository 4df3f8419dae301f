//! Snapshot -> documents and diagnostics. Never stops at the first error; does no IO.

mod diagnostic;
mod document;
mod node;
mod snapshot;

pub use diagnostic::{Diagnostic, Origin, Position, Severity};
pub use document::Document;
pub use node::{Entry, Node, NodeKind};
pub use snapshot::{Snapshot, SourceFile};

/// Prints JSON for now.
pub fn to_yaml(value: &serde_json::Value) -> String { value.to_string() }
