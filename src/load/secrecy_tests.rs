//! Invariant 6: a Secret's values never reach a diagnostic.

use std::sync::Arc;

use proptest::prelude::*;

use super::{Diagnostic, Limits, Origin, Position, Snapshot, SourceFile, add_excerpts, load};

fn snapshot(name: &str, bytes: &[u8]) -> Snapshot {
    Snapshot {
        revision: String::new(),
        files: vec![SourceFile {
            path: Arc::from(name),
            bytes: bytes.to_vec(),
        }],
        diagnostics: Vec::new(),
    }
}

fn diagnose(name: &str, text: &str) -> Vec<Diagnostic> {
    load(&snapshot(name, text.as_bytes()), &Limits::default()).diagnostics
}

fn leaks(diagnostics: &[Diagnostic], secret: &str) -> bool {
    diagnostics.iter().any(|d| {
        let Diagnostic {
            severity: _,
            file: _,
            position: _,
            message,
            excerpt,
            hint,
        } = d;
        [Some(message), excerpt.as_ref(), hint.as_ref()]
            .into_iter()
            .flatten()
            .any(|text| text.contains(secret))
    })
}

const HEAD: &str = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: a\n";

#[test]
fn faults_of_secrets_show_keys_only() {
    let cases = [
        ("stringData:\n  a: hunter2\n  a: hunter2\n", "  a: ***"),
        (
            "stringData:\n  a: hunter2\n  \"b\": !!int \"hunter2\"\n",
            "  \"b\": ***",
        ),
        ("stringData: {a: hunter2, a: hunter2}\n", "stringData: ***"),
        ("stringData:\n  a: *hunter2\n", "  a: ***"),
        ("stringData:\n  a: `hunter2\n", "  a: ***"),
        ("stringData:\n  a: hunter2: x\n", "  a: ***"),
        ("stringData:\n  a: hunter2\n    hunter2: x\n", "***"),
        (
            "stringData:\n  a: |\n    x:\n      hunter2: x\n   y\n",
            "***",
        ),
        ("stringData:\n  a: \"x\n    hunter2: \\q\"\n", "  a: ***"),
        ("stringData:\n  a: \"x\n  hunter2: \\q\"\n", "  a: ***"),
        ("stringData:\n  a: [hunter2\n", "  a: ***"),
        ("stringData:\n  a: hunter2\n hunter2\n", "***"),
    ];
    for (rest, shown) in cases {
        let found = diagnose("a.yaml", &format!("{HEAD}{rest}"));
        assert_eq!(found.len(), 1, "{rest}: {found:?}");
        assert!(!leaks(&found, "hunter2"), "{rest}: {found:?}");
        assert_eq!(
            found[0].excerpt.as_deref(),
            Some(shown),
            "{rest}: {found:?}"
        );
    }
}

#[test]
fn the_word_is_found_in_any_spelling() {
    let texts = [
        (
            "a.json",
            r#"{"apiVersion":"v1","kind":"Secret","stringData":{"a":"hunter2","a":""}}"#,
        ),
        (
            "a.json",
            "{\"apiVersion\":\"v1\",\"kind\":\n\"\\u0053ecret\",\"stringData\":\n{\"a\":\"hunter2\",\"a\":\"\"}}",
        ),
        (
            "a.yaml",
            "apiVersion: v1\nkind: \"\\x53ecret\"\nmetadata: {name: 12, password: hunter2}\n",
        ),
        (
            "a.yaml",
            "apiVersion: v1\nkind: \"\\\n  \\x53ecret\"\nmetadata: {name: 12, password: hunter2}\n",
        ),
        (
            "a.yaml",
            "kind: SecretList\napiVersion: v1\nitems:\n- stringData: {a: hunter2}\n",
        ),
        ("a.yaml", "kind: SECRET\nstringData: [hunter2\n"),
    ];
    for (name, text) in texts {
        let found = diagnose(name, text);
        assert!(!found.is_empty(), "{text}");
        assert!(!leaks(&found, "hunter2"), "{text}: {found:?}");
    }
}

#[test]
fn other_encodings_and_late_findings_are_masked_too() {
    let text = format!("{HEAD}stringData:\n  password: hunter2 caf");
    let latin: Vec<u8> = text.bytes().chain([0xe9]).collect();
    let found = load(&snapshot("a.yaml", &latin), &Limits::default()).diagnostics;
    assert_eq!(found.len(), 1);
    assert!(!leaks(&found, "hunter2"), "{found:?}");

    let text = format!("{HEAD}stringData:\n  password: hunter2\n---\nkind: X\na: hunter3\n");
    let at = |line| {
        let position = Position { line, column: 3 };
        Diagnostic::error_at(
            &Origin {
                file: Arc::from("a.yaml"),
                position,
            },
            "found later",
        )
    };
    let mut late = [at(6), at(9)];
    add_excerpts(&mut late, &snapshot("a.yaml", text.as_bytes()));
    assert_eq!(late[0].excerpt.as_deref(), Some("  password: ***"));
    assert_eq!(late[1].excerpt.as_deref(), Some("a: hunter3"));
}

#[test]
fn other_documents_show_the_line_as_it_is() {
    let found = diagnose(
        "a.yaml",
        &format!("{HEAD}---\nkind: X\nspec: {{a: 1, a: 2}}\n"),
    );
    assert_eq!(found[0].excerpt.as_deref(), Some("spec: {a: 1, a: 2}"));
    let long = format!("kind: X\nspec: {{a: 1, a: 2, b: {}}}\n", "x".repeat(1000));
    let shown = diagnose("a.yaml", &long)[0].excerpt.clone().unwrap();
    assert!(
        shown.starts_with("spec: {a: 1") && shown.ends_with('…') && shown.len() < 260,
        "{shown}"
    );
    let far = format!("kind: X\nspec: {{b: {}, a: 1, a: 2}}\n", "x".repeat(1000));
    assert_eq!(diagnose("a.yaml", &far)[0].excerpt, None);
}

proptest! {
    // Edits that break the text must not turn a value into something that is shown. None of them makes a key of
    // the value: that would take a colon right after it.
    #[test]
    fn edits_never_bring_a_value_to_light(edits in prop::collection::vec((0..400_usize, any::<bool>(), "[ \n\t\"'{}\\[\\]|>&*!%@`,#a-]"), 1..4)) {
        let text = format!(
            "{HEAD}stringData:\n  password: hunter2\n  quoted: \"hunter2\"\n  single: 'hunter2'\n  block: |\n    first:\n      hunter2\n  \
             folded: >-\n    hunter2\n  several: \"one\n    hunter2\n    two\"\n  plain: one\n    hunter2\n  list: [hunter2, {{a: hunter2 }}]\n  anchor: &a hunter2\ndata:\n  bytes: hunter2\n"
        );
        let mut chars: Vec<char> = text.chars().collect();
        for (at, delete, text) in edits {
            // The kind stays: without it nothing tells that this is a Secret.
            let kept = "apiVersion: v1\nkind: Secret\n".len();
            let at = kept + at % (chars.len() - kept);
            match text.chars().next() {
                Some(c) if !delete => chars.insert(at, c),
                _ => { chars.remove(at); }
            }
        }
        let text: String = chars.into_iter().collect();
        for name in ["a.yaml", "a.json"] {
            let found = diagnose(name, &text);
            prop_assert!(!leaks(&found, "hunter2"), "{text}\n{found:?}");
        }
    }
}
