//! One conversation with a git server.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use git2::{
    AutotagOption, CertificateCheckStatus, Direction, Error, ErrorClass, ErrorCode, FetchOptions,
    FetchPrune, ProxyOptions, RemoteCallbacks, RemoteConnection, Repository,
};

use super::GitSource;
use super::host_keys::HostKeys;
use super::login::Login;
use super::memory;
use super::options::OnlyHostKeys;
use super::reference::Advertised;
use super::url::{Remote, Transport};
use crate::source::{Limits, SourceError};

/// What all connections for one fetch of a source have in common.
pub(super) struct Server<'a> {
    pub(super) source: &'a GitSource,
    pub(super) remote: &'a Remote,
    pub(super) limits: &'a Limits,
    /// Present for ssh.
    pub(super) host_keys: Option<HostKeys<'a>>,
}

/// Why libgit2 was told to stop; its own error is only "callback returned -1" then.
#[derive(Default)]
struct Notes {
    refused: Option<String>,
    /// What the server was told last, if anything.
    tried: Option<String>,
    error: Option<SourceError>,
}

/// An open connection and the refs that the server offers.
pub(super) struct Connection<'r, 'c> {
    inner: RemoteConnection<'r, 'c, 'c>,
    pub(super) refs: Vec<Advertised>,
}

impl<'a> Server<'a> {
    /// Connects, and hands the connection to `talk`. Only with a repository can it fetch.
    pub(super) fn connect<T, E: From<SourceError>>(
        &self,
        repository: Option<&Repository>,
        talk: impl FnOnce(Connection<'_, '_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let notes = RefCell::default();
        let explain = |error: Error| E::from(self.explain(&error, &notes));
        let remote = || match repository {
            Some(repository) => repository.remote_anonymous(&self.remote.bare),
            None => git2::Remote::create_detached(self.remote.bare.as_str()),
        };
        let (mut first, mut second) = (remote().map_err(explain)?, remote().map_err(explain)?);
        let inner = match (self.open(&mut first, &notes), &self.host_keys) {
            (Ok(inner), _) => inner,
            (Err(_), Some(keys)) if keys.is_other_kind.take() => {
                let _only = OnlyHostKeys::new(&keys.lines);
                notes.take();
                self.open(&mut second, &notes).map_err(explain)?
            }
            (Err(error), _) => return Err(explain(error)),
        };
        let refs = match inner.list() {
            Ok(heads) => heads.iter().filter_map(advertised).collect(),
            Err(error) => return Err(explain(error)),
        };
        talk(Connection { inner, refs })
    }

    fn open<'r, 'c>(
        &'c self,
        remote: &'c mut git2::Remote<'r>,
        notes: &'c RefCell<Notes>,
    ) -> Result<RemoteConnection<'r, 'c, 'c>, Error> {
        let callbacks = Some(self.callbacks(notes));
        remote.connect_auth(Direction::Fetch, callbacks, Some(self.proxy()))
    }

    /// Fetches refs into the repository, with their history or (`depth` 1) without.
    pub(super) fn fetch(
        &self,
        connection: &mut Connection<'_, '_>,
        refspecs: &[String],
        depth: i32,
    ) -> Result<(), SourceError> {
        let notes = RefCell::default();
        let mut options = FetchOptions::new();
        options
            .remote_callbacks(self.callbacks(&notes))
            .proxy_options(self.proxy())
            .download_tags(AutotagOption::None)
            .update_fetchhead(false)
            .prune(FetchPrune::Off)
            .depth(depth);
        connection
            .inner
            .remote()
            .fetch(refspecs, Some(&mut options), None)
            .map_err(|error| self.explain(&error, &notes))
    }

    fn proxy(&self) -> ProxyOptions<'static> {
        let mut proxy = ProxyOptions::new();
        if self.source.credentials.system_proxy {
            proxy.auto();
        }
        proxy
    }

    fn callbacks<'n>(&'n self, notes: &'n RefCell<Notes>) -> RemoteCallbacks<'n> {
        let mut callbacks = RemoteCallbacks::new();
        let mut login = Login::new(self.remote, &self.source.credentials);
        callbacks.credentials(move |url, _, allowed| {
            let answer = login.next(url, allowed);
            let mut notes = notes.borrow_mut();
            notes.refused = login.refused.take();
            notes.tried = login.explain();
            answer
        });
        callbacks.certificate_check(move |certificate, _| {
            let (Some(shown), Some(keys)) = (certificate.as_hostkey(), &self.host_keys) else {
                // TLS: OpenSSL's verdict stands. "Ok" here would accept any certificate.
                return Ok(CertificateCheckStatus::CertificatePassthrough);
            };
            match keys.check(shown.hostkey().unwrap_or_default()) {
                Ok(()) => Ok(CertificateCheckStatus::CertificateOk),
                Err(error) => {
                    let text = error.to_string();
                    notes.borrow_mut().error = Some(error);
                    Err(Error::new(ErrorCode::Certificate, ErrorClass::Ssh, text))
                }
            }
        });
        callbacks.transfer_progress(move |progress| {
            let is_too_large = progress.received_bytes() > self.limits.fetch_bytes;
            if is_too_large {
                notes.borrow_mut().error = Some(SourceError::TooLarge {
                    repository: self.source.url.to_string(),
                    limit: self.limits.fetch_bytes,
                });
            }
            !is_too_large
        });
        callbacks
    }

    /// Turns libgit2's error into ours.
    fn explain(&self, error: &Error, notes: &RefCell<Notes>) -> SourceError {
        let notes = notes.take();
        if let Some(error) = notes.error {
            return error;
        }
        let repository = self.source.url.to_string();
        let message = error.message();
        let is_http = matches!(self.remote.transport, Transport::Http | Transport::Https);
        let is_forbidden = is_http && (message.contains("401") || message.contains("403"));
        // libssh2 cannot use a key (wrong passphrase, unknown format): said in its own words.
        let is_login = error.class() == ErrorClass::Ssh && message.contains("authenticat");
        let tried = notes.tried.filter(|_| is_login);
        let tried = tried.map(|tried| format!("{tried}: {message}"));
        match notes.refused.or(tried) {
            Some(detail) => SourceError::Auth { repository, detail },
            None if error.code() == ErrorCode::Auth || is_forbidden => SourceError::Auth {
                repository,
                detail: format!("the server does not let us in: {message}"),
            },
            None => SourceError::Transport {
                repository,
                detail: memory::told(error),
            },
        }
    }
}

/// Reads a ref of the server's list, or passes over one whose name is not UTF-8: git2 panics on it, and no ref that we
/// could ask for has such a name.
fn advertised(head: &git2::RemoteHead<'_>) -> Option<Advertised> {
    catch_unwind(AssertUnwindSafe(|| Advertised {
        name: head.name().to_owned(),
        id: head.oid(),
        target: head.symref_target().map(str::to_owned),
    }))
    .ok()
}
