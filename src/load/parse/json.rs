//! JSON text -> trees, with places, which `serde_json` does not give and duplicate keys, which it drops.
//!
//! YAML's parser is not faithful here: it refuses escapes (`\/`), long keys and tabs that JSON allows.

use super::Parsed;
use super::budget::Stop;
use super::build::Builder;
use super::gather::Gathered;
use super::json_token::{NO_COMMA, Reader};
use super::scalar::Reading;

/// Whether a text is meant as JSON: its first character opens an object or a list.
pub(super) fn looks_like_json(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
        .starts_with(['{', '['])
}

/// Reads the values of a text, one after the other as kubectl takes them.
pub(super) fn read(text: &str, lines_before: u32, mut gathered: Gathered<'_>) -> Vec<Parsed> {
    let mut reader = Reader::new(text, lines_before);
    loop {
        reader.blanks();
        if reader.peek().is_none() {
            return gathered.finish();
        }
        let mut builder = gathered.begin();
        let more = match reader.value(&mut builder) {
            Ok(()) => gathered.end(builder),
            Err(stop) => {
                gathered.stop(builder, stop);
                false
            }
        };
        if !more {
            return gathered.finish();
        }
    }
}

/// An opened object or list.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Object,
    List,
}

impl Reader<'_> {
    /// Reads one value. What is open is kept in a list, not on the stack, so depth costs no recursion.
    fn value(&mut self, builder: &mut Builder<'_>) -> Result<(), Stop> {
        let mut open = Vec::new();
        loop {
            // A value begins here.
            self.blanks();
            let position = self.at;
            match self.peek() {
                Some('{') => {
                    self.bump();
                    builder.start_map(position, None)?;
                    if self.closes('}') {
                        builder.end()?;
                    } else {
                        open.push(Open::Object);
                        self.key(builder)?;
                        continue;
                    }
                }
                Some('[') => {
                    self.bump();
                    builder.start_list(position, None)?;
                    if self.closes(']') {
                        builder.end()?;
                    } else {
                        open.push(Open::List);
                        continue;
                    }
                }
                Some('"') => {
                    let text = self.string()?;
                    builder.scalar(position, None, Ok(Reading::Text(text)))?;
                }
                _ => {
                    let reading = self.word()?;
                    builder.scalar(position, None, reading)?;
                }
            }
            // A value ended; close what it completes.
            loop {
                let Some(innermost) = open.last() else {
                    return Ok(());
                };
                self.blanks();
                match (self.peek(), innermost) {
                    (Some(','), Open::Object) => {
                        self.bump();
                        self.key(builder)?;
                        break;
                    }
                    (Some(','), Open::List) => {
                        self.bump();
                        break;
                    }
                    (Some('}'), Open::Object) | (Some(']'), Open::List) => {
                        self.bump();
                        open.pop();
                        builder.end()?;
                    }
                    (_, Open::Object) => return Err(self.stop("expected `,` or `}`")),
                    (_, Open::List) => return Err(self.stop("expected `,` or `]`")),
                }
            }
        }
    }

    fn key(&mut self, builder: &mut Builder<'_>) -> Result<(), Stop> {
        self.blanks();
        let position = self.at;
        if self.peek() != Some('"') {
            let Stop(fault) = self.stop("expected a key in double quotes");
            return Err(Stop(match self.peek() {
                Some('}') => fault.hint(NO_COMMA),
                _ => fault,
            }));
        }
        let key = self.string()?;
        builder.scalar(position, None, Ok(Reading::Text(key)))?;
        self.blanks();
        if self.peek() != Some(':') {
            return Err(self.stop("expected `:` after the key"));
        }
        self.bump();
        Ok(())
    }

    fn closes(&mut self, end: char) -> bool {
        self.blanks();
        let closes = self.peek() == Some(end);
        if closes {
            self.bump();
        }
        closes
    }
}
