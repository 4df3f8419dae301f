//! The text of every diagnostic that loading can give, as people see it. Read a difference as one who made that mistake.

use std::sync::Arc;

use super::print;
use crate::load::{Limits, Snapshot, SourceFile, load};

const HEAD: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

fn shown_with(limits: &Limits, cases: &[(&str, Vec<u8>)]) -> String {
    let mut text = String::new();
    for (path, bytes) in cases {
        let snapshot = Snapshot {
            revision: String::new(),
            files: vec![SourceFile {
                path: Arc::from(*path),
                bytes: bytes.clone(),
            }],
            diagnostics: Vec::new(),
        };
        let diagnostics = load(&snapshot, limits).diagnostics;
        assert!(!diagnostics.is_empty(), "nothing is wrong with {bytes:?}");
        let mut out = Vec::new();
        print(&mut out, &diagnostics).unwrap();
        text += &String::from_utf8(anstream::adapter::strip_bytes(&out).into_vec()).unwrap();
    }
    text
}

fn shown(cases: &[(&str, Vec<u8>)]) -> String {
    shown_with(&Limits::default(), cases)
}

/// Lines added to a sound ConfigMap.
fn added(lines: &[&str]) -> String {
    let cases: Vec<_> = lines
        .iter()
        .map(|lines| ("shop/a.yaml", format!("{HEAD}{lines}\n").into_bytes()))
        .collect();
    shown(&cases)
}

/// Whole files.
fn files(cases: &[(&str, &str)]) -> String {
    let cases: Vec<_> = cases
        .iter()
        .map(|(path, text)| (*path, text.as_bytes().to_vec()))
        .collect();
    shown(&cases)
}

#[test]
fn indentation_and_structure() {
    insta::assert_snapshot!(added(&[
        "data:\n\ta: b",
        "data:\n  a: b\n c: d",
        "data:\n  a: b\n    c: d",
        "data:\n  a: b: c",
        "data:\n  a\n  b: c",
        "data:\n  - a\n  b: c",
        "data:\n  a: - b",
        "data:\n  a: b\n  - c",
        "data:\n  a: |x\n    b",
        "data:\n  a: one\n  # comment\n    two",
        "data:\n  a: \"b\n---\nc\"",
        "data:\n  a: |\n      b\n    c\n  d: e",
        "data: {a: b}}",
        "<<<<<<< ours\ndata:\n=======\n",
    ]));
}

#[test]
fn quotes_brackets_and_signs() {
    insta::assert_snapshot!(added(&[
        "data:\n  a: \"open",
        "data:\n  a: 'it's'",
        "data:\n  a: \"x\" y",
        "data:\n  a: \"C:\\dir\"",
        "data:\n  a: \"\\x4\"",
        "data:\n  a: \"\\ud83d\"",
        "data:\n  a: [b, c",
        "data:\n  a: [b}",
        "data:\n  a: {b: c d: e}",
        "data:\n  a: [b c: d e: f]",
        "data:\n  a: [-]",
        "data:\n  a: @b",
        "data:\n  a: `b`",
        "data:\n  a: %b",
        "data:\n  a: *b",
        "data:\n  a: &",
        "data:\n  a: !<x",
        "data:\n  a: !e!x b",
        "data:\n  a: {{ .Values.x }}",
        "data:\n  a: {b:\u{a0}c, “d”: e: f}",
        "data:\n  a: “b”: c",
        "data:\n  a: \"b\"#c",
    ]));
}

#[test]
fn keys() {
    insta::assert_snapshot!(
        added(&[
            "data:\n  port: 1\n  x: y\n  port: 2",
            "data: {a: b, \"a\": c}",
            "data:\n  1: a\n  \"1\": b",
            "data:\n  on: a\n  0x10: b\n  1.0: c\n  1e6: d",
            "data:\n  ~: a",
            "data:\n  : a",
            "data:\n  ? [a]\n  : b",
            "data:\n  18446744073709551615: a",
            "data: {<<: a}",
            "data: {<<: [{a: b}, c]}",
            "x: &x {a: 1}\ndata: {a: 2, <<: *x}",
            "data: {größe: 1, größe: 2}",
            "data: {日本: 1, 日本: 2}",
        ]) + &files(&[("shop/two.yaml", &format!("{HEAD}{HEAD}"))])
    );
}

#[test]
fn values() {
    insta::assert_snapshot!(added(&[
        "data:\n  a: 18446744073709551616",
        "data:\n  a: [9223372036854775808, 0.1000000000000000055, -.inf, .nan]",
        "data:\n  containerPort: 06300",
        "data:\n  replicas: 010",
        "data:\n  targetRevision: 1.10",
        "data:\n  a: {b:}",
        "data:\n  a: [?b, !!str]",
        "data:\n  a: &a 1.5\n  *a : b",
        "items: []",
        "data:\n  a: !!int x",
        "data:\n  a: !!binary \"a b\"",
        "data:\n  a: !!binary /w==",
        "data:\n  a: &a [*a]",
        "data: \"a\u{85}b\"",
        "data:\n  a: b\u{0}c",
        "data:\n  a: b\u{7}c",
        "data:\n  a: b\n\u{feff}  c: d",
    ]));
}

