//! Answers a server that wants to know who we are.

use std::fs;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use git2::{Cred, CredentialType, Error, ErrorClass, ErrorCode};

use super::credentials::{Credentials, Material, SshKey};
use super::url::{Remote, Transport};

/// What was tried on one connection. libgit2 asks again until a login succeeds or none is left.
pub(super) struct Login<'a> {
    remote: &'a Remote,
    credentials: &'a Credentials,
    has_asked_agent: bool,
    keys: std::slice::Iter<'a, SshKey>,
    has_given_password: bool,
    /// What was tried, for the error; no secrets.
    tried: Vec<String>,
    /// Why the server got no (further) answer.
    pub(super) refused: Option<String>,
}

impl<'a> Login<'a> {
    pub(super) fn new(remote: &'a Remote, credentials: &'a Credentials) -> Self {
        Self {
            remote,
            credentials,
            has_asked_agent: false,
            keys: credentials.ssh_keys.iter(),
            has_given_password: false,
            tried: Vec::new(),
            refused: None,
        }
    }

    /// Gives the next login that the server may accept.
    pub(super) fn next(&mut self, url: &str, allowed: CredentialType) -> Result<Cred, Error> {
        // After a redirect libgit2 asks for the new place.
        if self.remote.transport != Transport::Ssh && !self.is_our_server(url) {
            return self.refuse("it redirects to another server, which must not see the login");
        }
        let user = self.remote.user.as_ref().or(self.credentials.user.as_ref());
        let name = user.map_or("git", String::as_str);
        if allowed.contains(CredentialType::USERNAME) {
            return Cred::username(name);
        }
        if allowed.contains(CredentialType::SSH_KEY) {
            if self.credentials.ssh_agent && !self.has_asked_agent {
                self.has_asked_agent = true;
                self.tried.push("the ssh agent's keys".to_owned());
                return Cred::ssh_key_from_agent(name);
            }
            for key in self.keys.by_ref() {
                // libgit2 gives up on a key it cannot read, and would not ask for the next one.
                match readable(key) {
                    Ok(text) => {
                        self.tried.push(name_of(key));
                        return Cred::ssh_key_from_memory(
                            name,
                            None,
                            &text,
                            key.passphrase.as_deref(),
                        );
                    }
                    Err(why) => self.tried.push(format!("{} ({why})", name_of(key))),
                }
            }
        }
        let password = self.remote.password.as_ref();
        let password = password.or(self.credentials.password.as_ref());
        if allowed.contains(CredentialType::USER_PASS_PLAINTEXT) && !self.has_given_password {
            let login = match (user, password) {
                (user, Some(password)) => Some((user.map_or("git", String::as_str), password)),
                // A token in the place of the user.
                (Some(user), None) if self.remote.transport != Transport::Ssh => {
                    Some((user.as_str(), const { &String::new() }))
                }
                _ => None,
            };
            if let Some((user, password)) = login {
                self.has_given_password = true;
                self.tried.push("the user and password".to_owned());
                return Cred::userpass_plaintext(user, password);
            }
        }
        match self.tried.as_slice() {
            [] => self.refuse("it wants a login, and none was given for it"),
            tried => {
                let tried = tried.join(", ");
                self.refuse(&format!("it refuses {tried}"))
            }
        }
    }

    /// Says what was tried, for an error that ended the conversation.
    pub(super) fn explain(&self) -> Option<String> {
        let tried = self.tried.join(", ");
        (!tried.is_empty()).then(|| format!("the server does not let us in: it refuses {tried}"))
    }

    fn is_our_server(&self, url: &str) -> bool {
        url.parse::<url::Url>().is_ok_and(|url| {
            let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
            let is_as_safe = url.scheme() == "https" || self.remote.transport == Transport::Http;
            // The same host may move http to https, with another port then.
            let is_port = url.port_or_known_default() == Some(self.remote.port)
                || (url.scheme() == "https" && self.remote.transport == Transport::Http);
            host.eq_ignore_ascii_case(&self.remote.host) && is_as_safe && is_port
        })
    }

    fn refuse(&mut self, why: &str) -> Result<Cred, Error> {
        self.refused = Some(format!("the server does not let us in: {why}"));
        Err(Error::new(ErrorCode::Auth, ErrorClass::Callback, why))
    }
}

fn name_of(key: &SshKey) -> String {
    match &key.key {
        Material::File(path) => format!("the key {}", path.display()),
        Material::Text(_) => "the key given".to_owned(),
    }
}

/// Reads a private key, unless it is encrypted and we have no passphrase.
fn readable(key: &SshKey) -> Result<String, String> {
    let text = match &key.key {
        Material::File(path) => fs::read_to_string(path).map_err(|error| error.to_string())?,
        Material::Text(text) => text.clone(),
    };
    match key.passphrase.is_none() && is_encrypted(&text) {
        true => Err("needs a passphrase".to_owned()),
        false => Ok(text),
    }
}

/// Tells whether a private key is encrypted. PEM says so in words; OpenSSH's own format begins with its name and the
/// cipher's (openssh-portable, PROTOCOL.key).
fn is_encrypted(text: &str) -> bool {
    const MAGIC: &[u8] = b"openssh-key-v1\0";
    let body: String = text
        .lines()
        .filter(|line| !line.starts_with("-----"))
        .collect();
    match STANDARD.decode(body.trim()) {
        Ok(bytes) if bytes.starts_with(MAGIC) => {
            bytes.get(MAGIC.len()..MAGIC.len() + 8) != Some(b"\0\0\0\x04none")
        }
        _ => text.contains("ENCRYPTED"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encrypted_keys_are_told_from_plain_ones() {
        let directory = tempfile::tempdir().unwrap();
        for (format, passphrase) in [
            ("RFC4716", ""),
            ("RFC4716", "x1234"),
            ("PEM", ""),
            ("PEM", "x1234"),
        ] {
            let path = directory.path().join(format!("{format}{passphrase}"));
            let mut command = std::process::Command::new("ssh-keygen");
            command.args(["-q", "-t", "ecdsa", "-m", format, "-N", passphrase, "-f"]);
            assert!(command.arg(&path).status().unwrap().success());
            let text = fs::read_to_string(path).unwrap();
            assert_eq!(is_encrypted(&text), !passphrase.is_empty(), "{format}");
        }
    }
}
