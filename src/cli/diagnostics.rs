//! Diagnostics for people: the place, the line, and what to do.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

use crate::load::{Diagnostic, Severity};
use crate::policy::{Note, Report};

const ERROR: Style = AnsiColor::Red.on_default().bold();
const WARNING: Style = AnsiColor::Yellow.on_default().bold();
const NOTE: Style = AnsiColor::Cyan.on_default().bold();
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
        let before = (position.column as usize).saturating_sub(1);
        // Tabs move the mark as far as they move the text.
        let indent: String = excerpt
            .chars()
            .take(before)
            .map(|c| if c == '\t' { c } else { ' ' })
            .collect();
        writeln!(out, "{GUTTER}{line} |{GUTTER:#} {}", printable(excerpt))?;
        writeln!(out, "{GUTTER}{pad} |{GUTTER:#} {indent}{style}^{style:#}")?;
    }
    if let Some(hint) = hint {
        writeln!(out, "{pad} {GUTTER}={GUTTER:#} {}", printable(hint))?;
    }
    Ok(())
}

/// Takes control characters, and those that turn the direction of text, out of what repositories and clusters say, so
/// that neither can write to the terminal as it likes.
pub fn printable(text: &str) -> String {
    let hidden = |c: char| {
        c.is_control() && c != '\t'
            || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
    };
    text.chars()
        .map(|c| if hidden(c) { '\u{fffd}' } else { c })
        .collect()
}

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
        12 | port: 06300
           |       ^
           = write 6300
        ");
    }

    #[test]
    fn control_characters_do_not_reach_the_terminal() {
        assert_eq!(printable("a\u{1b}[2Jb\tc\n"), "a\u{fffd}[2Jb\tc\u{fffd}");
        assert_eq!(printable("a\u{202e}b"), "a\u{fffd}b");
    }
}
