//! Diagnostics for people: the place, the line, and what to do.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::load::{Diagnostic, Severity, is_invisible};
use crate::policy::{Note, Report};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();
const HELP: Style = AnsiColor::Cyan.on_default().bold();
const GUTTER: Style = AnsiColor::Blue.on_default().bold();

/// Prints diagnostics, and a line that counts the errors.
pub fn print(out: &mut dyn Write, diagnostics: &[Diagnostic]) -> io::Result<()> {
    for diagnostic in diagnostics {
        print_one(out, diagnostic)?;
    }
    Ok(())
}

/// Prints what policies note.
pub fn print_notes(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let Report { verdicts, notes } = report;
    for verdict in verdicts.iter().filter(|it| it.diagnostic().is_none()) {
        let place = verdict.origin.as_ref().unwrap_or(&verdict.place);
        let text = printable(&verdict.sentence());
        writeln!(out, "{NOTE}note{NOTE:#}: {text}")?;
        writeln!(
            out,
            " {GUTTER}-->{GUTTER:#} {}",
            printable(&place.to_string())
        )?;
    }
    for note in notes {
        let Note {
            policy,
            object,
            key,
            value,
        } = note;
        let text = format!("policy {policy} notes of {object}: {key}={value}");
        writeln!(out, "{NOTE}note{NOTE:#}: {}", printable(&text))?;
    }
    Ok(())
}

fn print_one(out: &mut dyn Write, diagnostic: &Diagnostic) -> io::Result<()> {
    let Diagnostic {
        severity,
        file,
        position,
        message,
        excerpt,
        hint,
    } = diagnostic;
    let (style, word) = match severity {
        Severity::Error => (ERROR, "error"),
        Severity::Warning => (WARNING, "warning"),
    };
    writeln!(out, "{style}{word}{style:#}: {}", printable(message))?;
    let line = position.map(|p| p.line.to_string()).unwrap_or_default();
    let pad = " ".repeat(line.len());
    match position {
        Some(p) => writeln!(
            out,
            "{pad}{GUTTER}-->{GUTTER:#} {}:{}:{}",
            printable(file),
            p.line,
            p.column
        )?,
        None => writeln!(out, "{pad}{GUTTER}-->{GUTTER:#} {}", printable(file))?,
    }
    if let (Some(excerpt), Some(position)) = (excerpt, position) {
        let (indent, mark) = mark(excerpt, position.column);
        writeln!(out, "{GUTTER}{pad} |{GUTTER:#}")?;
        writeln!(out, "{GUTTER}{line} |{GUTTER:#} {}", printable(excerpt))?;
        writeln!(
            out,
            "{GUTTER}{pad} |{GUTTER:#} {indent}{style}{mark}{style:#}"
        )?;
    }
    if let Some(hint) = hint {
        writeln!(
            out,
            "{pad} {GUTTER}={GUTTER:#} {HELP}help{HELP:#}: {}",
            printable(hint)
        )?;
    }
    writeln!(out)
}

/// What stands before the mark and the mark itself, for a column from 1: as wide as the word there.
fn mark(excerpt: &str, column: u32) -> (String, String) {
    let before = usize::try_from(column)
        .unwrap_or(usize::MAX)
        .saturating_sub(1);
    let indent = excerpt.chars().take(before);
    // Tabs move the mark as far as they move the text.
    let blank = |c| {
        if c == '\t' {
            "\t".to_owned()
        } else {
            " ".repeat(width(c))
        }
    };
    let rest = excerpt.chars().skip(before);
    let marks: usize = word(rest).map(width).sum();
    (indent.map(blank).collect(), "^".repeat(marks.max(1)))
}

/// How many columns a terminal gives a character, as far as that is the same everywhere.
fn width(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f | 0xfeff => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3ffff => 2,
        _ => 1,
    }
}

/// The key, value or sign at the beginning of a text.
fn word(text: impl Iterator<Item = char> + Clone) -> impl Iterator<Item = char> {
    let mut chars = text.clone();
    let length = match chars.next() {
        Some(quote @ ('"' | '\'')) => chars.position(|c| c == quote).map_or(1, |at| at + 2),
        Some('{' | '}' | '[' | ']' | ',' | ':' | '-' | '?' | '|' | '>') | None => 1,
        Some(_) => {
            let ends = |c: char| c.is_whitespace() || matches!(c, ',' | ':' | ']' | '}' | '…');
            let rest = chars.clone().position(ends);
            rest.map_or_else(|| chars.count() + 1, |at| at + 1)
        }
    };
    text.take(length)
}

/// Takes control characters, and those that nobody sees or that turn the direction of text, out of what repositories and
/// clusters say, so that neither can write to the terminal as it likes.
pub fn printable(text: &str) -> String {
    // Emoji are made with these.
    let joins = |c: char| matches!(c, '\u{200d}' | '\u{fe00}'..='\u{fe0f}');
    let hidden = |c: char| (c.is_control() && c != '\t') || (is_invisible(c) && !joins(c));
    text.chars()
        .map(|c| if hidden(c) { '\u{fffd}' } else { c })
        .collect()
}

#[cfg(test)]
#[path = "diagnostics_tests.rs"]
mod golden;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::load::{Origin, Position};

    #[test]
    fn the_mark_stands_below_the_place() {
        let origin = Origin {
            file: "shop/pet.yaml".into(),
            position: Position {
                line: 12,
                column: 7,
            },
        };
        let mut diagnostic =
            Diagnostic::error_at(&origin, "the port is written in octal").with_hint("write 6300");
        diagnostic.excerpt = Some("port: 06300".into());
        let mut out = Vec::new();
        print(&mut out, &[diagnostic]).unwrap();
        let plain = anstream::adapter::strip_bytes(&out).into_vec();
        insta::assert_snapshot!(String::from_utf8(plain).unwrap(), @r"
        error: the port is written in octal
          --> shop/pet.yaml:12:7
           |
        12 | port: 06300
           |       ^^^^^
           = help: write 6300
        ");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\tc\n"), "a\u{fffd}[2Jb\tc\u{fffd}");
        assert_eq!(printable("a\u{202e}b"), "a\u{fffd}b");
        assert_eq!(printable("la\u{200b}test"), "la\u{fffd}test");
        assert_eq!(printable("❤\u{fe0f}"), "❤\u{fe0f}");
    }
}
