//! The agent in a pod: which container gets it, and exactly what is added for it.

mod image;
mod options;
mod patch;
mod patterns;
mod refusal;
mod shape;
#[cfg(test)]
mod tests;
mod words;

pub use image::AgentImage;
pub use patch::{AgentPatch, agent_patch};
pub use refusal::NotInjected;
pub use shape::{ContainerShape, EnvValue, PodShape, PortShape};
