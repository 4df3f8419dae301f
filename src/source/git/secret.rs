//! Credentials in a Kubernetes Secret, under the keys that Flux's GitRepository has for them.

use std::collections::BTreeMap;

use super::credentials::{Credentials, Material, SshKey};

impl Credentials {
    /// Takes the decoded `data` of a Secret: `username` and `password` (or a token as the password) for https; `identity`, its
    /// passphrase in `password`, and `known_hosts` for ssh. Other keys are passed over.
    ///
    /// Nothing else is used then: no agent, no proxy, no server trusted at first sight.
    ///
    /// # Errors
    /// Says in words what is wrong, and never a value: something that is no text, a private key without `known_hosts`, or a
    /// `bearerToken`, which our git library cannot send.
    pub fn from_secret(data: &BTreeMap<String, Vec<u8>>) -> Result<Self, String> {
        let text = |key: &str| match data.get(key).map(|bytes| str::from_utf8(bytes)) {
            Some(Ok(text)) => Ok(Some(text).filter(|text| !text.trim().is_empty())),
            Some(Err(_)) => Err(format!("its `{key}` is not UTF-8 text")),
            None => Ok(None),
        };
        // Secrets made from files end in a line break, which no user and no password has.
        let line = |key: &str| text(key).map(|it| it.map(|it| it.trim_end_matches(['\r', '\n'])));
        if data.contains_key("bearerToken") {
            return Err(
                "its `bearerToken` cannot be sent; most servers take the token as `password`, with any `username`"
                    .to_owned(),
            );
        }
        let (user, password) = (line("username")?, line("password")?);
        let (identity, known_hosts) = (text("identity")?, text("known_hosts")?);
        if identity.is_some() && known_hosts.is_none() {
            return Err(
                "it has an `identity` and no `known_hosts`, without which any server could pass for the right one; `ssh-keyscan HOST` writes them"
                    .to_owned(),
            );
        }
        Ok(Self {
            user: user.map(str::to_owned),
            // Beside a key it is that key's, and must not be sent to the server.
            password: password.filter(|_| identity.is_none()).map(str::to_owned),
            ssh_keys: identity
                .map(|key| SshKey {
                    key: Material::Text(key.to_owned()),
                    passphrase: password.map(str::to_owned),
                })
                .into_iter()
                .collect(),
            known_hosts: known_hosts
                .map(|text| Material::Text(text.to_owned()))
                .into_iter()
                .collect(),
            ..Self::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(data: &[(&str, &str)]) -> Result<Credentials, String> {
        let data = data
            .iter()
            .map(|(key, value)| ((*key).to_owned(), value.as_bytes().to_vec()));
        Credentials::from_secret(&data.collect())
    }

    #[test]
    fn user_and_password_lose_the_line_break_of_a_file() {
        let read = read(&[
            ("username", "robot\n"),
            ("password", "hunter2\r\n"),
            ("other", "x"),
        ]);
        let credentials = read.unwrap();
        assert_eq!(credentials.user.as_deref(), Some("robot"));
        assert_eq!(credentials.password.as_deref(), Some("hunter2"));
        assert!(credentials.ssh_keys.is_empty() && !credentials.accept_new_hosts);
    }

    #[test]
    fn beside_a_key_the_password_is_its_passphrase_only() {
        let known = "git.example ssh-ed25519 AAAA\n";
        let credentials = read(&[
            ("identity", "KEY\n"),
            ("identity.pub", "PUBLIC"),
            ("known_hosts", known),
            ("password", "hunter2"),
        ])
        .unwrap();
        let [key] = credentials.ssh_keys.as_slice() else {
            panic!("one key");
        };
        assert!(matches!(&key.key, Material::Text(text) if text == "KEY\n"));
        assert_eq!(key.passphrase.as_deref(), Some("hunter2"));
        assert_eq!(credentials.password, None);
        assert!(matches!(&credentials.known_hosts[..], [Material::Text(text)] if text == known));
    }

    #[test]
    fn what_cannot_be_used_is_refused_without_its_value() {
        let not_text = BTreeMap::from([("password".to_owned(), b"hunter2\xff".to_vec())]);
        for (refused, about) in [
            (read(&[("bearerToken", "hunter2")]), "bearerToken"),
            (read(&[("identity", "hunter2")]), "known_hosts"),
            (
                read(&[("identity", "hunter2"), ("known_hosts", "\n")]),
                "known_hosts",
            ),
            (Credentials::from_secret(&not_text), "password"),
        ] {
            let why = refused.unwrap_err();
            assert!(why.contains(about) && !why.contains("hunter2"), "{why}");
        }
    }

    #[test]
    fn an_empty_secret_is_for_public_repositories() {
        let credentials = read(&[("username", ""), ("password", "\n")]).unwrap();
        assert!(credentials.user.is_none() && credentials.password.is_none());
    }
}
