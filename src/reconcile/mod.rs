//! Drives the pipeline against a cluster.

pub mod configuration;
mod contents;
mod endpoints;
mod execute;
mod gate;
mod inventory;
mod outcome;
mod parent;
mod planning;
mod preview;
mod record;
mod settings;
mod survey;
mod sync;
mod targets;
mod wait;

pub use outcome::{Done, Outcome};
pub use planning::{Planned, install_kinds, make_plan};
pub use preview::preview;
pub use settings::Settings;
pub use survey::Survey;
pub use sync::{Report, sync};
pub use targets::TargetReport;
pub use wait::Unhealthy;