#[test]
fn files_and_encodings() {
    let utf16: Vec<u8> = std::iter::once(0xfeff)
        .chain(HEAD.encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    let without_mark = utf16.get(2..).unwrap().to_vec();
    let cut = utf16.get(..utf16.len() - 1).unwrap().to_vec();
    let mut latin1 = HEAD.as_bytes().to_vec();
    latin1.extend(b"data:\n  a: caf\xe9\n");
    let lfs = b"version https://git-lfs.example/spec/v1\noid sha256:00\nsize 1\n".to_vec();
    let text = |text: String| text.into_bytes();
    insta::assert_snapshot!(shown(&[
        ("cut.yaml", cut),
        ("without-mark.yaml", without_mark),
        ("latin1.yaml", latin1),
        ("pointer.yaml", lfs),
        ("separated.yaml", text(format!("{HEAD}---# b\n{HEAD}"))),
        ("mac.yaml", text(HEAD.replace('\n', "\r"))),
        ("ended.yaml", text(format!("{HEAD}...\n{HEAD}"))),
    ]));
}

#[test]
fn json() {
    let head = "{\"apiVersion\": \"v1\", \"kind\": \"A\", \"metadata\": {\"name\": \"a\"},\n  ";
    let cases = [
        "\"a\": 1, \"a\": 2}",
        "\"a\": [1, 2}",
        "\"a\": 1",
        "\"a\": tru}",
        "\"a\": 'b'}",
        "\"a\": 01}",
        "\"a\": 1e999}",
        "\"a\": 12345678901234567890}",
        "\"a\": \"b",
        "\"a\": \"\\q\"}",
        "\"a\": \"\\u00\"}",
        "\"a\": \"\\ud83d\"}",
        "\"a\": \"\t\"}",
        "\"a\" 1}",
        "a: 1}",
        "\"a\": 1,}",
    ];
    let cases: Vec<_> = cases
        .iter()
        .map(|rest| ("a.json", format!("{head}{rest}\n").into_bytes()))
        .collect();
    insta::assert_snapshot!(shown(&cases));
}

#[test]
fn objects() {
    insta::assert_snapshot!(files(&[
        ("a.yaml", "- a\n"),
        ("a.yaml", "text\n"),
        ("a.yaml", "a: 1\n"),
        ("a.yaml", "kind: ConfigMap\n"),
        (
            "a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata:\n  generateName: a-\n"
        ),
        (
            "a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: 12}\n"
        ),
        (
            "a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a, labels: {build: 356136738, x: y, z: }}\n"
        ),
        ("a.yaml", "apiVersion: v1\nkind: List\nitems: 5\n"),
        ("a.yaml", "apiVersion: v1\nkind: ''\n"),
        ("a.yaml", "apiVersion: 1\nkind: Pod\n"),
        (
            "a.yaml",
            "apiVersion: a/b/c\nkind: Pod\nmetadata: {name: a}\n"
        ),
        ("a.yaml", "apiVersion: v1\nkind: a/b\nmetadata: {name: a}\n"),
        (
            "a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: ../a}\n"
        ),
        (
            "a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: A_b}\n"
        ),
        (
            "a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: \"\"}\n"
        ),
        ("a.yaml", "apiVersion: v1\nkind: Pod\nspec: {}\n"),
        (
            "a.yaml",
            "apiVersion: v1\nkind: Pod\nmetadata: {name: a, annotations: [b]}\n"
        ),
        ("a.yaml", "apiVersion: v1\nkind: List\nitmes: []\n"),
        ("kustomization.yaml", "resources: [a.yaml]\n"),
        ("Chart.yaml", "apiVersion: v2\nname: a\n"),
        (
            "a.yaml",
            "apiVersion: v1\nkind: A\nmetadata: {annotations: {config.kubernetes.io/local-config: \"true\"}}\n",
        ),
    ]));
}

#[test]
fn limits() {
    let limits = Limits {
        file_bytes: 1 << 20,
        documents: 1,
        nesting: 5,
        file_values: 50,
        alias_bytes: 100,
        file_faults: 2,
        ..Limits::default()
    };
    let long = "x".repeat(60);
    insta::assert_snapshot!(shown_with(
        &limits,
        &[
            ("large.yaml", vec![b' '; (1 << 20) + 1]),
            ("deep.yaml", b"a: [[[[[[[1]]]]]]]\n".to_vec()),
            ("deep.json", b"[[[[[[[1]]]]]]]\n".to_vec()),
            (
                "wide.yaml",
                format!("a: [{}]\n", "1, ".repeat(60)).into_bytes()
            ),
            (
                "copies.yaml",
                format!("a: &a {long}\nb: [*a, *a]\n").into_bytes()
            ),
            (
                "many.yaml",
                format!("{HEAD}---\n{HEAD}---\n{HEAD}").into_bytes()
            ),
            ("wrong.yaml", b"]\n---\n]\n---\n]\n".to_vec()),
        ],
    ));
}

#[test]
fn secrets_show_no_values() {
    let head = "apiVersion: v1\nkind: Secret\nmetadata: {name: a}\nstringData:\n";
    let cases = [
        "  a: hunter2\n  a: hunter2\n",
        "  port: 04213\n",
        "  a: hunter2: x\n",
        "  a: \"hunter2\n",
        "  18446744073709551615: hunter2\n",
    ];
    let cases: Vec<_> = cases
        .iter()
        .map(|rest| ("secret.yaml", format!("{head}{rest}").into_bytes()))
        .collect();
    let text = shown(&cases);
    assert!(!text.contains("hunter2") && !text.contains("04213"));
    insta::assert_snapshot!(text);
}
