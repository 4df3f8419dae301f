//! Tables with a note below a row, and text that is broken into lines.

use std::io::{self, Write};

use anstyle::Style;

use super::diagnostics::printable;
use super::steps::{BAD, DIM};

/// As wide as the help, and as most terminals.
pub const WIDTH: usize = 100;

const GAP: usize = 3;
const INDENT: usize = 4;

/// A table whose columns are as wide as what is in them.
pub struct Table<const N: usize> {
    head: [&'static str; N],
    rows: Vec<Row<N>>,
}

/// A row: its cells, and what is to be said below them.
pub struct Row<const N: usize> {
    /// Texts and how they look.
    pub cells: [(String, Style); N],
    /// Why something is not as it should be.
    pub note: Option<String>,
}

impl<const N: usize> Table<N> {
    /// Makes a table; cells are made printable.
    pub fn new(head: [&'static str; N], rows: impl Iterator<Item = Row<N>>) -> Self {
        let printable = |row: Row<N>| Row {
            cells: row.cells.map(|(text, style)| (printable(&text), style)),
            ..row
        };
        Self {
            head,
            rows: rows.map(printable).collect(),
        }
    }

    /// Prints it, without any line when it has no row.
    pub fn print(&self, out: &mut dyn Write) -> io::Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut widths = self.head.map(str::len);
        for row in &self.rows {
            for (width, (text, _)) in widths.iter_mut().zip(&row.cells) {
                *width = text.chars().count().max(*width);
            }
        }
        let head = self.head.map(|title| (title.to_owned(), DIM));
        print_cells(out, &head, &widths)?;
        for row in &self.rows {
            print_cells(out, &row.cells, &widths)?;
            for line in row.note.iter().flat_map(|note| wrap(note, WIDTH - INDENT)) {
                writeln!(out, "{:INDENT$}{BAD}{line}{BAD:#}", "")?;
            }
        }
        Ok(())
    }
}

/// Nothing stands behind the last text of a line.
fn print_cells<const N: usize>(
    out: &mut dyn Write,
    cells: &[(String, Style); N],
    widths: &[usize; N],
) -> io::Result<()> {
    let mut gap = 0;
    for ((text, style), width) in cells.iter().zip(widths) {
        write!(out, "{:gap$}{style}{text}{style:#}", "")?;
        gap = width - text.chars().count() + GAP;
    }
    writeln!(out)
}

/// Breaks a text between words into printable lines of at most `width` characters; a longer word stays whole, and so does
/// a line that is indented: it is to be copied.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut begin = true;
    for part in text.split('\n') {
        if part.starts_with("  ") {
            lines.push(printable(part));
            begin = true;
            continue;
        }
        for word in part.split_whitespace().map(printable) {
            match lines.last_mut().filter(|_| !begin) {
                Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                    line.push(' ');
                    line.push_str(&word);
                }
                _ => lines.push(word),
            }
            begin = false;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::steps::PLAIN;

    #[test]
    fn columns_are_aligned_and_notes_stand_below() {
        let row = |name: &str, note: Option<&str>| Row {
            cells: [(name.into(), PLAIN), ("1\u{1b}".into(), BAD)],
            note: note.map(str::to_owned),
        };
        let rows = [
            row("a", Some("it is\n\u{1b}[2J broken")),
            row("longer-name", None),
        ];
        let mut out = Vec::new();
        Table::new(["NAME", "COUNT"], rows.into_iter())
            .print(&mut out)
            .unwrap();
        let plain = anstream::adapter::strip_bytes(&out).into_vec();
        insta::assert_snapshot!(String::from_utf8(plain).unwrap(), @r"
        NAME          COUNT
        a             1�
            it is �[2J broken
        longer-name   1�
        ");
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(
            wrap("one two  three\nfour", 9),
            ["one two", "three", "four"]
        );
        assert_eq!(wrap("averylongword and", 5), ["averylongword", "and"]);
        assert_eq!(wrap(" \n", 5), [""; 0]);
        assert_eq!(
            wrap("to do it:\n  run this very line\nand then", 9),
            ["to do it:", "  run this very line", "and then"]
        );
    }
}
