//! What the demo prints.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style};

/// Tells the story on stdout, and counts what was seen to hold.
#[derive(Debug, Default)]
pub struct Narrator {
    chapters: usize,
    seen: usize,
}

const STRONG: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();
const GOOD: Style = AnsiColor::Green.on_default();

impl Narrator {
    /// Begins a chapter.
    pub fn chapter(&mut self, title: &str, text: &str) -> io::Result<()> {
        self.chapters += 1;
        let number = self.chapters;
        print(&format!("\n{STRONG}{number}. {title}{STRONG:#}\n{text}"))
    }

    /// Goes on in plain words.
    pub fn tell(&self, text: &str) -> io::Result<()> {
        print(text)
    }

    /// Says what is done, as one would type it.
    pub fn command(&self, words: &str) -> io::Result<()> {
        print(&format!("\n{STRONG}$ {words}{STRONG:#}"))
    }

    /// Shows what something printed.
    pub fn output<'a>(&self, lines: impl IntoIterator<Item = &'a str>) -> io::Result<()> {
        for line in lines {
            print(&format!("  {line}"))?;
        }
        Ok(())
    }

    /// Says what was seen to hold.
    pub fn holds(&mut self, what: &str) -> io::Result<()> {
        self.seen += 1;
        print(&format!("  {QUIET}✓ {what}{QUIET:#}"))
    }

    /// Ends the story.
    pub fn end(&self, seconds: f32) -> io::Result<()> {
        let seen = self.seen;
        print(&format!(
            "\n{GOOD}{seen} things were checked on the way, in {seconds:.1} s; the demo is over.{GOOD:#}"
        ))
    }
}

/// Says something about the stage; not a part of the story.
pub fn print(text: &str) -> io::Result<()> {
    writeln!(anstream::stdout().lock(), "{text}")
}
