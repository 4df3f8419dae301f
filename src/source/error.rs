//! Why a source gives no snapshot at all.

use std::io;
use std::path::PathBuf;

/// A source that could not be read as a whole; nothing may be applied or pruned from it.
///
/// Faults of single files are diagnostics of the snapshot instead. No variant carries a credential: URLs are redacted
/// before they get here.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SourceError {
    /// The directory, file or local repository is not there (unlike one that is there and empty).
    #[error("read {}: no such file or directory", .path.display())]
    NotFound {
        /// What was asked for.
        path: PathBuf,
    },
    /// The path is a FIFO, a device or a socket, which are never opened.
    #[error("read {}: is {what}, neither a directory nor a regular file", .path.display())]
    Special {
        /// What was asked for.
        path: PathBuf,
        /// What it is instead, with its article.
        what: &'static str,
    },
    /// The path leads out of the directories that may be read.
    #[error("read {}: it leads out of the directories that the controller's Config allows (directories)", .path.display())]
    NotAllowed {
        /// What was asked for.
        path: PathBuf,
    },
    /// The operating system refused.
    #[error("read {}", .path.display())]
    Unreadable {
        /// What was asked for.
        path: PathBuf,
        /// Its answer.
        source: io::Error,
    },
    /// The URL of a repository cannot be understood.
    #[error("read the repository URL: {detail}")]
    InvalidUrl {
        /// What is wrong with it; never the URL itself, which may hold a password.
        detail: String,
    },
    /// The local path is no git repository.
    #[error("open {repository}: not a git repository")]
    NotARepository {
        /// Redacted URL or path.
        repository: String,
    },
    /// A local repository is damaged or incomplete.
    #[error("read {repository}: {detail}")]
    Repository {
        /// Redacted URL or path.
        repository: String,
        /// libgit2's words.
        detail: String,
    },
    /// No branch, tag or commit has that name (any more).
    #[error("find {reference} in {repository}: no such branch, tag or commit")]
    RefNotFound {
        /// What was asked for.
        reference: String,
        /// Redacted URL or path.
        repository: String,
        /// Branches and tags with a similar name.
        similar: Vec<String>,
    },
    /// The ref exists and leads to no single commit: a tag of a blob, an abbreviation of several commits.
    #[error("find {reference} in {repository}: {detail}")]
    NotACommit {
        /// What was asked for.
        reference: String,
        /// Redacted URL or path.
        repository: String,
        /// libgit2's words.
        detail: String,
    },
    /// The commit exists, the path in it does not (unlike a directory without manifests).
    #[error("read {path} of {repository} at {revision}: no such path in this commit")]
    PathMissing {
        /// What was asked for, relative to the root of the repository.
        path: String,
        /// Redacted URL or path.
        repository: String,
        /// Revision that was looked at.
        revision: String,
    },
    /// The path is a submodule or lies in one; submodules are not fetched.
    #[error(
        "read {path} of {repository} at {revision}: {submodule} is a submodule, which is not fetched"
    )]
    InSubmodule {
        /// What was asked for, relative to the root of the repository.
        path: String,
        /// The submodule's path.
        submodule: String,
        /// Redacted URL or path.
        repository: String,
        /// Revision that was looked at.
        revision: String,
    },
    /// The server refused our credentials, or wants some and there are none.
    #[error("fetch {repository}: {detail}")]
    Auth {
        /// Redacted URL.
        repository: String,
        /// What was tried.
        detail: String,
    },
    /// The SSH server's key is unknown, or is not the one on record.
    #[error("fetch {repository}: {detail}")]
    HostKey {
        /// Redacted URL.
        repository: String,
        /// What the server showed.
        detail: String,
        /// What to do.
        fix: String,
    },
    /// The repository could not be reached or its answer not be understood.
    #[error("fetch {repository}: {detail}")]
    Transport {
        /// Redacted URL.
        repository: String,
        /// libgit2's words.
        detail: String,
    },
    /// The fetch was stopped because of its size.
    #[error("fetch {repository}: stopped after {limit} bytes")]
    TooLarge {
        /// Redacted URL.
        repository: String,
        /// The limit, in bytes.
        limit: usize,
    },
    /// The local copy of a remote repository cannot be used, even after it was fetched anew.
    #[error("use the git cache {}: {detail}", .entry.display())]
    Cache {
        /// The cache entry.
        entry: PathBuf,
        /// What went wrong.
        detail: String,
    },
}

impl SourceError {
    /// Says what to do about it, where that can be said.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::RefNotFound { similar, .. } if !similar.is_empty() => {
                Some(format!("did you mean {}?", similar.join(", ")))
            }
            Self::HostKey { fix, .. } => Some(fix.clone()),
            Self::InSubmodule { .. } => {
                Some("give the submodule's own repository as a source".to_owned())
            }
            Self::Cache { .. } => {
                Some("see that the cache directory is ours to write and has room".to_owned())
            }
            Self::Repository { .. } => Some(
                "`git fsck` in it tells what is missing; a partial clone needs `git fetch --refetch --no-filter`".to_owned(),
            ),
            _ => None,
        }
    }
}
