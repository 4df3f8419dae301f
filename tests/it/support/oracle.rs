//! What kubectl makes of many files at once: it needs no server for that, and a process a file would take minutes.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;

use covergence::load::{Document, Limits, Loaded, Severity, Snapshot, SourceFile, load};
use serde_json::Value;

/// A file by its name, of which only the ending matters, and its bytes.
pub type File = (String, Vec<u8>);

/// What kubectl reads from each file, or why it refuses the file.
pub fn kubectl_reads(files: &[File]) -> Vec<Result<Vec<Value>, String>> {
    let folder = tempfile::tempdir().unwrap();
    let path = |i: usize, ending: &str| folder.path().join(format!("{i:06}{ending}"));
    for (i, (name, bytes)) in files.iter().enumerate() {
        let ending = name.rsplit_once('.').map_or("yaml", |(_, ending)| ending);
        std::fs::write(path(i, &format!("a.{ending}")), bytes).unwrap();
        // Objects come without the file they are from; this tells where each file ends.
        let end = format!("apiVersion: v1\nkind: EndOfFile\nmetadata: {{name: \"{i}\"}}\n");
        std::fs::write(path(i, "b.yaml"), end).unwrap();
    }
    let output = annotate(folder.path());
    let refusals = refusals(&output);
    let mut objects = Vec::new();
    let mut read = Vec::with_capacity(files.len());
    for object in serde_json::Deserializer::from_slice(&output.stdout).into_iter::<Value>() {
        let object = object.unwrap();
        if object["kind"] == "EndOfFile" {
            let i = read.len();
            let objects = std::mem::take(&mut objects);
            read.push(match refusals.get(&format!("{i:06}a")) {
                Some(why) => Err(why.clone()),
                None => Ok(objects),
            });
        } else {
            objects.push(object);
        }
    }
    assert_eq!(read.len(), files.len(), "{}", stderr(&output));
    read
}

fn annotate(folder: &Path) -> Output {
    Command::new("kubectl")
        .args(["annotate", "--local", "-o", "json", "-R", "-f", ".", "zz=1"])
        .current_dir(folder)
        .env("KUBECONFIG", "/dev/null")
        .env("HOME", folder)
        .output()
        .expect("kubectl on the PATH")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Why kubectl refuses files, by their names without the ending. What it says of no file it says of the whole run.
fn refusals(output: &Output) -> BTreeMap<String, String> {
    let text = stderr(output);
    let named = text.lines().filter_map(|line| {
        let (before, _) = line.split_once("a.yaml").or(line.split_once("a.json"))?;
        let number = before.get(before.len().checked_sub(6)?..)?;
        Some((format!("{number}a"), line.to_owned()))
    });
    named.collect()
}

/// Our reading of a file.
pub fn loader_reads((name, bytes): &File) -> Loaded {
    let snapshot = Snapshot {
        revision: String::new(),
        files: vec![SourceFile {
            path: Arc::from(name.as_str()),
            bytes: bytes.clone(),
        }],
        diagnostics: Vec::new(),
    };
    load(&snapshot, &Limits::default())
}

/// Whether we refuse something of a file.
pub fn has_errors(loaded: &Loaded) -> bool {
    let mut all = loaded.diagnostics.iter();
    all.any(|d| d.severity == Severity::Error)
}

/// An object as kubectl gives it back: with the annotation that makes it read.
pub fn annotated(document: &Document) -> Value {
    let mut object = document.root.to_json();
    if let Some(metadata) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        // One without a value makes `kubectl annotate` lose them all.
        let annotations = metadata.remove("annotations");
        let annotations = annotations.and_then(|it| it.as_object().cloned());
        let annotations = annotations.filter(|it| it.values().all(Value::is_string));
        let mut annotations = annotations.unwrap_or_default();
        annotations.insert("zz".to_owned(), "1".into());
        metadata.insert("annotations".to_owned(), Value::Object(annotations));
        // And so it does with an empty namespace.
        let is_empty = |it: &Value| it.is_null() || it == "";
        if metadata.get("namespace").is_some_and(is_empty) {
            metadata.remove("namespace");
        }
    }
    object
}

/// The first place where two values differ, with both.
pub fn difference(ours: &Value, kubectls: &Value) -> Option<String> {
    match (ours, kubectls) {
        (Value::Object(a), Value::Object(b)) => {
            let keys = a.keys().chain(b.keys().filter(|key| !a.contains_key(*key)));
            keys.into_iter()
                .find_map(|key| match (a.get(key), b.get(key)) {
                    (Some(a), Some(b)) => Some(format!(".{key}{}", difference(a, b)?)),
                    (a, b) => Some(format!(".{key}: {a:?} here, {b:?} in kubectl")),
                })
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => a
            .iter()
            .zip(b)
            .enumerate()
            .find_map(|(i, (a, b))| Some(format!("[{i}]{}", difference(a, b)?))),
        // serde_json, which reads kubectl's answer here, may be wrong in the last digit of a fraction.
        (Value::Number(a), Value::Number(b)) if a.is_f64() || b.is_f64() => {
            let (a, b) = (a.as_f64()?, b.as_f64()?);
            let is_near = a == b || ((a - b) / b).abs() <= f64::EPSILON;
            (!is_near).then(|| format!(": {a} here, {b} in kubectl"))
        }
        (a, b) => (a != b).then(|| format!(": {a} here, {b} in kubectl")),
    }
}

/// The first difference between our objects and kubectl's.
pub fn differences(ours: &[Value], kubectls: &[Value]) -> Option<String> {
    if ours.len() != kubectls.len() {
        return Some(format!(
            "{} objects here, {} in kubectl",
            ours.len(),
            kubectls.len()
        ));
    }
    let pairs = ours.iter().zip(kubectls).enumerate();
    let mut found =
        pairs.filter_map(|(i, (a, b))| Some(format!("object {i}: {}", difference(a, b)?)));
    found.next()
}

/// Why kubectl refuses a file, when asked for that one alone: some of what it says names no file.
pub fn kubectl_refuses((name, bytes): &File) -> Option<String> {
    let folder = tempfile::tempdir().unwrap();
    let ending = name.rsplit_once('.').map_or("yaml", |(_, ending)| ending);
    std::fs::write(folder.path().join(format!("file.{ending}")), bytes).unwrap();
    let output = annotate(folder.path());
    (!output.status.success()).then(|| stderr(&output))
}
