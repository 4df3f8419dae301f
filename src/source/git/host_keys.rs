//! Decides whether an ssh server is the one it should be.

use std::cell::Cell;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::cache::make_directory;
use super::credentials::{Credentials, Material};
use super::known_hosts::{KnownHosts, Verdict, algorithm, record};
use super::options;
use super::url::Remote;
use crate::source::SourceError;

/// The keys a source accepts, and what to do with a server that shows another one.
pub(super) struct HostKeys<'a> {
    remote: &'a Remote,
    repository: String,
    known: KnownHosts,
    /// Where keys accepted at first sight are kept; present if that is allowed.
    accepted: Option<PathBuf>,
    /// Where a person would add a key.
    file: PathBuf,
    /// The lines for this server, in plain text.
    pub(super) lines: Vec<String>,
    /// Whether the server last showed a key of a kind that is not on record, while others are.
    pub(super) is_other_kind: Cell<bool>,
}

impl<'a> HostKeys<'a> {
    pub(super) fn read(
        remote: &'a Remote,
        repository: String,
        credentials: &Credentials,
        cache_dir: &Path,
    ) -> Result<Self, SourceError> {
        // The servers' keys are kept in there, too.
        make_directory(cache_dir).map_err(|error| SourceError::Cache {
            entry: cache_dir.to_owned(),
            detail: error.to_string(),
        })?;
        let accepted = credentials
            .accept_new_hosts
            .then(|| cache_dir.join("known_hosts"));
        let files = credentials.known_hosts.iter().filter_map(|it| match it {
            Material::File(path) => Some(path),
            Material::Text(_) => None,
        });
        let mut known = KnownHosts::default();
        for path in files.clone().chain(&accepted) {
            match fs::read(path) {
                Ok(bytes) => known.add(
                    &path.display().to_string(),
                    &String::from_utf8_lossy(&bytes),
                ),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(source) => {
                    let path = path.clone();
                    return Err(SourceError::Unreadable { path, source });
                }
            }
        }
        for material in &credentials.known_hosts {
            if let Material::Text(text) = material {
                known.add("known_hosts", text);
            }
        }
        let file = files.clone().next().cloned();
        let lines = known.plain(&remote.host, remote.port);
        options::prefer_host_keys(cache_dir, &lines);
        Ok(Self {
            remote,
            repository,
            known,
            accepted,
            file: file.unwrap_or_else(|| PathBuf::from("known_hosts")),
            lines,
            is_other_kind: Cell::new(false),
        })
    }

    /// Judges the key that the server shows.
    pub(super) fn check(&self, key: &[u8]) -> Result<(), SourceError> {
        let Remote { host, port, .. } = self.remote;
        let kind = algorithm(key);
        let print = format!("SHA256:{}", STANDARD_NO_PAD.encode(Sha256::digest(key)));
        let verdict = self.known.check(host, *port, key);
        self.is_other_kind
            .set(matches!(verdict, Verdict::OtherKinds(_)));
        let (detail, fix) = match verdict {
            Verdict::Known => return Ok(()),
            Verdict::Unknown => match &self.accepted {
                Some(file) => return self.accept(file, key),
                None => (
                    format!("the server's {kind} key {print} is unknown"),
                    format!(
                        "compare that fingerprint with the one the server's owner publishes, then `ssh-keyscan -p {port} {host} >> {}`",
                        self.file.display()
                    ),
                ),
            },
            Verdict::Changed(place) => (
                format!(
                    "the server shows the {kind} key {print}, not the one of {place}: someone may be in between"
                ),
                format!("ask the server's owner; if the key was replaced, remove {place}"),
            ),
            Verdict::OtherKinds(kinds) => (
                format!(
                    "the server shows the {kind} key {print}, but only {} is on record for it",
                    kinds.join(", ")
                ),
                format!(
                    "compare that fingerprint with the one the server's owner publishes, then `ssh-keyscan -t {kind} -p {port} {host} >> {}`",
                    self.file.display()
                ),
            ),
            Verdict::Revoked(place) => (
                format!("the server shows the {kind} key {print}, which {place} marks as revoked"),
                "ask the server's owner for a new key".to_owned(),
            ),
        };
        Err(SourceError::HostKey {
            repository: self.repository.clone(),
            detail,
            fix,
        })
    }

    /// Remembers a key, so that another one is refused from now on. Without that there is no trust at *first* sight.
    fn accept(&self, file: &Path, key: &[u8]) -> Result<(), SourceError> {
        OpenOptions::new()
            .append(true)
            .create(true)
            .open(file)
            // In one write: another process may add a line of its own.
            .and_then(|mut opened| {
                opened.write_all(record(&self.remote.host, self.remote.port, key).as_bytes())
            })
            .map_err(|error| SourceError::Cache {
                entry: file.to_owned(),
                detail: format!("cannot remember the server's key: {error}"),
            })
    }
}
