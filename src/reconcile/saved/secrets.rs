//! Tokens of values: the same for the same value, and slow to make, so that few values can be tried.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use openssl::hash::MessageDigest;
use openssl::pkcs5::pbkdf2_hmac;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::plan::is_secret;

/// PBKDF2 repeats its hash so often: half a millisecond for each value, of which a set may have a thousand.
const ROUNDS: u32 = 2_000;

/// What makes tokens of this file different from those of any other. It is no secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Salt(String);

impl Salt {
    /// Makes the salt of some objects: uids are random, and the same state gives the same file.
    pub fn of(objects: &[Value]) -> Self {
        let mut hash = Sha256::new_with_prefix("covergence snapshot");
        for object in objects.iter().filter(|object| is_secret(object)) {
            let uid = object.pointer("/metadata/uid").and_then(Value::as_str);
            hash.update(uid.unwrap_or_default());
            hash.update([0]);
        }
        Self(STANDARD.encode(hash.finalize()))
    }

    /// The token of a value in its place.
    pub fn token(&self, place: &str, value: &[u8]) -> [u8; 32] {
        let salt = format!("{}\0{place}", self.0);
        let mut token = [0; 32];
        let hash = MessageDigest::sha256();
        // It fails for want of memory only; what is not told then is never the same as anything.
        if pbkdf2_hmac(value, salt.as_bytes(), ROUNDS as usize, hash, &mut token).is_err() {
            openssl::rand::rand_bytes(&mut token).ok();
        }
        token
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tokens_depend_on_value_place_and_salt() {
        let secret =
            |uid: &str| json!({ "apiVersion": "v1", "kind": "Secret", "metadata": { "uid": uid } });
        let salt = Salt::of(&[secret("1")]);
        assert_eq!(
            salt,
            Salt::of(&[json!({ "kind": "ConfigMap" }), secret("1")])
        );
        let token = salt.token("shop/db/data/p", b"hunter2");
        assert_eq!(token, salt.token("shop/db/data/p", b"hunter2"));
        for other in [
            salt.token("shop/db/data/p", b"hunter3"),
            salt.token("shop/db/data/q", b"hunter2"),
            Salt::of(&[secret("2")]).token("shop/db/data/p", b"hunter2"),
        ] {
            assert_ne!(token, other);
        }
    }
}
