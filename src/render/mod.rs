//! Documents and what is known of the cluster -> desired objects and status. Pure.

mod desired;
mod diagnosis;
mod injection;
mod installed;
mod network_policy;
mod normalise;
mod rollout;
mod selector;
mod service;
mod service_name;
mod status;
#[cfg(test)]
mod status_tests;
mod target;

pub use desired::{Desired, Resolved, resolve};
pub use diagnosis::{Case, Diagnosis, Finding, LogWanted, PodFacts, carrier, pod_selector};
pub use injection::{
    AgentImage, AgentPatch, AgentState, Composed, ContainerShape, EnvValue, LEFT_TO_CONTROLLER,
    NotInjected, PodShape, PortShape, REVERTED, WithAgent, agent_patch, compose, rival,
    without_agent,
};
pub use installed::installed;
pub use network_policy::{
    NETWORK_POLICY_READY, NetworkPolicyState, NoNetworkPolicy, network_policy,
};
pub(crate) use normalise::SERVER_METADATA;
pub use normalise::stamp;
pub use rollout::{Rollout, Stalled};
pub use service::{NoService, coverage_service, with_owner};
pub use service_name::service_name;
pub use status::{AGENT_INJECTED, ServiceState, drift, status};
pub use target::{Deployment, LiveTarget, Target};
