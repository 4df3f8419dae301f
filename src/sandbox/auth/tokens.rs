//! Bearer tokens: given ones, and those of ServiceAccounts, which are signed and kept nowhere.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::Sha256;

use super::{AUTHENTICATED, MASTERS};
use crate::request::User;
use crate::store::{Key, Store};

/// Who issues the tokens of ServiceAccounts, and who takes them unless others are named.
pub const ISSUER: &str = "https://kubernetes.default.svc";

/// The tokens of a sandbox.
#[derive(Debug)]
pub struct Tokens {
    admin: String,
    key: String,
    given: HashMap<String, User>,
}

/// A ServiceAccount that a token is for.
#[derive(Clone, Copy, Debug)]
pub struct Account<'a> {
    /// Its namespace.
    pub namespace: &'a str,
    /// Its name.
    pub name: &'a str,
    /// Its `uid`.
    pub uid: &'a str,
}

impl Default for Tokens {
    fn default() -> Self {
        let mut tokens = Self {
            admin: secret(),
            key: secret(),
            given: HashMap::new(),
        };
        let admin = User {
            name: "admin".to_owned(),
            uid: "admin".to_owned(),
            groups: vec![MASTERS.to_owned()],
            ..User::default()
        };
        tokens.give(tokens.admin.clone(), admin);
        tokens
    }
}

impl Tokens {
    /// The token of somebody who may do everything.
    pub fn admin(&self) -> &str {
        &self.admin
    }

    /// Makes a token known.
    pub fn give(&mut self, token: String, mut user: User) {
        user.groups.push(AUTHENTICATED.to_owned());
        self.given.insert(token, user);
    }

    /// Who has a token.
    pub fn user(&self, token: &str, store: &Store) -> Option<User> {
        let given = self.given.get(token).cloned();
        given.or_else(|| self.account(token, store))
    }

    /// A token for a ServiceAccount.
    pub fn issue(
        &self,
        account: Account<'_>,
        audiences: &[String],
        from: Timestamp,
        until: Timestamp,
    ) -> String {
        let Account {
            namespace,
            name,
            uid,
        } = account;
        let head = json!({ "alg": "HS256" });
        let claims = json!({
            "aud": audiences,
            "exp": until.as_second(),
            "iat": from.as_second(),
            "iss": ISSUER,
            "kubernetes.io": { "namespace": namespace, "serviceaccount": { "name": name, "uid": uid } },
            "nbf": from.as_second(),
            "sub": account_user(namespace, name),
        });
        let [head, claims] = [head, claims].map(|part| URL_SAFE_NO_PAD.encode(part.to_string()));
        let signed = format!("{head}.{claims}");
        let signature = self.mac(&signed).map(|mac| mac.finalize().into_bytes());
        format!(
            "{signed}.{}",
            URL_SAFE_NO_PAD.encode(signature.unwrap_or_default())
        )
    }

    /// The ServiceAccount whose token it is, if it is still there.
    fn account(&self, token: &str, store: &Store) -> Option<User> {
        let (signed, signature) = token.rsplit_once('.')?;
        let signature = URL_SAFE_NO_PAD.decode(signature).ok()?;
        self.mac(signed)?.verify_slice(&signature).ok()?;
        let (_, claims) = signed.split_once('.')?;
        let claims: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).ok()?).ok()?;
        let audiences = claims.get("aud")?.as_array()?;
        let now = Timestamp::now().as_second();
        if claims.get("exp")?.as_i64()? <= now || audiences.iter().all(|it| it != ISSUER) {
            return None;
        }
        let text = |pointer| claims.pointer(pointer).and_then(Value::as_str);
        let namespace = text("/kubernetes.io/namespace")?;
        let name = text("/kubernetes.io/serviceaccount/name")?;
        let uid = text("/kubernetes.io/serviceaccount/uid")?;
        let live = store.get(&Key {
            resource: "serviceaccounts".into(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
        })?;
        let same = live.pointer("/metadata/uid").and_then(Value::as_str) == Some(uid);
        same.then(|| {
            let mut groups = account_groups(namespace).to_vec();
            groups.push(AUTHENTICATED.to_owned());
            User {
                name: account_user(namespace, name),
                uid: uid.to_owned(),
                groups,
                ..User::default()
            }
        })
    }

    fn mac(&self, text: &str) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(self.key.as_bytes()).ok()?;
        mac.update(text.as_bytes());
        Some(mac)
    }
}

/// The user that a ServiceAccount is.
pub fn account_user(namespace: &str, name: &str) -> String {
    format!("system:serviceaccount:{namespace}:{name}")
}

/// Namespace and name of the ServiceAccount that a user is.
pub fn account_of(user: &str) -> Option<(&str, &str)> {
    let (namespace, name) = user
        .strip_prefix("system:serviceaccount:")?
        .split_once(':')?;
    let valid = !namespace.is_empty() && !name.is_empty() && !name.contains(':');
    valid.then_some((namespace, name))
}

/// The groups of a namespace's ServiceAccounts.
pub fn account_groups(namespace: &str) -> [String; 2] {
    [
        "system:serviceaccounts".to_owned(),
        format!("system:serviceaccounts:{namespace}"),
    ]
}

/// 128 bits that nobody can guess.
fn secret() -> String {
    // Every RandomState has keys of its own, which come from the operating system.
    let random = RandomState::new();
    format!("{:016x}{:016x}", random.hash_one(0), random.hash_one(1))
}
