//! How to prove who we are, and who the server must be.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

/// What a fetch may use to log in and to recognise a server.
///
/// The default has nothing: public repositories over https only.
#[derive(Clone, Default)]
pub struct Credentials {
    /// User, unless the URL names one; `git` for ssh if neither does.
    pub user: Option<String>,
    /// Password or token, unless the URL has one.
    pub password: Option<String>,
    /// Private keys for ssh, tried in this order after the agent's.
    pub ssh_keys: Vec<SshKey>,
    /// Whether to ask the ssh agent.
    pub ssh_agent: bool,
    /// Servers' keys in OpenSSH's `known_hosts` format; files that do not exist count as empty.
    pub known_hosts: Vec<Material>,
    /// Whether to trust a server at first sight and remember its key (`StrictHostKeyChecking=accept-new`).
    pub accept_new_hosts: bool,
    /// Whether to use the http proxy that the environment names.
    pub system_proxy: bool,
}

/// A private key for ssh.
#[derive(Clone)]
pub struct SshKey {
    /// The key, in OpenSSH's or in PEM format.
    pub key: Material,
    /// Its passphrase, if it has one.
    pub passphrase: Option<String>,
}

/// Something kept in a file or, as a Kubernetes Secret gives it, in memory.
#[derive(Clone)]
pub enum Material {
    /// Path of the file.
    File(PathBuf),
    /// The text itself.
    Text(String),
}

impl Credentials {
    /// Takes what `ssh` itself would use: the agent, the default key files, the user's and the system's known hosts.
    ///
    /// This is the one place of the library that reads the environment and the home directory.
    pub fn from_environment() -> Self {
        let home = env::var_os("HOME").filter(|home| !home.is_empty());
        let ssh = home.map(|home| Path::new(&home).join(".ssh"));
        let in_ssh = |name: &str| ssh.as_ref().map(|directory| directory.join(name));
        let keys = ["id_ed25519", "id_ecdsa", "id_rsa"];
        Self {
            ssh_keys: keys
                .iter()
                .filter_map(|name| in_ssh(name))
                .filter(|path| path.is_file())
                .map(|path| SshKey {
                    key: Material::File(path),
                    passphrase: None,
                })
                .collect(),
            ssh_agent: env::var_os("SSH_AUTH_SOCK").is_some(),
            known_hosts: in_ssh("known_hosts")
                .into_iter()
                .chain([PathBuf::from("/etc/ssh/ssh_known_hosts")])
                .map(Material::File)
                .collect(),
            system_proxy: true,
            ..Self::default()
        }
    }
}

impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            user,
            password,
            ssh_keys,
            ssh_agent,
            known_hosts,
            accept_new_hosts,
            system_proxy,
        } = self;
        // A user may be a token, as in a URL.
        f.debug_struct("Credentials")
            .field("user", &user.as_ref().map(|_| "***"))
            .field("password", &password.as_ref().map(|_| "***"))
            .field("ssh_keys", ssh_keys)
            .field("ssh_agent", ssh_agent)
            .field("known_hosts", known_hosts)
            .field("accept_new_hosts", accept_new_hosts)
            .field("system_proxy", system_proxy)
            .finish()
    }
}

impl fmt::Debug for SshKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, passphrase } = self;
        f.debug_struct("SshKey")
            .field("key", key)
            .field("passphrase", &passphrase.as_ref().map(|_| "***"))
            .finish()
    }
}

impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File(path) => write!(f, "File({})", path.display()),
            Self::Text(_) => f.write_str("Text(***)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_shows_no_secret() {
        let secret = || "hunter2".to_owned();
        let credentials = Credentials {
            user: Some(secret()),
            password: Some(secret()),
            ssh_keys: vec![SshKey {
                key: Material::Text(secret()),
                passphrase: Some(secret()),
            }],
            ..Credentials::default()
        };
        let text = format!("{credentials:?}");
        assert!(text.contains("Text(***)"), "{text}");
        assert!(!text.contains("hunter2"), "{text}");
    }
}
