//! Why there is no agent.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why the agent could not be installed.
#[derive(Debug, Error)]
pub enum AgentError {
    /// The jar cannot be read.
    #[error("read the agent {}: {}", .0.display(), .1)]
    Read(PathBuf, io::Error),
    /// What is there is not an agent that a JVM would load.
    #[error("the agent {} {}", .0.display(), .1)]
    Jar(PathBuf, JarError),
    /// The folder is no place to put it.
    #[error("install the agent in {}: {}", .0.display(), .1)]
    Write(PathBuf, io::Error),
}

impl AgentError {
    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Read(_, error) if error.kind() == io::ErrorKind::NotFound => Some(
                "images that deploy/build-image-root made have it there; elsewhere name one with --jar (deploy/agent/README.md)",
            ),
            Self::Jar(..) => Some(
                "it must be JaCoCo's jacocoagent.jar, or the org.jacoco.agent jar that holds it",
            ),
            _ => None,
        }
    }
}

/// What is wrong with a jar.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum JarError {
    #[error("is no jar, or not all of one: it has no directory at its end")]
    NoArchive,
    #[error("is damaged: {0}")]
    Damaged(&'static str),
    #[error("has {name} in a form that jars do not use (method {method})")]
    Method { name: String, method: u16 },
    #[error("has more than {limit} bytes of {name}")]
    TooLarge { name: String, limit: usize },
    #[error("has no META-INF/MANIFEST.MF")]
    NoManifest,
    #[error("is no Java agent: its manifest has no Premain-Class")]
    NoAgent,
    #[error("is an agent, but not JaCoCo's: its Premain-Class is {0}")]
    Foreign(String),
    #[error("names {0} as its Premain-Class, and does not hold it")]
    NoClass(String),
}
