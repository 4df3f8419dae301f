//! From bytes to documents' text: encodings, byte order marks, and the `---` lines between documents.

use std::borrow::Cow;

use super::Position;
use super::fault::Fault;

/// A byte order mark, which editors on Windows put in front of a file.
const BOM: char = '\u{feff}';

/// The text of one document, or of several that `...` parts.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Chunk<'a> {
    /// Lines of the file before it.
    pub lines_before: u32,
    /// Its text, with the `---` it begins with.
    pub text: &'a str,
}

/// Decodes a file: UTF-8, or UTF-16 with a byte order mark, as PowerShell's `>` writes it.
pub(super) fn decode(bytes: &[u8]) -> Result<Cow<'_, str>, Fault> {
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => Cow::Owned(utf16(rest, u16::from_le_bytes)?),
        [0xfe, 0xff, rest @ ..] => Cow::Owned(utf16(rest, u16::from_be_bytes)?),
        _ => Cow::Borrowed(str::from_utf8(bytes).map_err(|e| not_utf8(bytes, e.valid_up_to()))?),
    };
    Ok(if text.contains(BOM) {
        Cow::Owned(without_boms(&text))
    } else {
        text
    })
}

/// Parts a file at its `---` lines. Such a line ends a document even inside quotes or a block of text (YAML 1.2.2,
/// production c-forbidden), so one broken document cannot take its neighbours along.
///
/// An iterator, since a hostile file can consist of `---` lines.
pub(super) fn chunks(text: &str) -> impl Iterator<Item = Chunk<'_>> {
    let mut lines = lines(text);
    let (mut start, mut offset) = (0, 0);
    let (mut start_line, mut line_count) = (0, 0_u32);
    // Directives (`%YAML 1.2`) belong to the document whose `---` follows them.
    let (mut prefix, mut directives) = (true, false);
    let mut ended = false;
    std::iter::from_fn(move || {
        for line in lines.by_ref() {
            let line_start = offset;
            offset += line.len();
            line_count = line_count.saturating_add(1);
            if is_separator(line) {
                let joined = std::mem::take(&mut directives);
                prefix = false;
                if !joined && line_start > start {
                    let chunk = text.get(start..line_start);
                    let lines_before = std::mem::replace(&mut start_line, line_count - 1);
                    start = line_start;
                    return chunk.map(|text| Chunk { lines_before, text });
                }
            } else if line.starts_with("...") {
                (prefix, directives) = (true, false);
            } else if prefix && line.starts_with('%') {
                directives = true;
            } else if !is_blank_or_comment(line) {
                prefix = false;
            }
        }
        if std::mem::replace(&mut ended, true) {
            return None;
        }
        text.get(start..).map(|text| Chunk {
            lines_before: start_line,
            text,
        })
    })
}

/// Whether a chunk has nothing but comments, so that no parser needs to be made for it.
pub(super) fn is_empty(chunk: &Chunk<'_>) -> bool {
    let mut lines = lines(chunk.text);
    lines.all(|line| is_blank_or_comment(line.strip_prefix("---").unwrap_or(line)))
}

/// Splits into lines, each with its break. A lone carriage return is a break in YAML too.
pub(super) fn lines(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let bytes = rest.as_bytes();
        let end = match bytes.iter().position(|b| matches!(b, b'\n' | b'\r'))? {
            at if bytes.get(at..at + 2) == Some(b"\r\n") => at + 2,
            at => at + 1,
        };
        let (line, tail) = rest.split_at_checked(end)?;
        rest = tail;
        Some(line)
    })
    .chain(last_line(text))
}

/// The text after the last break, when there is any.
fn last_line(text: &str) -> Option<&str> {
    let from = text.rfind(['\n', '\r']).map_or(0, |at| at + 1);
    text.get(from..).filter(|line| !line.is_empty())
}

/// Whether a text has nothing but what every reader takes for the same: almost all do, and this is fast.
fn is_plain(text: &str) -> bool {
    let unusual = |b: &u8| !matches!(b, b'\t' | b'\n' | b'\r' | b' '..=b'~');
    let mut pieces = text.as_bytes().chunks(64);
    // No end before that of a piece, so that its bytes are looked at all at once.
    !pieces.any(|piece| piece.iter().fold(false, |found, b| found | unusual(b)))
}

/// Finds `---#`, at which kubectl parts documents and YAML does not.
pub(super) fn odd_separator(text: &str) -> Option<Fault> {
    let mut found = text.match_indices("---#").map(|(at, _)| at);
    let begins_line = |at: &usize| *at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n');
    let at = found.find(begins_line)?;
    let fault = Fault::syntax(position_of(text, at), "no blank after `---`");
    Some(fault.hint(
        "write `--- #`: without the blank this line is no separator to YAML, and one to kubectl",
    ))
}

