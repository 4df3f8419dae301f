//! A repository on a server, fetched into the cache.

use std::path::Path;

use git2::{ErrorCode, Oid, Repository};
use sha2::{Digest as _, Sha256};

use super::cache::{Failed, with_entry};
use super::connection::{Connection, Server};
use super::host_keys::HostKeys;
use super::reference::{Advertised, Wanted, candidates, is_abbreviated, revision, similar};
use super::url::{Remote, Transport};
use super::{GitSource, tree};
use crate::api::digest::hex;
use crate::load::Snapshot;
use crate::source::{Limits, SourceError};

/// Fetches one commit without its history, or with it where the server cannot do that.
///
/// The server is asked each time, even for a commit that is in the cache: only it can tell whether these credentials may
/// (still) read the repository.
pub(super) fn fetch(
    source: &GitSource,
    remote: &Remote,
    cache_dir: &Path,
    limits: &Limits,
) -> Result<Snapshot, SourceError> {
    let host_keys = match remote.transport {
        Transport::Ssh => {
            let repository = source.url.to_string();
            let credentials = &source.credentials;
            Some(HostKeys::read(remote, repository, credentials, cache_dir)?)
        }
        Transport::Http | Transport::Https | Transport::Git => None,
    };
    let server = Server {
        source,
        remote,
        limits,
        host_keys,
    };
    let name = hex(&Sha256::digest(&remote.bare));
    let timeout = limits.timeout;
    // Repositories with and without history are kept apart: libgit2 does not mix them well.
    match with_entry(cache_dir, &name, timeout, |repository, is_new| {
        server.tip(repository, is_new)
    })? {
        Some(snapshot) => Ok(snapshot),
        None => with_entry(
            cache_dir,
            &format!("{name}-full"),
            timeout,
            |repository, _| server.history(repository),
        ),
    }
}

impl From<SourceError> for Failed {
    fn from(error: SourceError) -> Self {
        Self::Final(error)
    }
}

impl Server<'_> {
    /// Reads what the source names, fetched alone. Gives nothing if that needs the history.
    fn tip(&self, repository: &Repository, is_new: bool) -> Result<Option<Snapshot>, Failed> {
        self.connect(repository, |mut connection| {
            let wanted = Wanted::new(self.source.reference.as_deref());
            let (name, id, refspec) = match self.pick(&wanted, &connection)? {
                Some(found) => (label(found), found.id, refspec(&found.name)),
                None => match wanted {
                    Wanted::Commit(id) => (None, id, format!("+{id}:refs/fetched/{id}")),
                    _ => return Ok(None),
                },
            };
            if !has(repository, id) {
                match self.fetch(&mut connection, &[refspec], 1) {
                    Ok(()) if has(repository, id) => {}
                    Err(error @ (SourceError::Auth { .. } | SourceError::TooLarge { .. })) => {
                        return Err(Failed::Final(error));
                    }
                    Err(error) if !is_new => return Err(Failed::Suspect(error)),
                    // The server cannot fetch without history, or not a commit that no ref names.
                    Ok(()) | Err(_) => return Ok(None),
                }
            }
            self.read(repository, name.as_deref(), id).map(Some)
        })
    }

    /// Reads what the source names, fetched with its history.
    fn history(&self, repository: &Repository) -> Result<Snapshot, Failed> {
        self.connect(repository, |mut connection| {
            let wanted = Wanted::new(self.source.reference.as_deref());
            if let Some(found) = self.pick(&wanted, &connection)? {
                let (name, id) = (label(found), found.id);
                let refspec = refspec(&found.name);
                if !has(repository, id) {
                    self.fetch(&mut connection, &[refspec], 0)
                        .map_err(Failed::Suspect)?;
                }
                return self.read(repository, name.as_deref(), id);
            }
            let known = || match wanted {
                Wanted::Commit(id) => Some(id).filter(|id| has(repository, *id)),
                Wanted::Name(text) => repository.revparse_single(text).map(|it| it.id()).ok(),
                Wanted::Head => None,
            };
            let id = match known() {
                Some(id) => id,
                None => {
                    let all = ["heads", "tags"]
                        .map(|kind| format!("+refs/{kind}/*:refs/fetched/{kind}/*"));
                    self.fetch(&mut connection, &all, 0)
                        .map_err(Failed::Suspect)?;
                    known().ok_or_else(|| self.not_found(&connection.refs))?
                }
            };
            self.read(repository, None, id)
        })
    }

    /// Finds the ref that the source names; nothing if it may be a commit's name.
    fn pick<'c>(
        &self,
        wanted: &Wanted<'_>,
        connection: &'c Connection<'_, '_>,
    ) -> Result<Option<&'c Advertised>, SourceError> {
        let refs = &connection.refs;
        let named = |name: &str| refs.iter().find(|it| it.name == name);
        match wanted {
            Wanted::Commit(_) => Ok(None),
            Wanted::Head => {
                let head = named("HEAD").ok_or_else(|| self.not_found(refs))?;
                Ok(Some(head.target.as_deref().and_then(named).unwrap_or(head)))
            }
            Wanted::Name(text) => match candidates(text).iter().find_map(|name| named(name)) {
                None if !is_abbreviated(text) => Err(self.not_found(refs)),
                found => Ok(found),
            },
        }
    }

    fn not_found(&self, refs: &[Advertised]) -> SourceError {
        let wanted = self.source.reference.as_deref().unwrap_or("HEAD");
        let names = refs.iter().map(|it| it.name.as_str());
        self.source.ref_not_found(similar(wanted, names))
    }

    fn read(
        &self,
        repository: &Repository,
        name: Option<&str>,
        id: Oid,
    ) -> Result<Snapshot, Failed> {
        let damaged = |detail| SourceError::Cache {
            entry: repository.path().to_owned(),
            detail,
        };
        let found = repository.find_object(id, None);
        let commit = found.and_then(|object| object.peel_to_commit());
        let commit = commit.map_err(|error| match error.code() {
            ErrorCode::Peel | ErrorCode::InvalidSpec => {
                Failed::Final(self.source.not_a_commit(&error))
            }
            _ => Failed::Suspect(damaged(error.message().to_owned())),
        })?;
        let at = tree::At {
            repository: self.source.url.to_string(),
            revision: revision(name, commit.id()),
            path: self.source.path.as_deref().unwrap_or_default(),
        };
        tree::read(repository, &commit, &at, self.limits).map_err(|error| match error {
            SourceError::Repository { detail, .. } => Failed::Suspect(damaged(detail)),
            error => Failed::Final(error),
        })
    }
}

/// Tells whether a commit, or a tag of one, was fetched before. A fetch stores all objects of a commit or none.
fn has(repository: &Repository, id: Oid) -> bool {
    repository.find_object(id, None).is_ok()
}

/// The name to show for a ref; a detached `HEAD` has none.
fn label(found: &Advertised) -> Option<String> {
    (found.name != "HEAD").then(|| found.name.clone())
}

/// Fetches a ref by force: after a rewrite of history the new commit is what the source says. Its name here is a hash,
/// because `a` and `a/b` cannot both exist, but may one after the other.
fn refspec(name: &str) -> String {
    format!("+{name}:refs/fetched/{}", hex(&Sha256::digest(name)))
}
