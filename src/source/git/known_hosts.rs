//! OpenSSH's `known_hosts`: which key a server must have (sshd(8), "SSH_KNOWN_HOSTS FILE FORMAT").
//!
//! libgit2 reads the user's own file only, and its answer does not tell an unknown server from a changed key, which must
//! never be waved through.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;

/// Lines of all files that were given.
#[derive(Debug, Default)]
pub(super) struct KnownHosts(Vec<Line>);

#[derive(Debug)]
struct Line {
    /// File and line, for messages.
    place: String,
    marker: Marker,
    /// Patterns, or one hashed name.
    hosts: String,
    algorithm: String,
    key: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marker {
    None,
    Revoked,
    /// Signs servers' certificates; libssh2 verifies none.
    Authority,
}

/// What the files say about a server's key.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is on record, in whichever line.
    Known,
    /// Nothing is on record for this server.
    Unknown,
    /// Another key of the same kind is on record, at this place.
    Changed(String),
    /// Only keys of other kinds are on record, these.
    OtherKinds(Vec<String>),
    /// It is on record as stolen, at this place.
    Revoked(String),
}

impl KnownHosts {
    /// Adds the lines of one file. What cannot be understood is passed over, as OpenSSH does.
    pub(super) fn add(&mut self, file: &str, text: &str) {
        let lines = text.lines().enumerate();
        self.0
            .extend(lines.filter_map(|(index, line)| parse(format!("{file}:{}", index + 1), line)));
    }

    /// Judges the key (in ssh's wire format) that a server has shown.
    pub(super) fn check(&self, host: &str, port: u16, key: &[u8]) -> Verdict {
        match self.check_name(&name(host, port), key) {
            // As OpenSSH: a key on record for the host serves on all its ports, but is not held against them.
            Verdict::Unknown if port != 22 => match self.check_name(host, key) {
                verdict @ (Verdict::Known | Verdict::Revoked(_)) => verdict,
                _ => Verdict::Unknown,
            },
            verdict => verdict,
        }
    }

    fn check_name(&self, name: &str, key: &[u8]) -> Verdict {
        let lines: Vec<_> = self.lines(name).collect();
        let same = |line: &&&Line| line.key == key;
        let revoked = |line: &&&Line| line.marker == Marker::Revoked;
        if let Some(line) = lines.iter().filter(same).find(revoked) {
            return Verdict::Revoked(line.place.clone());
        }
        let mut kinds = Vec::new();
        for line in lines.iter().filter(|line| line.marker == Marker::None) {
            if line.key == key {
                return Verdict::Known;
            }
            if !kinds.contains(&line.algorithm) {
                kinds.push(line.algorithm.clone());
            }
        }
        let kind = algorithm(key);
        let of_kind = |line: &&&Line| line.marker == Marker::None && line.algorithm == kind;
        match lines.iter().find(of_kind) {
            Some(line) => Verdict::Changed(line.place.clone()),
            None if kinds.is_empty() => Verdict::Unknown,
            None => Verdict::OtherKinds(kinds),
        }
    }

    fn lines(&self, name: &str) -> impl Iterator<Item = &Line> {
        let name = name.to_ascii_lowercase();
        self.0
            .iter()
            .filter(move |line| matches(&line.hosts, &name))
    }

    /// Writes the lines for one server without hashes and patterns.
    pub(super) fn plain(&self, host: &str, port: u16) -> Vec<String> {
        let plain = |name: &str| -> Vec<String> {
            self.lines(name)
                .filter(|line| line.marker == Marker::None)
                .map(|line| record(host, port, &line.key))
                .collect()
        };
        match plain(&name(host, port)) {
            lines if lines.is_empty() => plain(host),
            lines => lines,
        }
    }
}

/// Writes a line for a key in ssh's wire format.
pub(super) fn record(host: &str, port: u16, key: &[u8]) -> String {
    format!(
        "{} {} {}\n",
        name(host, port),
        algorithm(key),
        STANDARD.encode(key)
    )
}

/// Reads a key's kind from its wire format: a length and a name come first.
pub(super) fn algorithm(key: &[u8]) -> String {
    let name = key.split_at_checked(4).and_then(|(length, rest)| {
        let length = u32::from_be_bytes(length.try_into().ok()?);
        rest.get(..usize::try_from(length).ok()?)
    });
    match name {
        Some(name) if name.iter().all(|byte| byte.is_ascii_graphic()) => {
            String::from_utf8_lossy(name).into_owned()
        }
        _ => "unknown".to_owned(),
    }
}

fn name(host: &str, port: u16) -> String {
    match port {
        22 => host.to_ascii_lowercase(),
        port => format!("[{}]:{port}", host.to_ascii_lowercase()),
    }
}

fn parse(place: String, line: &str) -> Option<Line> {
    let mut words = line.split_ascii_whitespace().peekable();
    let marker = match *words.peek()? {
        word if word.starts_with('#') => return None,
        "@revoked" => Marker::Revoked,
        "@cert-authority" => Marker::Authority,
        word if word.starts_with('@') => return None,
        _ => Marker::None,
    };
    if marker != Marker::None {
        words.next();
    }
    Some(Line {
        place,
        marker,
        hosts: words.next()?.to_owned(),
        algorithm: words.next()?.to_owned(),
        key: STANDARD.decode(words.next()?).ok()?,
    })
}

/// Tells whether a line's host field names the server.
fn matches(hosts: &str, name: &str) -> bool {
    if let Some(hashed) = hosts.strip_prefix("|1|") {
        return is_hash_of(hashed, name).unwrap_or(false);
    }
    let mut found = false;
    for pattern in hosts.split(',') {
        let pattern = pattern.to_ascii_lowercase();
        match pattern.strip_prefix('!') {
            Some(pattern) if glob(pattern.as_bytes(), name.as_bytes()) => return false,
            Some(_) => {}
            None => found |= glob(pattern.as_bytes(), name.as_bytes()),
        }
    }
    found
}

fn is_hash_of(hashed: &str, name: &str) -> Option<bool> {
    let (salt, hash) = hashed.split_once('|')?;
    let mut mac = Hmac::<Sha1>::new_from_slice(&STANDARD.decode(salt).ok()?).ok()?;
    mac.update(name.as_bytes());
    Some(mac.verify_slice(&STANDARD.decode(hash).ok()?).is_ok())
}

/// Matches `*` and `?`. Steps back to the last star only, so that no pattern takes exponential time.
fn glob(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t, mut star) = (0, 0, None);
    while let Some(byte) = text.get(t) {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(wanted) if *wanted == b'?' || wanted == byte => {
                p += 1;
                t += 1;
            }
            _ => match star {
                Some((at, from)) => {
                    star = Some((at, from + 1));
                    p = at + 1;
                    t = from + 1;
                }
                None => return false,
            },
        }
    }
    pattern.iter().skip(p).all(|byte| *byte == b'*')
}

#[cfg(test)]
#[path = "known_hosts_tests.rs"]
mod tests;
