//! Snapshot -> documents and diagnostics. Never stops at the first error; does no IO.

mod check;
mod diagnostic;
mod document;
mod excerpt;
mod fault;
mod identify;
mod limits;
#[cfg(test)]
mod limits_tests;
mod loader;
mod metadata;
mod names;
mod node;
mod parse;
mod path;
mod print;
mod quota;
mod readings;
#[cfg(test)]
mod robustness_tests;
mod schema;
#[cfg(test)]
mod secrecy_tests;
mod snapshot;
#[cfg(test)]
mod tests;
mod text;
mod values;

pub use check::check;
pub use diagnostic::{Diagnostic, Origin, Position, Severity, elsewhere};
pub use document::Document;
pub use limits::Limits;
pub use loader::{Loaded, add_excerpts, load};
pub use names::{is_image, is_label, is_subdomain};
pub use node::{Entry, Node, NodeKind};
pub use print::to_yaml;
pub use quota::keep_most;
pub use readings::Readings;
pub use schema::{Schemas, builtin_scope, spell_quantities};
pub use snapshot::{Snapshot, SourceFile};
pub use text::is_invisible;
pub use values::values;

/// Past this many findings in one document the rest would not be read.
const MOST_FINDINGS: usize = 50;
