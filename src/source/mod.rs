//! A directory or a git ref -> Snapshot, read completely or with the reasons why not.
//!
//! Both kinds of source share one rule of what belongs to them (`walk`), so that a directory and the commit it was
//! checked out from give the same files. Nothing that a source contains is ever executed or written to.
//! A folder that has to be built is read with all of its files (`overlay`); building it is another folder's business.

mod collect;
pub mod directory;
mod disk;
mod error;
pub mod git;
mod kustomization;
mod limits;
mod lookup;
mod names;
mod overlay;
mod tree;
mod walk;
pub mod watch;

pub use error::SourceError;
pub use kustomization::{Kustomization, Reference, kustomization};
pub use limits::Limits;
pub use names::is_kustomization;
pub use overlay::{Found, Overlay, OverlayKind, follow};