/// Finds a line end of its own kind: to YAML it is one, to kubectl, which parts documents and lines by itself, it is none.
fn lone_return(text: &str) -> Option<usize> {
    let mut returns = text.match_indices('\r');
    let ends_line = |at: usize| text.as_bytes().get(at + 1) == Some(&b'\n');
    returns.find(|(at, _)| !ends_line(*at)).map(|(at, _)| at)
}

/// Finds the first character that YAML does not allow in a file. The parser takes a NUL for the end of the text, so
/// what follows it would be lost without a word.
pub(super) fn forbidden(text: &str) -> Option<Fault> {
    if let Some(at) = lone_return(text) {
        let message = "a carriage return that no line feed follows";
        let fault = Fault::syntax(position_of(text, at), message);
        return Some(fault.hint("save the file with the line ends of Unix or Windows"));
    }
    if is_plain(text) {
        return None;
    }
    let allowed = |c: char| matches!(c, '\t' | '\n' | '\r' | ' '..='~' | '\u{85}' | '\u{a0}'..='\u{fffd}' | '\u{10000}'..);
    let at = text.char_indices().find(|(_, c)| !allowed(*c))?;
    let position = position_of(text, at.0);
    let message = format!(
        "control character U+{:04X} is not allowed in YAML",
        u32::from(at.1)
    );
    let fault = Fault::syntax(position, message);
    Some(if at.1 == '\0' {
        fault.hint("is the file UTF-16 without a byte order mark? Save it as UTF-8")
    } else {
        fault.hint("write it as an escape in double quotes")
    })
}

/// Finds a character that YAML 1.1, and so kubectl, takes for a line break, folds and indents, and YAML 1.2 for a letter.
pub(super) fn ambiguous_break(text: &str) -> Option<Fault> {
    if is_plain(text) {
        return None;
    }
    let (at, c) = text
        .char_indices()
        .find(|(_, c)| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}'))?;
    let message = format!(
        "U+{:04X}, which kubectl reads as a line break and others as a letter",
        u32::from(c)
    );
    let fault = Fault::syntax(position_of(text, at), message);
    Some(fault.hint("take it out, or write it as an escape in double quotes"))
}

/// Tells whether a character is seen as nothing, or changes the direction of those around it ("Trojan Source",
/// CVE-2021-42574): the format characters of Unicode, and letters that are blank.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
        | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
        | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Finds line and column of a byte offset.
pub(super) fn position_of(text: &str, offset: usize) -> Position {
    let mut line = 1;
    let mut start = 0;
    for content in lines(text) {
        // A line's break belongs to it, so the offset after the last break is on a line of its own.
        let end = start + content.len();
        if offset < end || !content.ends_with(['\n', '\r']) {
            break;
        }
        start = end;
        line += 1;
    }
    let before = text.get(start..offset).unwrap_or_default();
    Position {
        line,
        column: u32::try_from(before.chars().count()).map_or(u32::MAX, |n| n.saturating_add(1)),
    }
}

/// `---` alone or before a blank.
fn is_separator(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']))
}

/// Whether a line has no content.
pub(super) fn is_blank_or_comment(line: &str) -> bool {
    let line = line.trim_start_matches([' ', '\t']);
    line.starts_with(['#', '\n', '\r']) || line.is_empty()
}

fn utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Result<String, Fault> {
    let (pairs, odd) = bytes.as_chunks::<2>();
    let mut text = String::with_capacity(bytes.len());
    let mut wrong = (!odd.is_empty()).then_some(pairs.len());
    let units = pairs.iter().map(|pair| unit(*pair));
    let mut read = 0;
    for decoded in char::decode_utf16(units) {
        match decoded {
            Ok(c) => {
                read += c.len_utf16();
                text.push(c);
            }
            Err(_) => {
                wrong = Some(read);
                break;
            }
        }
    }
    match wrong {
        None => Ok(text),
        Some(unit) => {
            let position = position_of(&text, text.len());
            let message = format!("not valid UTF-16 at byte {}", 2 + unit * 2);
            Err(Fault::syntax(position, message).hint("save the file as UTF-8"))
        }
    }
}

fn not_utf8(bytes: &[u8], at: usize) -> Fault {
    let valid = bytes
        .get(..at)
        .and_then(|b| str::from_utf8(b).ok())
        .unwrap_or_default();
    let position = position_of(valid, valid.len());
    let byte = bytes.get(at).copied().unwrap_or_default();
    let message = format!("not valid UTF-8 at byte {at} (0x{byte:02x})");
    Fault::syntax(position, message).hint("save the file as UTF-8")
}

/// Drops the marks at the beginning of documents. Inside a document they are content, or a mistake to report.
fn without_boms(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut prefix = true;
    for line in lines(text) {
        let bare = line.trim_start_matches(BOM);
        let line = if prefix || is_separator(bare) {
            bare
        } else {
            line
        };
        prefix = is_separator(line) || (prefix && is_blank_or_comment(line));
        clean.push_str(line);
    }
    clean
}
