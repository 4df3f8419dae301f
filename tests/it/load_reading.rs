//! kubectl is the oracle: what it reads from a manifest is what the loader reads.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use std::process::Command;
use std::sync::Arc;

use covergence::load::{Diagnostic, Limits, Severity, Snapshot, SourceFile, load};
use serde_json::Value;

/// Gives the objects kubectl reads from a file, without the annotation that makes it read.
pub fn kubectl_reads(file_name: &str, bytes: &[u8]) -> Vec<Value> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join(file_name);
    std::fs::write(&path, bytes).expect("a manifest to give to kubectl");
    let output = Command::new("kubectl")
        .args(["annotate", "--local", "-o", "json", "-f"])
        .arg(&path)
        .arg("zz=1")
        .env("KUBECONFIG", "/dev/null")
        .env("HOME", folder.path())
        .output()
        .expect("kubectl on the PATH");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "kubectl: {stderr}");
    let objects = serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>();
    objects
        .map(|object| {
            let mut object = object.expect("JSON from kubectl");
            let metadata = object.get_mut("metadata").and_then(Value::as_object_mut);
            if let Some(metadata) = metadata {
                metadata.remove("annotations");
            }
            object
        })
        .collect()
}

/// Gives the objects the loader reads from a file; there must be no errors.
pub fn we_read(file_name: &str, bytes: &[u8]) -> Vec<Value> {
    let snapshot = Snapshot {
        revision: "sha256:0".to_owned(),
        files: vec![SourceFile {
            path: Arc::from(file_name),
            bytes: bytes.to_vec(),
        }],
        diagnostics: Vec::new(),
    };
    let loaded = load(&snapshot, &Limits::default());
    let warnings = |d: &Diagnostic| d.severity == Severity::Warning;
    assert!(
        loaded.diagnostics.iter().all(warnings),
        "{:?}",
        loaded.diagnostics
    );
    loaded.documents.iter().map(|d| d.root.to_json()).collect()
}

#[test]
fn scalars_keys_tags_anchors_and_merges() {
    let scalars = [
        "y",
        "Y",
        "yes",
        "Yes",
        "YES",
        "yEs",
        "n",
        "N",
        "no",
        "No",
        "NO",
        "nO",
        "on",
        "On",
        "ON",
        "oN",
        "off",
        "Off",
        "OFF",
        "true",
        "True",
        "TRUE",
        "tRUE",
        "false",
        "~",
        "null",
        "Null",
        "NULL",
        "nULL",
        "0755",
        "06300",
        "08",
        "09.5",
        "0o755",
        "0O17",
        "0x1f",
        "0XFF",
        "0x_F",
        "0b11",
        "-0b11",
        "0b2",
        "+0755",
        "-0755",
        "1_000",
        "1__0_",
        "1_000.5",
        "1e3",
        "1E3",
        "1e+3",
        "1e-3",
        "1.0",
        "-0.0",
        "-0",
        ".5",
        "+.5",
        "-.5",
        "1.",
        ".5_0",
        "._5",
        ".5__0",
        ".5_",
        ".5e1_0",
        ".5_e1",
        "1e400",
        "1:30",
        "1:30:45",
        "2024-01-01",
        "2024-01-01T00:00:00Z",
        "=",
        "<<",
        "9007199254740993",
        "9123456789012345678",
        "-9223372036854775808",
        "20190612073634",
        "0x",
        "+",
        ".",
        "..",
        "1.2.3",
        "1e",
        "e5",
        "+-1",
        "--1",
        "0x-1",
        "inf",
        "nan",
        "-.nan",
        ".Infinity",
        "_1",
        "00",
        "0o9",
        "0xFFFFFFFFFFFFFFFFFF",
        "1.5e22",
        "1e20",
        "1e19",
        "\"on\"",
        "'0755'",
        "!!str on",
        "!!str 5",
        "!!int \"5\"",
        "!!float 5",
        "!!bool \"yes\"",
        "!!null \"\"",
        "!!binary aGVsbG8=",
        "!Foo 5",
        "!Foo on",
        "! 5",
        "!!timestamp 2024-01-01",
        "!!timestamp \"2024-01-01\"",
        "!!seq x",
        "!!str",
        "",
        "\"\\u00e9\\x41\\t\\N\\_\\L\\P\\e\"",
        "'it''s'",
        "a b  c",
        "a#b",
        "a:b",
        "\"a\\\n      b\"",
        "{a, b: , c: 1}",
        "!!set {a, b}",
        "[a, [b], {c: d}]",
        "[on, 0755, ]",
    ];
    let mut text = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\nvalues:\n".to_owned();
    for (i, scalar) in scalars.iter().enumerate() {
        text += &format!("  k{i}: {scalar}\n");
    }
    text += "keys:\n  1: a\n  on: b\n  0x10: c\n  1.5: d\n  1e6: e\n  1e3: f\n  0.1: g\n  123456789.5: h\n  1e-5: i\n  .inf: j\n  2024-01-01: k\n  \"\": l\n  <x: m\n  !!str no: n\n  \"<<\": o\n  ? long\n  : p\n";
    text +=
        "base: &base {a: 1, b: &b [x, y]}\nother: &other\n  b: 3\n  c: 4\nafter: {a: 5, z: *b}\n";
    text += "merged: {<<: *base, b: own}\nlisted: {<<: [*base, *other], d: 1}\ntwice:\n  <<: *base\n  <<: *other\n!!merge <<: {m: 1}\n&k key: 1\ncopy: *k\n";
    text += "literal: |\n  one\n   two\n\n  three\nstrip: |-\n  x\n\nkeep: |+\n  x\n\nfolded: >\n  a\n  b\n\n  c\n   d\nindented: |2\n    x\n";
    assert_eq!(
        we_read("a.yaml", text.as_bytes()),
        kubectl_reads("a.yaml", text.as_bytes())
    );
}

