//! The contract: kinds, names, annotations, conditions. Plain data, no IO.

pub mod condition;
pub mod config;
mod crd;
pub mod digest;
mod duration;
pub mod names;
pub mod network_policy;
mod object;
mod spec;
pub mod sync;
pub mod target;

pub use config::Config;
pub use crd::crds;
pub use duration::parse_duration;
pub use object::{GroupKind, ObjectId, Scope, split_api_version};
pub use spec::read_spec;
pub use sync::Sync;
pub use target::ClosureJVMTarget;
