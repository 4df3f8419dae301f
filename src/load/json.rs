//! JSON text -> trees, with places, which `serde_json` does not give and duplicate keys, which it drops.
//!
//! YAML's parser is not faithful here: it refuses escapes (`\/`), long keys and tabs that JSON allows.

use std::iter::Peekable;
use std::str::Chars;

use super::build::{Builder, Stop};
use super::fault::Fault;
use super::scalar::{self, Reading, Unreadable};
use super::yaml::Parsed;
use super::{Limits, Position};

/// Whether a text is meant as JSON: its first character opens an object or a list.
pub(super) fn looks_like_json(text: &str) -> bool {
    text.trim_start_matches([' ', '\t', '\n', '\r'])
        .starts_with(['{', '['])
}

/// Reads the values of a text, one after the other as kubectl takes them.
pub(super) fn read(text: &str, lines_before: u32, limits: &Limits) -> Vec<Parsed> {
    let mut reader = Reader {
        chars: text.chars().peekable(),
        at: Position {
            line: lines_before.saturating_add(1),
            column: 1,
        },
    };
    let mut documents = Vec::new();
    loop {
        reader.blanks();
        if reader.chars.peek().is_none() {
            return documents;
        }
        let mut builder = Builder::new(limits);
        let result = reader.value(&mut builder);
        let (root, mut faults) = builder.finish();
        match result {
            Ok(()) => documents.push(Parsed { root, faults }),
            Err(Stop(fault)) => {
                faults.push(fault);
                documents.push(Parsed { root: None, faults });
                return documents;
            }
        }
    }
}

/// An opened object or list.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Object,
    List,
}

struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    at: Position,
}

impl Reader<'_> {
    /// Reads one value. What is open is kept in a list, not on the stack, so depth costs no recursion.
    fn value(&mut self, builder: &mut Builder<'_>) -> Result<(), Stop> {
        let mut open = Vec::new();
        loop {
            // A value begins here.
            self.blanks();
            let position = self.at;
            match self.chars.peek() {
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
                match (self.chars.peek(), innermost) {
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
        if self.chars.peek() != Some(&'"') {
            return Err(self.stop("expected a key in double quotes"));
        }
        let key = self.string()?;
        builder.scalar(position, None, Ok(Reading::Text(key)))?;
        self.blanks();
        if self.chars.peek() != Some(&':') {
            return Err(self.stop("expected `:` after the key"));
        }
        self.bump();
        Ok(())
    }

    fn string(&mut self) -> Result<String, Stop> {
        let start = self.at;
        self.bump();
        let mut text = String::new();
        loop {
            match self.chars.peek().copied() {
                None => {
                    return Err(Stop(Fault::syntax(start, "this string is not closed")));
                }
                Some('"') => {
                    self.bump();
                    return Ok(text);
                }
                Some('\\') => {
                    let escape = self.at;
                    self.bump();
                    text.push(self.escape(escape)?);
                }
                Some(c) if c < ' ' => {
                    return Err(
                        self.stop("a control character must be written as an escape in JSON")
                    );
                }
                Some(c) => {
                    self.bump();
                    text.push(c);
                }
            }
        }
    }

    fn escape(&mut self, start: Position) -> Result<char, Stop> {
        let wrong = |message: &str| Stop(Fault::syntax(start, message));
        let Some(c) = self.chars.peek().copied() else {
            return Err(wrong("this string is not closed"));
        };
        self.bump();
        Ok(match c {
            '"' | '\\' | '/' => c,
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'u' => {
                let bad = || wrong("`\\u` takes four hexadecimal digits");
                let high = self.hex().ok_or_else(bad)?;
                if let Some(c) = char::from_u32(high) {
                    return Ok(c);
                }
                // Half of a surrogate pair: Go would put U+FFFD in its place.
                let lone = || wrong("half of a UTF-16 surrogate pair");
                let low = match (self.bump(), self.bump()) {
                    (Some('\\'), Some('u')) => self.hex().ok_or_else(bad)?,
                    _ => return Err(lone()),
                };
                let units = [high, low].map(|unit| u16::try_from(unit).unwrap_or_default());
                match char::decode_utf16(units).next() {
                    Some(Ok(c)) => c,
                    _ => return Err(lone()),
                }
            }
            _ => return Err(wrong("JSON has no such escape")),
        })
    }

    fn hex(&mut self) -> Option<u32> {
        let mut value = 0;
        for _ in 0..4 {
            value = value * 16 + self.bump()?.to_digit(16)?;
        }
        Some(value)
    }

    /// Reads `true`, `false`, `null` or a number.
    fn word(&mut self) -> Result<Result<Reading, Unreadable>, Stop> {
        let start = self.at;
        let mut word = String::new();
        while let Some(c) = self.chars.peek().copied()
            && (c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
        {
            self.bump();
            word.push(c);
        }
        match word.as_str() {
            "true" => Ok(Ok(Reading::Bool(true))),
            "false" => Ok(Ok(Reading::Bool(false))),
            "null" => Ok(Ok(Reading::Null)),
            _ if is_number(&word) => Ok(match scalar::plain(&word) {
                // A number past the range of f64: YAML makes a string of it, JSON has no way out.
                Ok(Reading::Text(_)) => Err(Unreadable::NotFinite),
                reading => reading,
            }),
            "" => Err(Stop(Fault::syntax(start, "expected a value"))),
            _ => Err(Stop(
                Fault::syntax(start, "not a JSON value").hint("quote it if a string is meant"),
            )),
        }
    }

    fn closes(&mut self, end: char) -> bool {
        self.blanks();
        let closes = self.chars.peek() == Some(&end);
        if closes {
            self.bump();
        }
        closes
    }

    fn blanks(&mut self) {
        while matches!(self.chars.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.bump();
        }
    }

    fn bump(&mut self) -> Option<char> {
        let c = self.chars.next()?;
        let breaks = c == '\n' || (c == '\r' && self.chars.peek() != Some(&'\n'));
        self.at = if breaks {
            Position {
                line: self.at.line.saturating_add(1),
                column: 1,
            }
        } else {
            Position {
                column: self.at.column.saturating_add(1),
                ..self.at
            }
        };
        Some(c)
    }

    fn stop(&mut self, expected: &str) -> Stop {
        let end = if self.chars.peek().is_none() {
            ", found the end of the text"
        } else {
            ""
        };
        Stop(Fault::syntax(self.at, format!("{expected}{end}")))
    }
}

/// JSON's own, narrower pattern: `-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?`.
fn is_number(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|e| digits(e.strip_prefix(['+', '-']).unwrap_or(e)))
}
