//! Errors of commands: what was tried, and what to do about it.

use std::path::PathBuf;

use thiserror::Error;

use crate::agent::AgentError;
use crate::cluster::ClusterError;
use crate::reconcile::SavedError;
use crate::source::SourceError;
use crate::web::BindError;

/// Why a command could not do its work. All of them end it with exit code 2.
#[derive(Debug, Error)]
pub enum CliError {
    /// The arguments make no sense together.
    #[error("{0}")]
    Usage(String),
    /// The source cannot be read at all.
    #[error("{0}")]
    Source(#[from] SourceError),
    /// The cluster cannot be asked.
    #[error("{0}")]
    Cluster(#[from] ClusterError),
    /// Our kinds are not in the cluster.
    #[error(
        "this cluster has no Syncs and no ClosureJVMTargets: their definitions are not installed"
    )]
    NotInstalled,
    /// A saved cluster is of no use.
    #[error("{}: {error}", .path.display())]
    Saved {
        /// Its file.
        path: PathBuf,
        /// Why.
        error: SavedError,
    },
    /// An address cannot be listened on.
    #[error("{0}")]
    Bind(#[from] BindError),
    /// The agent cannot be installed.
    #[error("{0}")]
    Agent(#[from] AgentError),
    /// The result cannot be printed.
    #[error("cannot print: {0}")]
    Output(#[from] std::io::Error),
}

impl CliError {
    /// Makes an error of usage.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Source(error) => error.hint(),
            Self::Agent(error) => error.hint().map(str::to_owned),
            Self::Bind(error) => error.hint().map(str::to_owned),
            Self::Cluster(ClusterError::Unreachable(_)) => Some(
                "is the API server of this kubeconfig and context running? (kubectl cluster-info)"
                    .into(),
            ),
            Self::NotInstalled => {
                Some("install them: covergence crd | kubectl apply --server-side -f -".into())
            }
            Self::Saved { error, .. } => error.hint(),
            _ => None,
        }
    }

    /// Tells whether the reader of our output has gone away, which is nobody's error.
    pub fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
    }
}

impl From<serde_json::Error> for CliError {
    fn from(error: serde_json::Error) -> Self {
        Self::Output(error.into())
    }
}
