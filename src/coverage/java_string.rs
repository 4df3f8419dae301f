//! Strings as the JVM has them.

use std::fmt::{self, Write};

use thiserror::Error;

/// A string of the JVM, borrowed, in modified UTF-8.
///
/// That is UTF-8 of each of its 16-bit units by itself, with two differences to what everybody else means by UTF-8: NUL is `C0 80`, and
/// what is beyond U+FFFF is two surrogates of three bytes each. Java lets surrogates stand alone; they are kept as they are,
/// and displayed as U+FFFD. Each unit has one form, so strings are equal if their bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JavaStr<'a>(&'a [u8]);

/// The first byte of a string that is not what Java writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed {
    /// Counted from the begin of the string.
    pub at: usize,
}

impl<'a> JavaStr<'a> {
    /// Reads modified UTF-8. Other forms of a unit than the shortest are refused: nothing writes them but to deceive.
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        // Nearly all names.
        if bytes.is_ascii() && !bytes.contains(&0) {
            return Ok(Self(bytes));
        }
        let mut rest = bytes;
        while let Some((_, after)) = split_unit(rest).map_err(|()| Malformed {
            at: bytes.len() - rest.len(),
        })? {
            rest = after;
        }
        Ok(Self(bytes))
    }

    /// Takes what is known to be right.
    pub(super) fn known(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// Its modified UTF-8.
    pub fn bytes(self) -> &'a [u8] {
        self.0
    }

    /// Copies it.
    pub fn to_owned(self) -> JavaString {
        JavaString(self.0.into())
    }

    pub(super) fn units(self) -> impl Iterator<Item = u16> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let (unit, after) = split_unit(rest).ok()??;
            rest = after;
            Some(unit)
        })
    }
}

/// Takes the first unit off.
fn split_unit(bytes: &[u8]) -> Result<Option<(u16, &[u8])>, ()> {
    let continued = |byte: u8| match byte {
        0x80..=0xBF => Ok(u16::from(byte & 0x3F)),
        _ => Err(()),
    };
    Ok(Some(match *bytes {
        [] => return Ok(None),
        [a @ 1..=0x7F, ref rest @ ..] => (a.into(), rest),
        [a @ 0xC0..=0xDF, b, ref rest @ ..] => {
            let unit = u16::from(a & 0x1F) << 6 | continued(b)?;
            if unit != 0 && unit < 0x80 {
                return Err(());
            }
            (unit, rest)
        }
        [a @ 0xE0..=0xEF, b, c, ref rest @ ..] => {
            let unit = u16::from(a & 0x0F) << 12 | continued(b)? << 6 | continued(c)?;
            if unit < 0x800 {
                return Err(());
            }
            (unit, rest)
        }
        _ => return Err(()),
    }))
}

impl fmt::Display for JavaStr<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for char in char::decode_utf16(self.units()) {
            f.write_char(char.unwrap_or(char::REPLACEMENT_CHARACTER))?;
        }
        Ok(())
    }
}

/// A string of the JVM of at most 65,535 bytes; see [`JavaStr`].
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct JavaString(Box<[u8]>);

impl JavaString {
    /// The same, borrowed.
    pub fn as_java_str(&self) -> JavaStr<'_> {
        JavaStr(&self.0)
    }

    /// Makes one of 16-bit units, which need not be UTF-16.
    pub fn from_units(units: impl IntoIterator<Item = u16>) -> Result<Self, TooLong> {
        let mut bytes = Vec::new();
        for unit in units {
            let [low, middle, high] = [unit, unit >> 6, unit >> 12].map(|part| (part & 0x3F) as u8);
            match unit {
                1..=0x7F => bytes.push(unit as u8),
                0 | 0x80..=0x7FF => bytes.extend([0xC0 | middle, 0x80 | low]),
                0x800.. => bytes.extend([0xE0 | high, 0x80 | middle, 0x80 | low]),
            }
        }
        match u16::try_from(bytes.len()) {
            Ok(_) => Ok(Self(bytes.into())),
            Err(_) => Err(TooLong),
        }
    }
}

impl TryFrom<&str> for JavaString {
    type Error = TooLong;

    fn try_from(text: &str) -> Result<Self, TooLong> {
        Self::from_units(text.encode_utf16())
    }
}

/// Why a string cannot be written: its length takes more than two bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("more than 65,535 bytes of modified UTF-8")]
pub struct TooLong;

impl fmt::Display for JavaString {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_java_str().fmt(f)
    }
}
