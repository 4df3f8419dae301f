//! The line a diagnostic shows, without a Secret's values.

use super::Position;
use super::text::{is_blank_or_comment, lines};

/// What stands for what is not shown, as in kubectl's and Flux's diffs.
const MASK: &str = "***";

/// Lines longer than this are cut, and not shown at all when the place lies further right: minified JSON.
const SHOWN: usize = 240;

/// How far the text around a place can be trusted to show what is a value and what is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Secrecy {
    /// No Secret is near: the line is shown as it is.
    Open,
    /// A Secret that parses: a line that begins with a key is shown up to its colon.
    Parsed,
    /// Text with a Secret that does not parse: the same, but only where the lines above prove that it is a key.
    Broken,
}

/// Whether a text may hold a Secret: the kind, or the field that only Secrets have, in any case of letters.
pub(super) fn mentions_secret(text: &str) -> bool {
    let bytes = text.as_bytes();
    let starts = |at: usize, word: &[u8]| {
        let found = bytes.get(at..at.saturating_add(word.len()));
        found.is_some_and(|found| found.eq_ignore_ascii_case(word))
    };
    let candidates = bytes
        .iter()
        .enumerate()
        .filter(|(_, b)| matches!(b, b's' | b'S'));
    candidates
        .map(|(at, _)| at)
        .any(|at| starts(at, b"secret") || starts(at, b"stringdata"))
}

/// Whether escapes may spell a word that cannot be seen in the text.
pub(super) fn has_escapes(text: &str) -> bool {
    ["\\x", "\\u", "\\U"]
        .iter()
        .any(|escape| text.contains(escape))
}

/// Takes lines out of a text. In the order of their places that is one pass over it, however many there are.
pub(super) struct Excerpts<'a> {
    text: &'a str,
    lines_before: u32,
    rest: Box<dyn Iterator<Item = &'a str> + 'a>,
    /// How many lines were taken from `rest`, and the last of them.
    taken: usize,
    last: Option<&'a str>,
}

impl<'a> Excerpts<'a> {
    /// Of a text whose first line has `lines_before` lines before it.
    pub(super) fn new(text: &'a str, lines_before: u32) -> Self {
        Self {
            text,
            lines_before,
            rest: Box::new(lines(text)),
            taken: 0,
            last: None,
        }
    }

    /// Takes the line of a place.
    pub(super) fn at(&mut self, at: Position, secrecy: Secrecy) -> Option<String> {
        let index = at.line.checked_sub(self.lines_before)?.checked_sub(1)?;
        let index = usize::try_from(index).ok()?;
        let line = self.line(index)?.trim_end_matches(['\n', '\r']);
        if line.trim().is_empty() {
            return None;
        }
        let column = usize::try_from(at.column).ok()?;
        match secrecy {
            Secrecy::Open if column > SHOWN => None,
            Secrecy::Open => Some(cut(line, SHOWN)),
            Secrecy::Parsed => Some(masked(line)),
            Secrecy::Broken if is_key_line(self.text, index) => Some(masked(line)),
            Secrecy::Broken => Some(MASK.to_owned()),
        }
    }

    fn line(&mut self, index: usize) -> Option<&'a str> {
        if index + 1 < self.taken {
            *self = Self::new(self.text, self.lines_before);
        }
        if index + 1 > self.taken {
            self.last = self.rest.nth(index - self.taken);
            self.taken = index + 1;
        }
        self.last
    }
}

/// Cuts a text after so many characters.
pub(super) fn cut(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        Some((end, _)) => text.get(..end).unwrap_or_default().to_owned() + "…",
        None => text.to_owned(),
    }
}

/// Keeps a line up to the colon after its first key.
fn masked(line: &str) -> String {
    match key_end(line) {
        Some(end) => format!("{} {MASK}", line.get(..end).unwrap_or_default()),
        None => MASK.to_owned(),
    }
}

/// Where the first key of a line begins: after blanks, list dashes and opening brackets.
fn key_start(line: &str) -> usize {
    let rest = line.trim_start_matches([' ', '{', '[', ',']);
    match rest.strip_prefix("- ") {
        Some(item) => line.len() - item.len() + key_start(item),
        None => line.len() - rest.len(),
    }
}

/// Where a line's first key ends, past its colon, when the line begins with a plain or quoted name and a colon.
fn key_end(line: &str) -> Option<usize> {
    let start = key_start(line);
    let rest = line.get(start..)?;
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''));
    let name = match quote {
        Some(quote) => rest.get(1..)?.split(quote).next()?,
        None => rest.split(':').next()?,
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/');
    if name.is_empty() || !name.chars().all(plain) {
        return None;
    }
    let length = name.len() + if quote.is_some() { 2 } else { 0 };
    let after = rest.get(length..)?.strip_prefix(':')?;
    let separated = quote.is_some() || after.is_empty() || after.starts_with([' ', '\t']);
    separated.then_some(start + length + 1)
}

/// Whether a line of a text that does not parse is certainly a key of a mapping, and not a line of a value that
/// spans several: every line it is nested under must end with its colon, and no quote may be open above it.
fn is_key_line(text: &str, index: usize) -> bool {
    let above: Vec<&str> = lines(text).take(index).collect();
    let open_quote = above.iter().any(|line| {
        let count = |quote| line.matches(quote).count();
        line.contains("\\\"") || count('"') % 2 == 1 || count('\'') % 2 == 1
    });
    let Some(line) = lines(text).nth(index) else {
        return false;
    };
    if open_quote || line.starts_with(['{', '[']) {
        return false;
    }
    let mut indent = key_start(line);
    for parent in above.iter().rev().filter(|line| !is_blank_or_comment(line)) {
        if parent.starts_with("---") {
            break;
        }
        let start = key_start(parent);
        if start < indent {
            let parent = parent.split(" #").next().unwrap_or_default();
            if !parent.trim_end().ends_with(':') {
                return false;
            }
            indent = start;
        }
    }
    true
}
