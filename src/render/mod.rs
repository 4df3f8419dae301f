//! Documents and what is known of the cluster -> desired objects and status. Pure.

mod desired;
mod normalise;
mod selector;
mod service;
mod service_name;
mod status;
mod target;

pub use crate::api::Scope;
pub use desired::{Desired, Resolved, resolve};
pub use normalise::{digest, sendable, stamp};
pub use selector::service_selector;
pub use service::{NoService, coverage_service, endpoint, with_owner};
pub use service_name::service_name;
pub use status::{ServiceState, status};
pub use target::{Deployment, LiveTarget, Rollout, Target};
