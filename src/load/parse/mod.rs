//! Bytes -> values with places, for YAML and JSON.

mod budget;
mod build;
mod doubts;
mod explain;
mod flow;
mod gather;
mod json;
mod json_token;
mod mapping;
mod number;
mod scalar;
#[cfg(test)]
mod scalar_tests;
mod yaml;

pub(super) use scalar::is_text;

use self::gather::Gathered;
use super::fault::Fault;
use super::{Limits, Node, text};

/// One document of a text and its faults.
pub(super) struct Parsed {
    /// The value; absent when the document is empty or does not parse.
    pub root: Option<Node>,
    /// What is wrong with it.
    pub faults: Vec<Fault>,
}

/// What a file has cost so far.
#[derive(Clone, Copy, Default)]
pub(super) struct Spent {
    /// Documents, but for those with nothing but comments.
    pub documents: usize,
    /// Values in them.
    pub values: usize,
}

/// Reads the documents of one chunk of a file, as JSON where it is JSON. Past a limit, in the chunk or in the file, it stops;
/// `spent` or the faults tell.
pub(super) fn read(
    json_file: bool,
    chunk: &text::Chunk<'_>,
    limits: &Limits,
    spent: &mut Spent,
) -> Vec<Parsed> {
    if text::is_empty(chunk) {
        return Vec::new();
    }
    let text::Chunk { lines_before, text } = *chunk;
    if json::looks_like_json(text) {
        let before = *spent;
        let parsed = json::read(text, lines_before, Gathered::new(limits, spent));
        // In a YAML file a brace may as well begin a flow mapping, which YAML's own parser explains better.
        if json_file || !parsed.iter().any(|p| p.faults.iter().any(|f| f.syntax)) {
            return parsed;
        }
        *spent = before;
    }
    let moved = |mut fault: Fault| {
        fault.position.line = fault.position.line.saturating_add(lines_before);
        fault
    };
    let checks = [text::odd_separator, text::forbidden, text::ambiguous_break];
    if let Some(fault) = checks.iter().find_map(|check| check(text)) {
        return vec![Parsed {
            root: None,
            faults: vec![moved(fault)],
        }];
    }
    let gathered = Gathered::new(limits, spent);
    // kubectl ends the last line if it has no end of its own, which a block of text that keeps them (`|+`) shows.
    if text.ends_with('\n') {
        return yaml::read(text, lines_before, gathered);
    }
    let mut parsed = yaml::read(&format!("{text}\n"), lines_before, gathered);
    let mut end = text::position_of(text, text.len());
    end.line = end.line.saturating_add(lines_before);
    // Nothing may be told of a line that is not there.
    for fault in parsed.iter_mut().flat_map(|it| &mut it.faults) {
        fault.position = fault.position.min(end);
    }
    parsed
}
