//! Documents and what is known of the cluster -> desired objects and status. Pure.

mod desired;
mod injection;
mod network_policy;
mod normalise;
mod selector;
mod service;
mod service_name;
mod status;
#[cfg(test)]
mod status_tests;
mod target;

pub use desired::{Desired, Resolved, resolve};
pub use injection::{
    AgentImage, AgentPatch, AgentState, Composed, ContainerShape, EnvValue, LEFT_TO_CONTROLLER,
    NotInjected, PodShape, PortShape, WithAgent, agent_patch, compose, rival,
};
pub use network_policy::{
    NETWORK_POLICY_READY, NetworkPolicyState, NoNetworkPolicy, network_policy,
};
pub(crate) use normalise::SERVER_METADATA;
pub use normalise::stamp;
pub use service::{NoService, coverage_service, with_owner};
pub use service_name::service_name;
pub use status::{ServiceState, drift, status};
pub use target::{Deployment, LiveTarget, Target};
