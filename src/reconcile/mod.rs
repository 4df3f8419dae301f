//! Drives the pipeline against a cluster.

mod contents;
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
mod settings;
mod survey;
mod sync;
mod targets;
mod tree;
mod wait;

pub use outcome::{Done, Outcome};
pub use overview::{Overview, Readiness, Ready, Scope, SourceView, SyncView, TargetView, overview};
pub use planning::{Planned, install_kinds, make_plan};
pub use preview::preview;
pub use settings::Settings;
pub use survey::Survey;
pub use sync::{Report, sync};
pub use targets::TargetReport;
pub use tree::{Node, SyncTree, Tree, tree};
pub use wait::Unhealthy;
