//! Files of the corpus, broken as people and hostile people break files: nothing panics, every diagnostic is about a place in
//! the file, and what is read is what kubectl reads and what comes back from a print.
//!
//! Each run does the same: what is done to a file follows from its number. `COVERGENCE_FUZZ=ROUNDS` goes on for longer (`make fuzz`),
//! `COVERGENCE_FUZZ_FROM=NUMBER` begins elsewhere.

use std::panic::{AssertUnwindSafe, catch_unwind};

use covergence::load::{Diagnostic, to_yaml};
use fastrand::Rng;
use serde_json::Value;

use crate::support::corpus;
use crate::support::oracle::{
    File, annotated, differences, has_errors, kubectl_reads, kubectl_refuses, loader_reads,
};

/// Rounds in CI; one takes half a second.
const ROUNDS: u64 = 10;

/// Files of a round: enough that kubectl's start does not count.
const FILES: u64 = 500;

/// What is larger takes long and shows nothing more.
const LARGEST: usize = 8 << 10;

/// What stands in files where it is least expected.
#[rustfmt::skip]
const BITS: &[&str] = &[
    ":", ": ", "#", " #", "- ", "-", "? ", "&a ", "*a", "*a ", "!", "!!str ", "!!int ", "|", "|\n", ">-\n", "'", "\"", "%", "@", "`", "{", "}", "[", "]", ",",
    "\\", "\\x41", "\t", "\n", "\n\n", "\r", "\r\n", "\u{feff}", "\u{85}", "\u{2028}", "\u{a0}", "\0", "\u{7f}", "é", "😀", "---\n", "--- ", "...\n", "<<: ", "<<: *a\n",
    "~", "null", "yes", "0755", "1e3", ".inf", "1_000", "0x1F", "18446744073709551616", "2024-01-01", "1:30", "{{ x }}", "  ", " ", "apiVersion: v1\n", "kind: List\nitems:\n",
];

fn number(name: &str, default: u64) -> u64 {
    let set = std::env::var(name).ok();
    set.map_or(default, |text| text.parse().expect("a number"))
}

/// The lines of a text, each with its end.
fn lines(text: &str) -> Vec<String> {
    text.split_inclusive('\n').map(str::to_owned).collect()
}

/// Does one thing to a text.
fn mutate(text: &mut String, rng: &mut Rng, others: &[(String, String)]) {
    let mut lines = lines(text);
    if lines.is_empty() {
        text.push_str(BITS[rng.usize(..BITS.len())]);
        return;
    }
    let (at, to) = (rng.usize(..lines.len()), rng.usize(..lines.len()));
    let bit = BITS[rng.usize(..BITS.len())];
    let place = |line: &str, rng: &mut Rng| {
        let places: Vec<usize> = line.char_indices().map(|(i, _)| i).collect();
        places[rng.usize(..places.len())]
    };
    match rng.u8(..14) {
        0 => drop(lines.remove(at)),
        1 => lines.insert(to, lines[at].clone()),
        2 => lines.swap(at, to),
        3 => lines[at].insert_str(0, &" ".repeat(rng.usize(1..4))),
        4 => {
            let line = lines[at].clone();
            let blanks = line.len() - line.trim_start_matches(' ').len();
            lines[at] = line[rng.usize(..=blanks.min(3))..].to_owned();
        }
        5 | 6 => {
            let place = place(&lines[at], rng);
            lines[at].insert_str(place, bit);
        }
        7 => {
            let place = place(&lines[at], rng);
            lines[at].remove(place);
        }
        8 => {
            // A value in place of another.
            if let Some((key, _)) = lines[at].clone().split_once(": ") {
                lines[at] = format!("{key}: {bit}\n");
            }
        }
        9 => {
            let other = &others[rng.usize(..others.len())].1;
            let other = self::lines(other);
            let from = rng.usize(..other.len());
            let until = (from + rng.usize(1..6)).min(other.len());
            lines.splice(at..at, other[from..until].iter().cloned());
        }
        10 => {
            let place = place(&lines[at], rng);
            lines[at].truncate(place);
            lines.truncate(at + 1);
        }
        11 => {
            let line = lines[at].trim_end_matches('\n').to_owned();
            lines[at] = line + ["\r\n", "\r", "", " \n", "\t\n", " # c\n"][rng.usize(..6)];
        }
        12 => {
            let (from, until) = (at.min(to), at.max(to).min(at.min(to) + 5));
            let copied: Vec<String> = lines[from..until].to_vec();
            lines.splice(to..to, copied);
        }
        _ => {
            let (from, until) = (at.min(to), at.max(to).min(at.min(to) + 4));
            for line in &mut lines[from..until] {
                line.insert_str(0, "  ");
            }
        }
    }
    *text = lines.concat();
}

