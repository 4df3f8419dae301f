//! Drives the pipeline against a cluster.

mod contents;
mod execute;
mod parent;
mod preview;
mod record;
mod run;
mod settings;
mod survey;
mod targets;
mod wait;

pub use contents::guard_contents;
pub use execute::{Done, Outcome};
pub use preview::preview;
pub use run::{Planned, Report, install_kinds, make_plan, sync};
pub use settings::Settings;
pub use survey::{Inventory, Survey, survey};
pub use targets::TargetReport;
pub use wait::Unhealthy;