#[test]
fn a_merge_after_a_key_replaces_it_as_in_kubectl() {
    let text = b"apiVersion: v1\nkind: X\nmetadata: {name: a}\nv: {a: 1, <<: {a: 2, b: 3}, c: 4}\n";
    let snapshot = Snapshot {
        revision: String::new(),
        files: vec![SourceFile {
            path: Arc::from("a.yaml"),
            bytes: text.to_vec(),
        }],
        diagnostics: Vec::new(),
    };
    let loaded = load(&snapshot, &Limits::default());
    let read: Vec<Value> = loaded.documents.iter().map(|d| d.root.to_json()).collect();
    assert_eq!(read, kubectl_reads("a.yaml", text));
    assert_eq!(loaded.diagnostics.len(), 1);
}

#[test]
fn files_of_several_documents() {
    let object =
        |name: &str| format!("apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {name}\n");
    let text = format!(
        "# c\n---\n{}---\n# only a comment\n---\n\n---   \n{}data:\n  k: |\n    one\n    two\n---\n",
        object("a"),
        object("b")
    );
    let marked = format!("\u{feff}{}---\n\u{feff}{}", object("a"), object("b"));
    let windows = text.replace('\n', "\r\n");
    for text in [text, marked, windows] {
        assert_eq!(
            we_read("a.yaml", text.as_bytes()),
            kubectl_reads("a.yaml", text.as_bytes()),
            "{text:?}"
        );
    }
    let utf16: Vec<u8> = std::iter::once(0xfeff)
        .chain(object("a").encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    assert_eq!(we_read("a.yaml", &utf16), kubectl_reads("a.yaml", &utf16));
}

#[test]
fn json_files() {
    let text = "\n{\"apiVersion\":\"v1\",\t\"kind\" : \"ConfigMap\",\r\n\"metadata\":{\"name\":\"a\"},\"x\":[1.0,1e3,-0,0.1,9123456789012345678,true,null,{},[]],\
        \"y\":\"\\ud83d\\ude00\\/\\u0041\\n\u{2028}\"} {\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"b\"}}";
    assert_eq!(
        we_read("a.json", text.as_bytes()),
        kubectl_reads("a.json", text.as_bytes())
    );
    assert_eq!(
        we_read("a.yaml", text.as_bytes()),
        kubectl_reads("a.yaml", text.as_bytes())
    );
}

#[test]
fn lists() {
    let text = b"apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: b}\n---\napiVersion: v1\nkind: List\nitems: null\n---\napiVersion: v1\nkind: ConfigMapList\nitems:\n- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: c}\n";
    assert_eq!(we_read("a.yaml", text), kubectl_reads("a.yaml", text));
}