/// The file of a number.
fn broken(number: u64, corpus: &[(String, String)]) -> File {
    let mut rng = Rng::with_seed(number);
    let (name, text) = &corpus[rng.usize(..corpus.len())];
    let mut text = text.clone();
    for _ in 0..rng.u8(1..5) {
        mutate(&mut text, &mut rng, corpus);
    }
    let mut bytes = text.into_bytes();
    if rng.u8(..20) == 0 && !bytes.is_empty() {
        let at = rng.usize(..bytes.len());
        bytes[at] = rng.u8(..);
    }
    let ending = if name.ends_with("json") {
        "json"
    } else {
        "yaml"
    };
    (format!("{number}.{ending}"), bytes)
}

/// Says when a diagnostic is about a place that is not in the file.
fn misplaced(diagnostic: &Diagnostic, bytes: &[u8]) -> Option<String> {
    let at = diagnostic.position?;
    // UTF-16 counts otherwise, and has a test of its own.
    if bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    // Marks at the beginning of documents are taken away before anything is counted.
    let line = text.split('\n').nth(at.line as usize - 1);
    let is_there = line.is_some_and(|line| at.column as usize <= line.chars().count() + 1);
    (!is_there).then(|| format!("{diagnostic:?} is not in the file"))
}

/// Everything that can be told without kubectl: our reading and the one of its print.
fn alone(file: &File) -> Result<Option<Vec<Value>>, String> {
    let loaded = loader_reads(file);
    for diagnostic in &loaded.diagnostics {
        misplaced(diagnostic, &file.1).map_or(Ok(()), Err)?;
    }
    for document in &loaded.documents {
        let value = document.root.to_json();
        let printed = to_yaml(&value);
        let again = loader_reads(&("a.yaml".to_owned(), printed.clone().into_bytes()));
        let again: Vec<Value> = again.documents.iter().map(|d| d.root.to_json()).collect();
        if again != std::slice::from_ref(&value) {
            return Err(format!("{value} is printed as\n{printed}"));
        }
    }
    let values = loaded.documents.iter().map(annotated).collect();
    Ok((!has_errors(&loaded)).then_some(values))
}

fn shown((name, bytes): &File, what: &str) -> String {
    format!("{name}: {what}\n{}", String::from_utf8_lossy(bytes))
}

#[test]
fn broken_files_are_read_as_kubectl_reads_them_or_not_at_all() {
    let texts = corpus::files()
        .into_iter()
        .filter(|(_, bytes)| bytes.len() <= LARGEST);
    let texts = texts.filter_map(|(name, bytes)| Some((name, String::from_utf8(bytes).ok()?)));
    let corpus: Vec<(String, String)> = texts.collect();
    let from = number("COVERGENCE_FUZZ_FROM", 0);
    let mut wrong = Vec::new();
    for round in 0..number("COVERGENCE_FUZZ", ROUNDS) {
        let first = from + round * FILES;
        let mut files = Vec::new();
        let mut ours = Vec::new();
        for number in first..first + FILES {
            let file = broken(number, &corpus);
            match catch_unwind(AssertUnwindSafe(|| alone(&file))) {
                Ok(Ok(Some(values))) => {
                    ours.push(values);
                    files.push(file);
                }
                Ok(Ok(None)) => {}
                Ok(Err(what)) => wrong.push(shown(&file, &what)),
                Err(_) => wrong.push(shown(&file, "a panic")),
            }
        }
        assert!(files.len() as u64 > FILES / 20, "next to nothing is read");
        for ((file, ours), read) in files.iter().zip(&ours).zip(kubectl_reads(&files)) {
            // What it does not read can be read in one way only, or `load_syntax` would name it.
            let Ok(read) = read else { continue };
            // The mark in front of a later document we take away always (C07), kubectl not behind an empty one.
            if file
                .1
                .windows(3)
                .skip(1)
                .any(|it| it == "\u{feff}".as_bytes())
            {
                continue;
            }
            if let Some(what) = differences(ours, &read)
                && kubectl_refuses(file).is_none()
            {
                wrong.push(shown(file, &what));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n----------\n"));
}
