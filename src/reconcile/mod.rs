//! Drives the pipeline against a cluster.

mod access;
mod agent;
mod approval;
mod clock;
mod compute;
pub mod configuration;
mod contents;
pub mod controller;
mod endpoints;
mod execute;
mod gate;
mod inventory;
mod limits;
mod outcome;
mod overview;
mod parent;
mod planning;
mod policies;
mod preview;
mod reach;
mod record;
mod rollout;
mod saved;
mod serve;
mod settings;
mod survey;
mod sync;
mod targets;
mod tree;
mod wait;

pub use access::Access;
pub use approval::{PruneApproval, Waits};
pub use clock::now;
pub use limits::Limits;
pub use outcome::{Done, Outcome};
pub use overview::{
    CampaignView, Overview, Readiness, Ready, Scope, SourceView, SyncView, TargetView, overview,
};
pub use planning::{Planned, install_kinds, make_plan, plan_loaded};
pub use preview::preview;
pub use rollout::Insight;
pub use saved::{Saved, SavedError, StandIn, deploy, save};
pub use serve::{Served, Terms, clear_away, serve};
pub use settings::{Settings, applyset_id};
pub use survey::Survey;
pub use sync::{Report, comes_back_changed, is_good, rendered_digest, sync};
pub use targets::TargetReport;
pub use tree::{Node, SyncTree, Tree, tree};
pub use wait::Unhealthy;
