//! A commit of a git repository as a source.

mod cache;
mod checkout;
mod connection;
mod credentials;
mod host_keys;
mod known_hosts;
mod local;
mod login;
mod memory;
mod options;
mod reference;
mod remote;
mod secret;
mod tree;
mod url;

use std::path::Path;

pub(super) use checkout::lacking;
pub use credentials::{Credentials, Material, SshKey};
pub use local::enclosing;
use url::Place;
pub use url::RepositoryUrl;

use super::{Found, Limits, SourceError};

/// Which files of which repository.
#[derive(Clone, Debug)]
pub struct GitSource {
    /// Where the repository is.
    pub url: RepositoryUrl,
    /// Branch, tag, full ref name (`refs/…`) or commit; the default branch if there is none. For a repository on this
    /// machine also what `git rev-parse` takes.
    pub reference: Option<String>,
    /// Directory or file in the commit, with `/` between its parts; all of it if there is none.
    pub path: Option<String>,
    /// Files of the commit that a chart needs beside its own, from the chart's folder.
    pub values_files: Vec<String>,
    /// How to log in.
    pub credentials: Credentials,
}

/// Reads the manifests of a commit, or what they are built from.
///
/// A local repository is opened in place and only read. A remote one is fetched into a bare repository below `cache_dir`,
/// without history where the server allows that. Blocks: call it where blocking is allowed.
///
/// # Errors
/// When repository, ref or path are missing, the server refuses, or the cache cannot be used.
pub fn fetch(source: &GitSource, cache_dir: &Path, limits: &Limits) -> Result<Found, SourceError> {
    options::initialise(limits.timeout);
    match source.url.place() {
        Place::Local(path) => local::fetch(source, path, limits),
        Place::Remote(remote) => remote::fetch(source, remote, cache_dir, limits),
    }
}

/// Tells which revision [`fetch`] would give at present, at the price of the server's list of refs: nothing is fetched and no
/// file is read. Blocks.
///
/// That the commit is there, and the path in it, only a fetch tells. An abbreviated commit is not in the list: it is looked up
/// among what was fetched, and fetched with all history the first time.
///
/// # Errors
/// As those of [`fetch`], without those that concern the content of the commit.
pub fn check(source: &GitSource, cache_dir: &Path, limits: &Limits) -> Result<String, SourceError> {
    options::initialise(limits.timeout);
    match source.url.place() {
        Place::Local(path) => local::check(source, path),
        Place::Remote(remote) => remote::check(source, remote, cache_dir, limits),
    }
}

impl GitSource {
    fn ref_not_found(&self, similar: Vec<String>) -> SourceError {
        SourceError::RefNotFound {
            reference: self.reference.clone().unwrap_or_else(|| "HEAD".to_owned()),
            repository: self.url.to_string(),
            similar,
        }
    }

    fn not_a_commit(&self, error: &git2::Error) -> SourceError {
        SourceError::NotACommit {
            reference: self.reference.clone().unwrap_or_else(|| "HEAD".to_owned()),
            repository: self.url.to_string(),
            detail: error.message().to_owned(),
        }
    }

    fn damaged(&self, error: &git2::Error) -> SourceError {
        SourceError::Repository {
            repository: self.url.to_string(),
            detail: memory::told(error),
        }
    }
}
