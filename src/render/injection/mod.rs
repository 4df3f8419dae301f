//! The agent in a pod: which container gets it, and exactly what is added for it.

mod compose;
mod image;
mod options;
mod patch;
mod patterns;
mod refusal;
mod shape;
mod state;
#[cfg(test)]
mod tests;
mod words;

pub use compose::{Composed, WithAgent, compose, rival};
pub use image::{AgentImage, is_out_of_range};
pub use patch::{AgentPatch, agent_patch};
pub use refusal::NotInjected;
pub use shape::{ContainerShape, EnvValue, PodShape, PortShape};
pub use state::{AgentState, LEFT_TO_CONTROLLER, REVERTED};
pub use words::without_agent;
