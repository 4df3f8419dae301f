//! URLs as the API server has them: those of Go's `net/url`, which keeps what it reads. The library's are those of browsers,
//! which put a default port, dots in a path and letters of a host into order, so that a policy would judge something else.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use kube_cel::cel::Value;
use kube_cel::cel::objects::{Key, Opaque};

use super::fault::Fault;
use super::value::{list, map, string};

/// A URL, or an absolute path.
#[derive(Debug, PartialEq, Eq)]
pub struct Url {
    scheme: String,
    host: String,
    path: String,
    query: String,
}

impl Opaque for Url {
    fn runtime_type_name(&self) -> &str {
        "kubernetes.URL"
    }
}

impl Url {
    /// Reads a URL with a scheme, or an absolute path: `url.ParseRequestURI`, and then `url.Parse`, which knows fragments.
    pub fn parse(text: &str) -> Option<Self> {
        let is_control = |c: char| c.is_ascii_control();
        if text.is_empty() || text.contains(is_control) {
            return None;
        }
        let (scheme, rest) = scheme(text)?;
        let whole = rest;
        let rest = rest.split('#').next().unwrap_or_default();
        let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
        if !rest.starts_with('/') {
            // What follows `mailto:` is nobody's host or path.
            let is_opaque = !scheme.is_empty() && !whole.is_empty();
            return is_opaque.then(|| Self {
                scheme,
                host: String::new(),
                path: String::new(),
                query: query.to_owned(),
            });
        }
        let (authority, path) = match rest.strip_prefix("//") {
            Some(rest) if !scheme.is_empty() || !rest.starts_with('/') => {
                rest.split_at(rest.find('/').unwrap_or(rest.len()))
            }
            _ => ("", rest),
        };
        let host = authority
            .rsplit_once('@')
            .map_or(authority, |(_, host)| host);
        unescaped(path, false)?;
        unescaped(authority, false)?;
        is_host(host).then(|| Self {
            scheme,
            host: host.to_owned(),
            path: path.to_owned(),
            query: query.to_owned(),
        })
    }

    /// How long it is, in bytes.
    pub fn len(&self) -> usize {
        self.host.len() + self.path.len() + self.query.len()
    }

    /// Computes an accessor, if there is one of that name.
    pub fn get(&self, name: &str) -> Option<Value> {
        let (hostname, port) = self.split_host();
        Some(match name {
            "getScheme" => string(self.scheme.as_str()),
            "getHost" => string(self.host.as_str()),
            "getHostname" => string(hostname),
            "getPort" => string(port),
            "getEscapedPath" => string(self.escaped_path()),
            "getQuery" => self.query(),
            _ => return None,
        })
    }

    fn split_host(&self) -> (&str, &str) {
        let split = self.host.rsplit_once(':');
        let is_port = |port: &str| port.bytes().all(|b| b.is_ascii_digit());
        let (name, port) = split
            .filter(|(_, port)| is_port(port))
            .unwrap_or((&self.host, ""));
        let bare = name.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
        (bare.unwrap_or(name), port)
    }

    fn escaped_path(&self) -> String {
        let stays = |b: u8| is_unreserved(b) || b"$&+,/:;=@".contains(&b);
        let may_stay = |b: u8| stays(b) || b"!'()*[]%".contains(&b);
        if self.path.bytes().all(may_stay) {
            return self.path.clone();
        }
        let mut escaped = String::new();
        for byte in unescaped(&self.path, false).unwrap_or_default() {
            match stays(byte) {
                true => escaped.push(char::from(byte)),
                false => escaped.push_str(&format!("%{byte:02X}")),
            }
        }
        escaped
    }

    fn query(&self) -> Value {
        let mut values: BTreeMap<String, Vec<Value>> = BTreeMap::new();
        let pairs = self
            .query
            .split('&')
            .filter(|it| !it.is_empty() && !it.contains(';'));
        for pair in pairs {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let text = |text: &str| String::from_utf8(unescaped(text, true)?).ok();
            if let (Some(key), Some(value)) = (text(key), text(value)) {
                values.entry(key).or_default().push(string(value));
            }
        }
        let entries = values.into_iter();
        let entries: HashMap<Key, Value> = entries
            .map(|(key, values)| (Key::String(Arc::new(key)), list(values)))
            .collect();
        map(entries)
    }
}

/// Makes a URL of a text.
///
/// # Errors
/// When it is none.
pub fn url(text: &str) -> Result<Value, Fault> {
    match Url::parse(text) {
        Some(url) => Ok(Value::Opaque(Arc::new(url))),
        None => Err(Fault::error(
            "url(): it is no URL with a scheme, and no absolute path",
        )),
    }
}

/// Splits off the scheme, in lower case; it is empty where there is none. Nothing for a colon without a scheme.
fn scheme(text: &str) -> Option<(String, &str)> {
    let part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let end = text.find(|c| !part(c)).unwrap_or(text.len());
    let (scheme, rest) = text.split_at(end);
    match rest.strip_prefix(':') {
        Some(_) if scheme.is_empty() => None,
        Some(rest) if scheme.starts_with(|c: char| c.is_ascii_alphabetic()) => {
            Some((scheme.to_ascii_lowercase(), rest))
        }
        _ => Some((String::new(), text)),
    }
}

/// Whether a text may stand for a host, with a port or without.
fn is_host(host: &str) -> bool {
    let port = match host.strip_prefix('[') {
        Some(literal) => match literal.rsplit_once(']') {
            Some((_, port)) => port,
            None => return false,
        },
        None => host
            .find(':')
            .map_or("", |at| host.get(at..).unwrap_or_default()),
    };
    let digits = port.strip_prefix(':').unwrap_or(port);
    let is_port =
        port.is_empty() || port.starts_with(':') && digits.bytes().all(|b| b.is_ascii_digit());
    let may_be = |b: u8| is_unreserved(b) || !b.is_ascii() || b"!$&'()*+,;=:[]<>\"%".contains(&b);
    is_port && host.bytes().all(may_be)
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte)
}

/// Takes percent signs out; nothing when one is followed by what is no number.
fn unescaped(text: &str, is_query: bool) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut result = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        result.push(match byte {
            b'%' => {
                let mut digit = || char::from(bytes.next()?).to_digit(16);
                let value = digit()? * 16 + digit()?;
                u8::try_from(value).ok()?
            }
            b'+' if is_query => b' ',
            other => other,
        });
    }
    Some(result)
}
