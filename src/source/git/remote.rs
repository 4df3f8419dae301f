//! A repository on a server, fetched into the cache.

use std::path::Path;

use git2::{Commit, ErrorCode, Oid, Repository};
use sha2::{Digest as _, Sha256};

use super::cache::{Failed, with_entry};
use super::connection::{Connection, Server};
use super::host_keys::HostKeys;
use super::reference::{Advertised, Wanted, candidates, is_abbreviated, revision, similar};
use super::url::{Remote, Transport};
use super::{GitSource, tree};
use crate::api::digest::hex;
use crate::source::{Found, Limits, SourceError};

/// Fetches one commit without its history, or with it where the server cannot do that.
///
/// The server is asked each time, even for a commit that is in the cache: only it can tell whether these credentials may
/// (still) read the repository.
pub(super) fn fetch(
    source: &GitSource,
    remote: &Remote,
    cache_dir: &Path,
    limits: &Limits,
) -> Result<Found, SourceError> {
    let server = Server::new(source, remote, cache_dir, limits)?;
    let tip = with_entry(
        cache_dir,
        &server.entry(),
        limits.timeout,
        |repository, is_new| server.tip(repository, is_new),
    )?;
    match tip {
        Some(found) => Ok(found),
        None => server.with_history(cache_dir, |repository| {
            let (name, id) = server.search(repository)?;
            server.read(repository, name.as_deref(), id)
        }),
    }
}

/// Asks for the server's refs only. That needs no cache entry, so that it does not wait for a fetch of the same repository.
pub(super) fn check(
    source: &GitSource,
    remote: &Remote,
    cache_dir: &Path,
    limits: &Limits,
) -> Result<String, SourceError> {
    let server = Server::new(source, remote, cache_dir, limits)?;
    match server.connect(None, |connection| server.revision(&connection))? {
        Some(revision) => Ok(revision),
        None => server.with_history(cache_dir, |repository| {
            let (name, id) = server.search(repository)?;
            let commit = server.commit(repository, id)?;
            Ok(revision(name.as_deref(), commit.id()))
        }),
    }
}

impl From<SourceError> for Failed {
    fn from(error: SourceError) -> Self {
        Self::Final(error)
    }
}

impl<'a> Server<'a> {
    fn new(
        source: &'a GitSource,
        remote: &'a Remote,
        cache_dir: &Path,
        limits: &'a Limits,
    ) -> Result<Self, SourceError> {
        let host_keys = match remote.transport {
            Transport::Ssh => {
                let repository = source.url.to_string();
                let credentials = &source.credentials;
                Some(HostKeys::read(remote, repository, credentials, cache_dir)?)
            }
            Transport::Http | Transport::Https | Transport::Git => None,
        };
        Ok(Self {
            source,
            remote,
            limits,
            host_keys,
        })
    }

    /// Names the cache entry for commits without history.
    fn entry(&self) -> String {
        hex(&Sha256::digest(&self.remote.bare))
    }

    /// Uses the cache entry that holds the history. It is another one than that of single commits: libgit2 does not mix them
    /// well.
    fn with_history<T>(
        &self,
        cache_dir: &Path,
        use_it: impl Fn(&Repository) -> Result<T, Failed>,
    ) -> Result<T, SourceError> {
        let name = format!("{}-full", self.entry());
        with_entry(cache_dir, &name, self.limits.timeout, |repository, _| {
            use_it(repository)
        })
    }

    /// Tells from the server's refs which commit the source names. Gives nothing if they do not tell.
    fn revision(&self, connection: &Connection<'_, '_>) -> Result<Option<String>, SourceError> {
        let wanted = Wanted::new(self.source.reference.as_deref());
        Ok(match (self.pick(&wanted, connection)?, wanted) {
            (Some(found), _) => {
                // For a tag with a message the server also says which commit it leads to.
                let peeled = format!("{}^{{}}", found.name);
                let peeled = connection.refs.iter().find(|it| it.name == peeled);
                let id = peeled.unwrap_or(found).id;
                Some(revision(label(found).as_deref(), id))
            }
            (None, Wanted::Commit(id)) => Some(revision(None, id)),
            (None, Wanted::Head | Wanted::Name(_)) => None,
        })
    }

    /// Reads what the source names, fetched alone. Gives nothing if that needs the history.
    fn tip(&self, repository: &Repository, is_new: bool) -> Result<Option<Found>, Failed> {
        self.connect(Some(repository), |mut connection| {
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

    /// Fetches what the source names with its history. Gives the ref that led to it, and the commit or a tag of it.
    fn search(&self, repository: &Repository) -> Result<(Option<String>, Oid), Failed> {
        self.connect(Some(repository), |mut connection| {
            let wanted = Wanted::new(self.source.reference.as_deref());
            if let Some(found) = self.pick(&wanted, &connection)? {
                let (name, id) = (label(found), found.id);
                let refspec = refspec(&found.name);
                if !has(repository, id) {
                    self.fetch(&mut connection, &[refspec], 0)
                        .map_err(Failed::Suspect)?;
                }
                return Ok((name, id));
            }
            let known = || match wanted {
                Wanted::Commit(id) => Some(id).filter(|id| has(repository, *id)),
                Wanted::Name(text) => repository.revparse_single(text).map(|it| it.id()).ok(),
                Wanted::Head => None,
            };
            if let Some(id) = known() {
                return Ok((None, id));
            }
            let all = ["heads", "tags"].map(|kind| format!("+refs/{kind}/*:refs/fetched/{kind}/*"));
            self.fetch(&mut connection, &all, 0)
                .map_err(Failed::Suspect)?;
            let id = known().ok_or_else(|| self.not_found(&connection.refs))?;
            Ok((None, id))
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

    fn commit<'r>(&self, repository: &'r Repository, id: Oid) -> Result<Commit<'r>, Failed> {
        let found = repository.find_object(id, None);
        let commit = found.and_then(|object| object.peel_to_commit());
        commit.map_err(|error| match error.code() {
            ErrorCode::Peel | ErrorCode::InvalidSpec => {
                Failed::Final(self.source.not_a_commit(&error))
            }
            _ => damaged(repository, error.message().to_owned()),
        })
    }

    fn read(&self, repository: &Repository, name: Option<&str>, id: Oid) -> Result<Found, Failed> {
        let commit = self.commit(repository, id)?;
        let at = tree::At {
            repository: self.source.url.to_string(),
            revision: revision(name, commit.id()),
            path: self.source.path.as_deref().unwrap_or_default(),
            values_files: &self.source.values_files,
        };
        tree::read(repository, &commit, &at, self.limits).map_err(|error| match error {
            SourceError::Repository { detail, .. } => damaged(repository, detail),
            error => Failed::Final(error),
        })
    }
}

fn damaged(repository: &Repository, detail: String) -> Failed {
    Failed::Suspect(SourceError::Cache {
        entry: repository.path().to_owned(),
        detail,
    })
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
