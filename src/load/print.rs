//! JSON value -> YAML that every reader reads back as the same value.
//!
//! Common emitters leave `on`, `y`, `1_000` or `<<` without quotes, and kubectl then reads booleans, numbers and merge
//! keys (serde-yaml#319, #380). Here a string goes without quotes only when it cannot be anything else in YAML 1.1 or 1.2.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::parse::is_text;

/// Keys longer than this are written `? key`; YAML allows 1024 characters before the colon of a short one.
const LONGEST_KEY: usize = 400;

/// Writes a value in block style, with keys in the value's own order and a line break at the end.
pub fn to_yaml(value: &Value) -> String {
    let mut out = String::new();
    node(&mut out, value, 0, Place::Line);
    out
}

/// What stands on the line before a value.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// Nothing but indentation, or list dashes.
    Line,
    /// A key and its colon.
    Key,
}

/// Writes a value whose own lines are indented by `indent`, which is where the current line stands after a dash.
fn node(out: &mut String, value: &Value, indent: usize, place: Place) {
    match value {
        Value::Object(map) if !map.is_empty() => mapping(out, map, indent, place),
        Value::Array(items) if !items.is_empty() => list(out, items, indent, place),
        _ => {
            if place == Place::Key {
                out.push(' ');
            }
            match value {
                Value::Object(_) => out.push_str("{}"),
                Value::Array(_) => out.push_str("[]"),
                Value::String(text) => string(out, text, indent),
                // JSON's spelling of null, booleans and numbers is YAML's too.
                Value::Null | Value::Bool(_) | Value::Number(_) => out.push_str(&value.to_string()),
            }
            if !out.ends_with('\n') {
                out.push('\n');
            }
        }
    }
}

fn mapping(out: &mut String, map: &Map<String, Value>, indent: usize, place: Place) {
    let mut first = place == Place::Line;
    if !first {
        out.push('\n');
    }
    for (key, value) in map {
        if !std::mem::take(&mut first) {
            pad(out, indent);
        }
        if key.len() > LONGEST_KEY {
            out.push_str("? ");
            quoted(out, key);
            out.push('\n');
            pad(out, indent);
        } else if is_plain(key) {
            out.push_str(key);
        } else {
            quoted(out, key);
        }
        out.push(':');
        node(out, value, indent + 2, Place::Key);
    }
}

fn list(out: &mut String, items: &[Value], indent: usize, place: Place) {
    // As kubectl prints it, the dash stands below the first letter of the key.
    let (mut first, indent) = match place {
        Place::Line => (true, indent),
        Place::Key => (false, indent.saturating_sub(2)),
    };
    if !first {
        out.push('\n');
    }
    for item in items {
        if !std::mem::take(&mut first) {
            pad(out, indent);
        }
        out.push_str("- ");
        node(out, item, indent + 2, Place::Line);
    }
}

fn string(out: &mut String, text: &str, indent: usize) {
    if is_plain(text) {
        out.push_str(text);
    } else if is_literal(text) {
        literal(out, text, indent.max(2));
    } else {
        quoted(out, text);
    }
}

/// Whether a string may stand without quotes.
fn is_plain(text: &str) -> bool {
    let Some(first) = text.chars().next() else {
        return false;
    };
    let begins = match first {
        '0'..='9' => is_unit(text),
        _ => first.is_ascii_alphabetic() || matches!(first, '_' | '/'),
    };
    let mut previous = ' ';
    let inner = text.chars().all(|c| {
        let fits = match c {
            ' ' | '-' | '_' | '.' | '/' | '+' | '=' | '@' | ',' | '(' | ')' | '%' | '$' | '~'
            | '*' | '!' | '?' | '&' | '<' | '>' | '^' | ';' => previous != ':' || c != ' ',
            ':' => true,
            '#' => previous != ' ',
            c => c.is_alphanumeric(),
        };
        previous = c;
        fits
    });
    begins && inner && !text.ends_with([' ', ':']) && is_text(text)
}

/// `10Gi`, `100m`, `1h30m`: digits with a letter that no number, date or time of any YAML version has.
fn is_unit(text: &str) -> bool {
    let safe = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-');
    let telling = |c: char| matches!(c.to_ascii_lowercase(), 'g'..='n' | 'p'..='s' | 'u'..='w');
    text.chars().all(safe) && text.contains(telling) && !text.starts_with("0")
}

/// Whether a string can be a literal block and come back unchanged.
fn is_literal(text: &str) -> bool {
    let lines = || text.trim_end_matches('\n').split('\n');
    text.contains('\n')
        // The first line sets the indentation, so it must not begin with any of its own.
        && !text.starts_with([' ', '\t', '\n'])
        && text.chars().all(|c| matches!(c, '\n' | '\t') || !is_escaped(c))
        // Lines of blanks only are where readers, and editors, differ.
        && lines().all(|line| line.is_empty() || !line.trim_matches([' ', '\t']).is_empty())
}

fn literal(out: &mut String, text: &str, indent: usize) {
    let body = text.trim_end_matches('\n');
    out.push_str(match text.len() - body.len() {
        0 => "|-\n",
        1 => "|\n",
        _ => "|+\n",
    });
    for line in body.split('\n') {
        if !line.is_empty() {
            pad(out, indent);
            out.push_str(line);
        }
        out.push('\n');
    }
    out.push_str(text.get(body.len() + 1..).unwrap_or_default());
}

/// Writes a string in quotes: single ones where that saves escapes, as for JSON in an annotation.
fn quoted(out: &mut String, text: &str) {
    if text.contains(['"', '\\']) && !text.contains('\'') && !text.chars().any(is_escaped) {
        out.push('\'');
        out.push_str(text);
        out.push('\'');
        return;
    }
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if is_escaped(c) => escape(out, u32::from(c)),
            c => out.push(c),
        }
    }
    out.push('"');
}

fn escape(out: &mut String, code: u32) {
    // Writing to a string cannot fail.
    let _ = match code {
        0..=0xff => write!(out, "\\x{code:02X}"),
        0x100..=0xffff => write!(out, "\\u{code:04X}"),
        _ => write!(out, "\\U{code:08X}"),
    };
}

/// Characters that YAML forbids, that some version of it takes for a line break, or that nobody can see.
fn is_escaped(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{a0}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
                | '\u{feff}' | '\u{fff9}'..='\u{ffff}' | '\u{e0000}'..
        )
}

fn pad(out: &mut String, indent: usize) {
    out.extend(std::iter::repeat_n(' ', indent));
}
