//! The tokens of JSON, with places.

use std::iter::Peekable;
use std::str::Chars;

use super::budget::Stop;
use super::scalar::{self, Reading, Unreadable};
use crate::load::Position;
use crate::load::fault::Fault;

/// What may be wrong where something else ends too early.
pub(super) const NO_COMMA: &str = "JSON has no comma before a closing bracket";

/// A text being read, and where.
pub(super) struct Reader<'a> {
    chars: Peekable<Chars<'a>>,
    pub(super) at: Position,
}

impl<'a> Reader<'a> {
    /// Begins at the start of a text that has `lines_before` lines before it.
    pub(super) fn new(text: &'a str, lines_before: u32) -> Self {
        Self {
            chars: text.chars().peekable(),
            at: Position {
                line: lines_before.saturating_add(1),
                column: 1,
            },
        }
    }

    /// The next character.
    pub(super) fn peek(&mut self) -> Option<char> {
        self.chars.peek().copied()
    }

    /// Reads a string; its opening quote comes next.
    pub(super) fn string(&mut self) -> Result<String, Stop> {
        let start = self.at;
        self.bump();
        let mut text = String::new();
        loop {
            match self.peek() {
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
                Some('\n' | '\r') => {
                    let fault = Fault::syntax(start, "this string is not closed on its line");
                    return Err(Stop(fault.hint("write \\n for a line break in a string")));
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
        let Some(c) = self.peek() else {
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
    pub(super) fn word(&mut self) -> Result<Result<Reading, Unreadable>, Stop> {
        let start = self.at;
        let mut word = String::new();
        while let Some(c) = self.peek()
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
                Ok(Reading::Text(_)) => Err(Unreadable::Rounded),
                reading => reading,
            }),
            "" => {
                let fault = Fault::syntax(start, "expected a value");
                Err(Stop(match self.peek() {
                    Some('\'') => fault.hint("JSON has strings in double quotes only"),
                    Some('}' | ']') => fault.hint(NO_COMMA),
                    _ => fault,
                }))
            }
            _ => Err(Stop(
                Fault::syntax(start, "not a JSON value").hint("quote it if a string is meant"),
            )),
        }
    }

    /// Skips blanks and line breaks.
    pub(super) fn blanks(&mut self) {
        while matches!(self.chars.peek(), Some(' ' | '\t' | '\n' | '\r')) {
            self.bump();
        }
    }

    /// Takes a character.
    pub(super) fn bump(&mut self) -> Option<char> {
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

    /// Ends the reading here, naming what should have come.
    pub(super) fn stop(&mut self, expected: &str) -> Stop {
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
