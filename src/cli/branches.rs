//! The branches of a tree, drawn with lines.

use std::io::{self, Write};

use anstyle::Style;

use super::diagnostics::printable;
use super::steps::DIM;
use super::table::{WIDTH, wrap};

/// However deep a branch is, so much of a line is left for text.
const NARROWEST: usize = 40;

/// What stands at the end of a branch.
pub struct Item {
    /// What it is.
    pub head: String,
    /// How its state looks.
    pub style: Style,
    /// How it is, and why.
    pub state: String,
    /// What else there is to say.
    pub aside: Option<String>,
}

/// Draws items, each at its depth.
pub struct Branches<'a> {
    out: &'a mut dyn Write,
    /// The lines that run past, for all branches that are still to come.
    trunk: String,
}

impl<'a> Branches<'a> {
    /// Begins at the root.
    pub fn new(out: &'a mut dyn Write) -> Self {
        Self {
            out,
            trunk: String::new(),
        }
    }

    /// Draws an item: whether it is the last of its branch, and whether others come below it.
    pub fn print(&mut self, item: &Item, last: bool, parent: bool) -> io::Result<()> {
        let Item {
            head,
            style,
            state,
            aside,
        } = item;
        let trunk = &self.trunk;
        let fork = if last { "└─ " } else { "├─ " };
        let head = printable(head);
        let used = trunk.chars().count() + 3 + head.chars().count() + 2;
        let mut lines = wrap(state, WIDTH.saturating_sub(used).max(NARROWEST)).into_iter();
        let first = lines.next().unwrap_or_default();
        write!(
            self.out,
            "{DIM}{trunk}{fork}{DIM:#}{head}  {style}{first}{style:#}"
        )?;
        if let Some(aside) = aside {
            write!(self.out, "  {DIM}{}{DIM:#}", printable(aside))?;
        }
        writeln!(self.out)?;
        let past = if last { "   " } else { "│  " };
        let down = if parent { "│  " } else { "   " };
        for line in lines {
            writeln!(
                self.out,
                "{DIM}{trunk}{past}{down}{DIM:#}   {style}{line}{style:#}"
            )?;
        }
        Ok(())
    }

    /// Draws what comes below an item.
    pub fn below(
        &mut self,
        last: bool,
        draw: impl FnOnce(&mut Self) -> io::Result<()>,
    ) -> io::Result<()> {
        let length = self.trunk.len();
        self.trunk += if last { "   " } else { "│  " };
        draw(self)?;
        self.trunk.truncate(length);
        Ok(())
    }
}
