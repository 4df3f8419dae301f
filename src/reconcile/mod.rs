//! Drives the pipeline against a cluster.

mod access;
mod clock;
pub mod configuration;
mod contents;
pub mod controller;
mod endpoints;
mod execute;
mod gate;
mod inventory;
mod outcome;
mod overview;
mod parent;
mod planning;
mod preview;
mod reach;
mod record;
mod serve;
mod settings;
mod survey;
mod sync;
mod targets;
mod tree;
mod wait;

pub use access::Access;
pub use clock::now;
pub use outcome::{Done, Outcome};
pub use overview::{Overview, Readiness, Ready, Scope, SourceView, SyncView, TargetView, overview};
pub use planning::{Planned, install_kinds, make_plan};
pub use preview::preview;
pub use serve::{Served, serve};
pub use settings::{Settings, applyset_id};
pub use survey::Survey;
pub use sync::{Report, is_good, rendered_digest, sync};
pub use targets::TargetReport;
pub use tree::{Node, SyncTree, Tree, tree};
pub use wait::Unhealthy;
