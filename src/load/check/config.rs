//! ConfigMaps and Secrets. A Secret's values are looked at, and never shown.

use std::collections::BTreeSet;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::finding::Finding;
use super::read::{entries, field, text};
use super::syntax::config_key;
use crate::load::{Document, Entry, Node};

/// The most bytes that the values may have together.
const MOST: usize = 1 << 20;

/// Checks a ConfigMap.
pub(super) fn config_map<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let root = &document.root;
    let data = entries(root.get("data"));
    let binary = entries(root.get("binaryData"));
    keys(data, out);
    keys(binary, out);
    let names: BTreeSet<&str> = data.iter().map(|entry| entry.key.as_str()).collect();
    for entry in binary {
        if names.contains(entry.key.as_str()) {
            out.push(Finding::key(entry, "is in `data` as well"));
        }
    }
    let bytes = plain(data) + decoded(binary);
    too_large(
        root.get("data").or(root.get("binaryData")),
        bytes,
        "ConfigMap",
        out,
    );
}

/// Checks a Secret.
pub(super) fn secret<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let root = &document.root;
    let data = entries(root.get("data"));
    let strings = entries(root.get("stringData"));
    keys(data, out);
    keys(strings, out);
    let names: BTreeSet<&str> = strings.iter().map(|entry| entry.key.as_str()).collect();
    let overridden = |entry: &&Entry| names.contains(entry.key.as_str());
    for entry in data.iter().filter(overridden) {
        let says = "is in `stringData` as well, whose value counts";
        out.push(Finding::warning(&entry.value, says));
    }
    let kept = data.iter().filter(|entry| !overridden(entry));
    let bytes = plain(strings)
        + kept
            .map(|entry| decoded(std::slice::from_ref(entry)))
            .sum::<usize>();
    too_large(
        root.get("data").or(root.get("stringData")),
        bytes,
        "Secret",
        out,
    );
    of_type(document, out);
}

fn keys<'n>(data: &'n [Entry], out: &mut Vec<Finding<'n>>) {
    for entry in data {
        out.extend(config_key(&entry.key).map(|must| Finding::key(entry, must)));
    }
}

fn plain(data: &[Entry]) -> usize {
    data.iter()
        .filter_map(|entry| entry.value.as_str())
        .map(str::len)
        .sum()
}

/// How many bytes the values are that stand there in base64.
fn decoded(data: &[Entry]) -> usize {
    let size = |text: &str| {
        let digits = text
            .bytes()
            .filter(|b| !matches!(b, b'\r' | b'\n' | b'='))
            .count();
        digits * 3 / 4
    };
    data.iter()
        .filter_map(|entry| entry.value.as_str())
        .map(size)
        .sum()
}

fn too_large<'n>(at: Option<&'n Node>, bytes: usize, kind: &str, out: &mut Vec<Finding<'n>>) {
    if let Some(at) = at.filter(|_| bytes > MOST) {
        let says = format!(
            "has {} KiB of values, and a {kind} may have no more than 1024",
            bytes.div_ceil(1024)
        );
        out.push(Finding::error(at, says));
    }
}

/// What the types of Secrets that Kubernetes knows must have.
fn of_type<'n>(document: &'n Document, out: &mut Vec<Finding<'n>>) {
    let root = &document.root;
    let Some(kind) = field(root, "type") else {
        return;
    };
    let value = |key: &str| {
        let find = |map: &str| root.get(map).and_then(|data| field(data, key));
        find("stringData").or(find("data"))
    };
    let mut need = |key: &str| {
        if value(key).is_none() {
            let says = format!("needs the key `{key}`");
            out.push(Finding::error(kind, says));
        }
    };
    match kind.as_str() {
        Some("kubernetes.io/tls") => {
            need("tls.crt");
            need("tls.key");
        }
        Some("kubernetes.io/ssh-auth") => {
            need("ssh-privatekey");
            let empty = value("ssh-privatekey").filter(|key| key.as_str() == Some(""));
            out.extend(empty.map(|key| Finding::error(key, "must not be empty")));
        }
        Some("kubernetes.io/basic-auth") if value("username").or(value("password")).is_none() => {
            out.push(Finding::error(
                kind,
                "needs one of the keys `username` and `password`",
            ));
        }
        Some("kubernetes.io/dockerconfigjson") => json(root, kind, ".dockerconfigjson", out),
        Some("kubernetes.io/dockercfg") => json(root, kind, ".dockercfg", out),
        Some("kubernetes.io/service-account-token") => {
            let name = "kubernetes.io/service-account.name";
            let annotations = root.at(&["metadata", "annotations"]);
            if annotations
                .and_then(|annotations| text(annotations, name))
                .is_none()
            {
                out.push(Finding::error(
                    kind,
                    format!("needs the annotation `{name}`"),
                ));
            }
        }
        _ => {}
    }
}

/// A key that must hold a JSON mapping.
fn json<'n>(root: &'n Node, kind: &'n Node, key: &str, out: &mut Vec<Finding<'n>>) {
    let find = |map: &str| root.get(map).and_then(|data| field(data, key));
    let bytes = match (find("stringData"), find("data")) {
        (Some(plain), _) => plain.as_str().map(|text| (plain, text.as_bytes().to_vec())),
        (None, Some(packed)) => packed.as_str().and_then(|text| {
            let text: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
            Some((packed, STANDARD.decode(text).ok()?))
        }),
        (None, None) => {
            out.push(Finding::error(kind, format!("needs the key `{key}`")));
            return;
        }
    };
    if let Some((at, bytes)) = bytes
        && serde_json::from_slice::<serde_json::Map<String, serde_json::Value>>(&bytes).is_err()
    {
        out.push(Finding::error(at, "must be a JSON mapping"));
    }
}
