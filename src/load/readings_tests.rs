//! What is parsed again, what is kept, and that nothing tells a kept file from one that was just read.

use std::sync::Arc;

use super::*;
use crate::load::{Diagnostic, SourceFile, load};

fn snapshot(files: impl IntoIterator<Item = (String, String)>) -> Snapshot {
    Snapshot {
        revision: String::new(),
        files: files
            .into_iter()
            .map(|(path, text)| SourceFile {
                path: Arc::from(path),
                bytes: text.into_bytes(),
            })
            .collect(),
        diagnostics: Vec::new(),
    }
}

/// Objects of about a hundred bytes; every tenth file has an error, and every tenth two documents.
fn source(files: usize) -> Snapshot {
    snapshot((0..files).map(|i| {
        let mut text = format!(
            "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: config-{i}\ndata:\n  text: a few words to make it longer\n"
        );
        match i % 10 {
            3 => text += "data: {}\n",
            7 => text = format!("---\n{text}---\n{}", text.replace("config-", "second-")),
            _ => {}
        }
        (format!("{i:05}.yaml"), text)
    }))
}

/// Everything but how it came about.
fn told(loaded: &Loaded) -> (Vec<String>, Vec<Diagnostic>) {
    let documents = loaded.documents.iter();
    let documents = documents.map(|d| format!("{} {} {:?}", d.origin, d.id, d.root.to_json()));
    (documents.collect(), loaded.diagnostics.clone())
}

#[test]
fn one_changed_file_of_two_thousand_is_all_that_is_parsed() {
    let limits = Limits::default();
    let mut readings = Readings::default();
    let mut files = source(2000);
    assert_eq!(readings.load(&files, &limits).parsed, 2000);
    assert_eq!(readings.load(&files, &limits).parsed, 0);
    files.files[1234].bytes.extend(b"  more: x\n");
    let loaded = readings.load(&files, &limits);
    assert_eq!(loaded.parsed, 1);
    let fresh = load(&files, &limits);
    assert_eq!(fresh.parsed, 2000);
    assert_eq!(told(&loaded), told(&fresh));
    assert_eq!(
        (fresh.documents.len(), fresh.diagnostics.len()),
        (2000, 200)
    );
}

#[test]
fn a_file_that_was_added_moved_or_removed_is_read_under_its_name() {
    let limits = Limits::default();
    let mut readings = Readings::default();
    let mut files = source(1000);
    readings.load(&files, &limits);
    let mut moved = files.files.remove(10);
    moved.path = Arc::from("sub/moved.yaml");
    files.files.remove(10);
    files.files.push(moved);
    let loaded = readings.load(&files, &limits);
    assert_eq!(loaded.parsed, 1, "an origin names the file");
    assert_eq!(told(&loaded), told(&load(&files, &limits)));
    assert_eq!(readings.len(), 999, "what has left the source is let go");
}

#[test]
fn what_is_kept_is_bounded() {
    let limits = Limits::default();
    let mut readings = Readings::default();
    readings.load(&source(100), &limits);
    assert!(readings.is_empty(), "a small source costs no memory");
    let text = "x".repeat(256 << 10);
    let file = |i: usize| {
        let text = format!("apiVersion: v1\nkind: A\nmetadata: {{name: a{i}}}\nv: {text}\n");
        (format!("{i:02}.yaml"), text)
    };
    let large = snapshot((0..20).map(file));
    assert_eq!(readings.load(&large, &limits).documents.len(), 20);
    assert_eq!(readings.len(), 15);
    assert_eq!(readings.load(&large, &limits).parsed, 5);
}

#[test]
fn other_limits_are_another_reading() {
    let mut readings = Readings::default();
    let files = source(1000);
    let few = Limits {
        documents: 500,
        ..Limits::default()
    };
    for limits in [&few, &Limits::default(), &few] {
        let loaded = readings.load(&files, limits);
        let fresh = load(&files, limits);
        assert_eq!(told(&loaded), told(&fresh));
        assert_eq!(loaded.parsed, fresh.parsed);
    }
    // The same limit, met elsewhere: a file in front takes what was left for those behind it.
    readings.load(&files, &few);
    let mut more = files.clone();
    let first = SourceFile {
        path: Arc::from("!.yaml"),
        bytes: files.files[7].bytes.clone(),
    };
    more.files.insert(0, first);
    let (loaded, fresh) = (readings.load(&more, &few), load(&more, &few));
    assert_eq!(told(&loaded), told(&fresh));
}

/// A kept file counts against the limits of the whole source as it did when it was read.
#[test]
fn the_limits_of_the_source_hold_for_what_is_kept() {
    let mut files = source(1000);
    let wordy: String = (0..50).map(|i| format!("\n  a{i}: yes")).collect();
    for (i, file) in files
        .files
        .iter_mut()
        .enumerate()
        .filter(|(i, _)| i % 2 == 0)
    {
        file.bytes.extend(wordy.bytes());
        file.bytes.extend(format!("\n# {i}\n").bytes());
    }
    let usual = Limits::default();
    let fresh = load(&files, &usual);
    let values: usize = fresh.documents.iter().map(|it| it.root.size()).sum();
    let few_values = Limits {
        values: values / 2,
        ..usual.clone()
    };
    let few_faults = Limits {
        faults: 30,
        ..usual.clone()
    };
    for (limits, said) in [
        (few_values, "values; the rest of it was not read"),
        (
            few_faults,
            "30 errors so far; the rest of the source was not read",
        ),
    ] {
        let mut readings = Readings::default();
        let fresh = load(&files, &limits);
        let is_told = |it: &Diagnostic| it.message.ends_with(said);
        assert!(fresh.diagnostics.iter().any(is_told), "{said}");
        assert_eq!(told(&readings.load(&files, &limits)), told(&fresh));
        let again = readings.load(&files, &limits);
        assert_eq!(told(&again), told(&fresh));
        assert_eq!(again.parsed, 0);
    }
}

/// Warnings of one file that nobody will be told of are counted, and take no memory.
#[test]
fn warnings_past_the_limit_are_counted_whoever_has_read_them() {
    let limits = Limits {
        faults: 30,
        file_faults: 10,
        ..Limits::default()
    };
    let file = |i: usize| {
        let document = |n: usize| {
            let filler = "x".repeat(1000);
            format!(
                "---\napiVersion: v1\nkind: A\nmetadata: {{name: a{i}-{n}}}\nv: 0755\nw: {filler}\n"
            )
        };
        (format!("{i}.yaml"), (0..50).map(document).collect())
    };
    let files = snapshot((0..3).map(file));
    let mut readings = Readings::default();
    let fresh = load(&files, &limits);
    let last = fresh.diagnostics.last().unwrap();
    assert_eq!(last.message, "120 more warnings are not shown");
    assert_eq!((fresh.documents.len(), fresh.diagnostics.len()), (150, 31));
    for parsed in [3, 0] {
        let loaded = readings.load(&files, &limits);
        assert_eq!((told(&loaded), loaded.parsed), (told(&fresh), parsed));
    }
}
