//! Snapshot -> documents and diagnostics. Never stops at the first error; does no IO.

mod build;
mod diagnostic;
mod document;
mod duplicates;
mod excerpt;
mod fault;
mod identify;
mod json;
mod limits;
mod loader;
mod mapping;
mod node;
mod scalar;
#[cfg(test)]
mod secrecy_tests;
mod snapshot;
#[cfg(test)]
mod tests;
mod text;
mod yaml;

pub use diagnostic::{Diagnostic, Origin, Position, Severity};
pub use document::Document;
pub use duplicates::duplicates;
pub use limits::Limits;
pub use loader::{Loaded, add_excerpts, load};
pub use node::{Entry, Node, NodeKind};
pub use snapshot::{Snapshot, SourceFile};

/// Prints JSON for now.
pub fn to_yaml(value: &serde_json::Value) -> String {
    value.to_string()
}
