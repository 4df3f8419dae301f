//! Values of a source's Secrets, so that no program's last words tell them.

use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

use super::{Options, Values};
use crate::load::{Limits, Node, NodeKind, SourceFile, values};
use crate::source::{Overlay, follow, is_kustomization, kustomization};

/// Parts of keys whose values are taken for secret wherever they stand.
const KEYS: [&str; 9] = [
    "pass",
    "secret",
    "token",
    "cred",
    "auth",
    "apikey",
    "api_key",
    "privatekey",
    "accesskey",
];

/// Shorter ones are in every other word.
const SHORTEST: usize = 3;

/// Finds all texts that are values of Secrets or look so, as they stand and as base64, the longest first.
pub(super) fn secrets(overlay: &Overlay, options: &Options) -> Vec<String> {
    let mut found = Vec::new();
    for file in &overlay.snapshot.files {
        let path = Path::new(&*file.path);
        if path.file_name().is_some_and(is_kustomization) {
            of_kustomization(file, overlay, &mut found);
        }
        of_yaml(file, &mut found);
    }
    for given in &options.values {
        if let Values::Given(bytes) = given {
            let file = SourceFile {
                path: "values.yaml".into(),
                bytes: bytes.clone(),
            };
            of_yaml(&file, &mut found);
        }
    }
    let encoded: Vec<_> = found.iter().map(|text| STANDARD.encode(text)).collect();
    // A value of several lines is told line by line.
    let lines: Vec<_> = found
        .iter()
        .flat_map(|text| text.lines())
        .map(|line| line.trim().to_owned())
        .collect();
    found.extend(lines);
    // Programs quote what they complain of, and quote their complaints.
    let once: Vec<_> = found.iter().map(|text| quoted(text)).collect();
    let twice: Vec<_> = once.iter().map(|text| quoted(text)).collect();
    let others = [encoded, once, twice].into_iter().flatten();
    let mut all: Vec<String> = found.into_iter().chain(others).collect();
    all.retain(|text| text.len() >= SHORTEST);
    all.sort_by(|a, b| b.len().cmp(&a.len()).then(a.cmp(b)));
    all.dedup();
    all
}

/// The text within quotes, as Go and JSON write it.
fn quoted(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    let inside = quoted.strip_prefix('"').and_then(|it| it.strip_suffix('"'));
    inside.unwrap_or(text).to_owned()
}

fn of_kustomization(file: &SourceFile, overlay: &Overlay, found: &mut Vec<String>) {
    let (kustomization, _) = kustomization(file);
    let literals = kustomization.secret_literals.iter();
    found.extend(literals.map(|literal| value_of(literal).to_owned()));
    let folder = Path::new(&*file.path).parent().unwrap_or(Path::new(""));
    let named = kustomization.secret_files.iter();
    for path in named.filter_map(|path| follow(folder, path)) {
        let files = overlay.snapshot.files.iter();
        for file in files.filter(|file| Path::new(&*file.path) == path) {
            let text = String::from_utf8_lossy(&file.bytes);
            found.extend(text.lines().map(|line| value_of(line).to_owned()));
            found.push(text.into_owned());
        }
    }
}

/// The part after the key of `key=value`.
fn value_of(text: &str) -> &str {
    text.split_once('=').map_or(text, |(_, value)| value)
}

fn of_yaml(file: &SourceFile, found: &mut Vec<String>) {
    let is_yaml = [".yaml", ".yml", ".json"]
        .iter()
        .any(|end| file.path.ends_with(end));
    if is_yaml || is_kustomization(Path::new(&*file.path).file_name().unwrap_or_default()) {
        let (roots, _) = values(file, &Limits::default());
        for root in &roots {
            of_node(root, false, found);
        }
    }
}

fn of_node(node: &Node, is_secret: bool, found: &mut Vec<String>) {
    match &node.kind {
        NodeKind::String(text) => {
            // A patch that is written out in place.
            if text.contains('\n') && !is_secret {
                of_yaml(&inline(text), found);
            }
            if is_secret {
                found.push(text.clone());
            }
        }
        NodeKind::Number(number) if is_secret => found.push(number.to_string()),
        NodeKind::List(items) => items
            .iter()
            .for_each(|item| of_node(item, is_secret, found)),
        NodeKind::Map(entries) => {
            let is_object = node.get("kind").and_then(Node::as_str) == Some("Secret");
            let is_operation = node.get("op").is_some();
            for entry in entries {
                let key = entry.key.to_ascii_lowercase();
                let is_value = is_object && (key == "data" || key == "stringdata")
                    || is_operation && key == "value"
                    || KEYS.iter().any(|part| key.contains(part));
                of_node(&entry.value, is_secret || is_value, found);
            }
        }
        NodeKind::Number(_) | NodeKind::Bool(_) | NodeKind::Null => {}
    }
}

fn inline(text: &str) -> SourceFile {
    SourceFile {
        path: "inline.yaml".into(),
        bytes: text.into(),
    }
}
