//! Untrusted input can fail its own document, never the process (invariant 7).

use std::sync::Arc;

use proptest::prelude::*;

use super::{Limits, Loaded, Schemas, Snapshot, SourceFile, add_excerpts, check, load, to_yaml};

/// A sound source with most of what YAML has.
const SEED: &str = "%YAML 1.2\n---\n# c\napiVersion: v1\nkind: List\nitems:\n- apiVersion: apps/v1\n  kind: Deployment\n  metadata: &m {name: a, labels: {a: \"b\"}}\n  spec:\n    \
    <<: {replicas: 0755}\n    template: *anchor\n    args: [\"\\u00e9\\ud83d\\ude00\", 'it''s', !!binary aGk=, 1e3, .inf, ~]\n    script: |+\n      a\n       b\n\n    folded: >-\n      a\n      b\n    \
    ? complex\n    : !local value\n...\n---\n{\"apiVersion\": \"v1\", \"kind\": \"Secret\", \"metadata\": {\"name\": \"s\"}, \"data\": {\"a\": \"\\ud83d\\ude00\"}}\n--- # d\n\u{feff}apiVersion: v1\nkind: Pod\nmetadata: {generateName: x}\n";

fn everything(name: &str, bytes: &[u8]) -> (Snapshot, Loaded) {
    let snapshot = Snapshot {
        revision: String::new(),
        files: vec![SourceFile {
            path: Arc::from(name),
            bytes: bytes.to_vec(),
        }],
        diagnostics: Vec::new(),
    };
    let limits = Limits {
        file_values: 10_000,
        ..Limits::default()
    };
    let loaded = load(&snapshot, &limits);
    (snapshot, loaded)
}

/// Runs all that a command would do with a file, and checks what holds for every input.
fn withstands(bytes: &[u8]) {
    for name in ["a.yaml", "a.json"] {
        let (snapshot, loaded) = everything(name, bytes);
        let lines = 1 + bytes.iter().filter(|b| matches!(b, b'\n' | b'\r')).count();
        let mut found = loaded.diagnostics;
        let schemas = Schemas::default();
        found.extend(check(&loaded.documents, &schemas, "here"));
        for document in &loaded.documents {
            found.extend(schemas.check(document));
            let value = document.root.to_json();
            assert!(!document.id.name.is_empty());
            let printed = to_yaml(&value);
            let (_, again) = everything("b.yaml", printed.as_bytes());
            let read: Vec<_> = again.documents.iter().map(|d| d.root.to_json()).collect();
            assert_eq!(read, [value], "{printed}");
        }
        add_excerpts(&mut found, &snapshot);
        for diagnostic in &found {
            if let Some(at) = diagnostic.position {
                assert!(at.line >= 1 && at.column >= 1);
                // UTF-16 has its line breaks as other bytes than those counted here.
                let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
                assert!(utf16 || at.line as usize <= lines, "{diagnostic:?}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        withstands(&bytes);
    }

    #[test]
    fn arbitrary_utf16(units in prop::collection::vec(any::<u16>(), 0..100), odd in any::<bool>()) {
        let mut bytes: Vec<u8> = std::iter::once(0xfeff).chain(units).flat_map(u16::to_be_bytes).collect();
        bytes.extend(odd.then_some(b'x'));
        withstands(&bytes);
    }

    #[test]
    fn text_of_yaml_characters(text in "[-a1 \n\t\r:?#&*!|>'\"%@`{}\\[\\],<~=.\\\\\u{feff}\u{85}\0é]{0,80}") {
        withstands(text.as_bytes());
        withstands(format!("apiVersion: v1\nkind: X\nmetadata: {{name: a}}\nv:\n  {text}").as_bytes());
    }

    #[test]
    fn mutated_yaml(edits in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), 0..5_u8, any::<u8>()), 1..8)) {
        let mut bytes = SEED.as_bytes().to_vec();
        for (at, other, edit, byte) in edits {
            let (at, other) = (at.index(bytes.len()), other.index(bytes.len()));
            match edit {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => bytes.swap(at, other),
                3 => { bytes.drain(at.min(other)..(at.min(other) + 20).min(at.max(other))); }
                _ => {
                    let copied = bytes[at.min(other)..at.max(other)].to_vec();
                    bytes.splice(at..at, copied);
                }
            }
        }
        withstands(&bytes);
    }
}

#[test]
fn the_seed_reaches_what_it_is_meant_to() {
    let sound = SEED.replace("*anchor", "*m").replace(", .inf", "");
    let (_, loaded) = everything("a.yaml", sound.as_bytes());
    assert_eq!(loaded.documents.len(), 2, "{:?}", loaded.diagnostics);
    assert_eq!(loaded.diagnostics.len(), 2, "{:?}", loaded.diagnostics);
}
