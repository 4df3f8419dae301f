//! Messages as protobuf writes them.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::Value;

/// A message: parts with numbers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Message<'a> {
    bytes: &'a [u8],
}

/// What is under a number.
#[derive(Clone, Copy, Debug)]
pub enum Part<'a> {
    /// Whole numbers and truth.
    Integer(i64),
    /// A number of eight bytes.
    Fixed(u64),
    /// Text, bytes, or a message.
    Bytes(&'a [u8]),
}

const BROKEN: &str = "the body ends amid a protobuf message";
const MISTYPED: &str = "a field of the body is of another type than its kind has";

impl<'a> Message<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Self { bytes }
    }

    /// All parts, in their order.
    pub fn parts(self) -> impl Iterator<Item = Result<(u32, Part<'a>), String>> + use<'a> {
        let mut rest = self.bytes;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let part = next(&mut rest).ok_or_else(|| BROKEN.to_owned());
            if part.is_err() {
                rest = &[];
            }
            Some(part)
        })
    }

    /// The last part of a number counts.
    fn part(self, wanted: u32) -> Result<Option<Part<'a>>, String> {
        let mut found = None;
        for part in self.parts() {
            let (number, part) = part?;
            if number == wanted {
                found = Some(part);
            }
        }
        Ok(found)
    }

    pub fn message(self, number: u32) -> Result<Option<Self>, String> {
        self.part(number)?.map(|part| part.message()).transpose()
    }

    pub fn bytes(self, number: u32) -> Result<&'a [u8], String> {
        self.part(number)?.map_or(Ok(&[]), |part| part.bytes())
    }

    pub fn text(self, number: u32) -> Result<String, String> {
        self.part(number)?
            .map_or(Ok(String::new()), |part| part.text())
    }

    pub fn integer(self, number: u32) -> Result<i64, String> {
        self.part(number)?.map_or(Ok(0), |part| part.integer())
    }
}

impl<'a> Part<'a> {
    pub fn is_zero(self) -> bool {
        match self {
            Self::Integer(number) => number == 0,
            Self::Fixed(number) => number == 0,
            Self::Bytes(bytes) => bytes.is_empty(),
        }
    }

    pub fn bytes(self) -> Result<&'a [u8], String> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(MISTYPED.to_owned()),
        }
    }

    pub fn message(self) -> Result<Message<'a>, String> {
        self.bytes().map(Message::of)
    }

    pub fn text(self) -> Result<String, String> {
        let text = std::str::from_utf8(self.bytes()?).map_err(|error| error.to_string())?;
        Ok(text.to_owned())
    }

    pub fn integer(self) -> Result<i64, String> {
        match self {
            Self::Integer(number) => Ok(number),
            _ => Err(MISTYPED.to_owned()),
        }
    }

    pub fn number(self) -> Result<f64, String> {
        match self {
            Self::Fixed(bits) => Ok(f64::from_bits(bits)),
            _ => Err(MISTYPED.to_owned()),
        }
    }
}

fn next<'a>(rest: &mut &'a [u8]) -> Option<(u32, Part<'a>)> {
    let tag = varint(rest)?;
    let number = u32::try_from(tag >> 3).ok()?;
    let part = match tag & 7 {
        0 => Part::Integer(varint(rest)?.cast_signed()),
        1 => {
            let (bytes, after) = rest.split_first_chunk()?;
            *rest = after;
            Part::Fixed(u64::from_le_bytes(*bytes))
        }
        2 => {
            let length = usize::try_from(varint(rest)?).ok()?;
            let (bytes, after) = rest.split_at_checked(length)?;
            *rest = after;
            Part::Bytes(bytes)
        }
        _ => return None,
    };
    Some((number, part))
}

fn varint(rest: &mut &[u8]) -> Option<u64> {
    let mut number = 0;
    for shift in (0..64).step_by(7) {
        let (byte, after) = rest.split_first()?;
        *rest = after;
        number |= u64::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Some(number);
        }
    }
    None
}

/// Bytes as JSON has them.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// A time as JSON has it; none is null.
pub fn time(seconds: i64, nanos: i64, is_micro: bool) -> Value {
    let nanos = i32::try_from(nanos).unwrap_or_default();
    match (seconds, Timestamp::new(seconds, nanos)) {
        (0, _) | (_, Err(_)) => Value::Null,
        (_, Ok(time)) if is_micro => time.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string().into(),
        (_, Ok(time)) => time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string().into(),
    }
}
