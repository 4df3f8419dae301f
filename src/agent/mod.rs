//! The coverage agent on its way into a pod: from the image into the volume that the JVM's container shares.

mod error;
mod install;
mod jar;
mod manifest;

pub use error::AgentError;
pub use install::{DEFAULT_JAR, FILE_NAME, Installed, install};
