//! Where a repository is: understood once, and never shown with a password.

use std::fmt;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::source::SourceError;

/// The URL or path of a repository. `Display` and `Debug` leave its secrets out.
#[derive(Clone, PartialEq, Eq)]
pub struct RepositoryUrl(Place);

#[derive(Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// Opened where it is.
    Local(PathBuf),
    Remote(Remote),
}

#[derive(Clone, PartialEq, Eq)]
pub(super) struct Remote {
    pub(super) transport: Transport,
    pub(super) host: String,
    pub(super) port: u16,
    /// What libgit2 is given: no password, and a user only where ssh needs one.
    pub(super) bare: String,
    pub(super) user: Option<String>,
    pub(super) password: Option<String>,
    shown: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transport {
    Ssh,
    Http,
    Https,
    /// `git://`, without any proof of who answers.
    Git,
}

impl RepositoryUrl {
    pub(super) fn place(&self) -> &Place {
        &self.0
    }

    /// The path of a repository on this machine.
    pub fn local_path(&self) -> Option<&Path> {
        match &self.0 {
            Place::Local(path) => Some(path),
            Place::Remote(_) => None,
        }
    }
}

impl From<&Path> for RepositoryUrl {
    fn from(path: &Path) -> Self {
        Self(Place::Local(path.to_owned()))
    }
}

impl FromStr for RepositoryUrl {
    type Err = SourceError;

    /// Reads a URL (`https`, `http`, `ssh`, `git`, `file`), ssh's short form `user@host:path`, or a local path. As in git,
    /// a colon before the first slash makes it the short form.
    fn from_str(text: &str) -> Result<Self, SourceError> {
        if text.is_empty() || text.chars().any(char::is_control) {
            return Err(invalid("it is empty or holds control characters"));
        }
        if let Some((scheme, rest)) = text.split_once("://") {
            return match scheme {
                "file" => local(rest),
                "ssh" | "git+ssh" | "ssh+git" => remote(text, rest, Transport::Ssh),
                "https" => remote(text, rest, Transport::Https),
                "http" => remote(text, rest, Transport::Http),
                "git" => remote(text, rest, Transport::Git),
                _ => Err(invalid("its scheme is none of https, http, ssh, git, file")),
            };
        }
        match text.split_once(':') {
            Some((authority, path)) if !authority.contains('/') => short_form(authority, path),
            _ => Ok(Self(Place::Local(text.into()))),
        }
    }
}

fn invalid(detail: impl Into<String>) -> SourceError {
    SourceError::InvalidUrl {
        detail: detail.into(),
    }
}

fn local(rest: &str) -> Result<RepositoryUrl, SourceError> {
    let path = rest.strip_prefix("localhost").unwrap_or(rest);
    if !path.starts_with('/') {
        return Err(invalid("a file:// URL takes an absolute path and no host"));
    }
    Ok(RepositoryUrl(Place::Local(PathBuf::from(
        std::ffi::OsString::from_vec(percent_decode(path)),
    ))))
}

fn short_form(authority: &str, path: &str) -> Result<RepositoryUrl, SourceError> {
    let (user, host) = match authority.rsplit_once('@') {
        Some((user, host)) => (Some(user.to_owned()), host),
        None => (None, authority),
    };
    if host.is_empty() || path.is_empty() {
        return Err(invalid("a host and a path are needed around the colon"));
    }
    let text = format!("{authority}:{path}");
    Ok(RepositoryUrl(Place::Remote(Remote {
        transport: Transport::Ssh,
        host: host.to_ascii_lowercase(),
        port: 22,
        bare: text.clone(),
        user,
        password: None,
        shown: text,
    })))
}

fn remote(text: &str, rest: &str, transport: Transport) -> Result<RepositoryUrl, SourceError> {
    // The parser's own message may quote what it could not read, for instance a password taken for a port.
    let mut url = url::Url::parse(&match transport {
        Transport::Ssh => format!("ssh://{rest}"),
        _ => text.to_owned(),
    })
    .map_err(|error| invalid(error.to_string()))?;
    let host = url.host_str().unwrap_or_default().to_ascii_lowercase();
    if host.is_empty() {
        return Err(invalid("it names no host"));
    }
    let decoded = |text: &str| String::from_utf8_lossy(&percent_decode(text)).into_owned();
    let user = Some(decoded(url.username())).filter(|user| !user.is_empty());
    let password = url.password().map(decoded).filter(|text| !text.is_empty());
    let shown = redacted(&url, user.as_deref(), password.as_deref(), transport);
    // These fail for URLs without a host only.
    let _ = url.set_password(None);
    if transport != Transport::Ssh {
        let _ = url.set_username("");
    }
    let default_port = match transport {
        Transport::Ssh => 22,
        Transport::Http => 80,
        Transport::Https => 443,
        Transport::Git => 9418,
    };
    Ok(RepositoryUrl(Place::Remote(Remote {
        transport,
        host: host.trim_matches(['[', ']']).to_owned(),
        port: url.port().unwrap_or(default_port),
        bare: url.into(),
        user,
        password,
        shown,
    })))
}

/// Writes a URL for people: the password, a token that stands for the user, and the query (which may be a signature)
/// become `***`.
fn redacted(
    url: &url::Url,
    user: Option<&str>,
    password: Option<&str>,
    transport: Transport,
) -> String {
    let mut shown = url.clone();
    let user = match (user, password) {
        // An https URL with a user and no password, or GitHub's filler for one: the user *is* the token.
        (Some(_), None | Some("x-oauth-basic")) if transport != Transport::Ssh => "***",
        (user, _) => user.unwrap_or_default(),
    };
    let _ = shown.set_username("");
    let _ = shown.set_password(None);
    if shown.query().is_some() {
        shown.set_query(Some("***"));
    }
    shown.set_fragment(None);
    let userinfo = match (user, password) {
        ("", None) => return shown.into(),
        (user, None) => format!("{user}@"),
        (user, Some(_)) => format!("{user}:***@"),
    };
    shown.as_str().replacen("://", &format!("://{userinfo}"), 1)
}

fn percent_decode(text: &str) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, tail @ ..] = rest {
        let escape = match rest {
            [b'%', high, low, ..] => digit(*high).zip(digit(*low)),
            _ => None,
        };
        match escape {
            Some((high, low)) => {
                out.push(high << 4 | low);
                rest = rest.get(3..).unwrap_or_default();
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte)
        .to_digit(16)
        .and_then(|value| u8::try_from(value).ok())
}

impl fmt::Display for RepositoryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Place::Local(path) => write!(f, "{}", path.display()),
            Place::Remote(remote) => f.write_str(&remote.shown),
        }
    }
}

impl fmt::Debug for RepositoryUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RepositoryUrl({self})")
    }
}

#[cfg(test)]
#[path = "url_tests.rs"]
mod tests;
