//! A directory or a git ref -> Snapshot, read completely or with the reasons why not.
//!
//! Both kinds of source share one rule of what belongs to them (`walk`), so that a directory and the commit it was
//! checked out from give the same files. Nothing that a source contains is ever executed or written to.

mod collect;
pub mod directory;
mod disk;
mod error;
pub mod git;
mod limits;
mod names;
mod tree;
mod walk;
pub mod watch;

pub use error::SourceError;
pub use limits::Limits;
