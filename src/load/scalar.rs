//! What a YAML scalar means to kubectl.
//!
//! kubectl reads with go-yaml v2, a mix of YAML 1.1 and 1.2: `yes` and `on` are booleans, `0755` is octal,
//! `1_000` a number, `1:30` and dates are strings. This follows `resolve.go` of go-yaml v2 and the conversion
//! to JSON in sigs.k8s.io/yaml rule by rule.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Number;

use super::NodeKind;

/// A scalar's meaning, with what is needed to use it as a key or to refuse it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Reading {
    Null,
    Bool(bool),
    Int(Number),
    Float(f64),
    Text(String),
}

/// Why a scalar has no JSON value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Unreadable {
    #[error("this integer does not fit into 64 bits and would be rounded")]
    Rounded,
    #[error("infinity and NaN have no JSON value")]
    NotFinite,
    #[error("the value is not what its tag says")]
    WrongTag,
    #[error("the !!binary value is not valid base64")]
    Base64,
    #[error("the !!binary value does not hold UTF-8 text")]
    NotText,
    #[error("null cannot be a key")]
    NullKey,
    #[error("a list or mapping cannot be a key")]
    CompoundKey,
    #[error("this integer is too large for a key")]
    LargeKey,
}

impl Unreadable {
    /// What to do about it.
    pub(super) fn hint(self) -> Option<&'static str> {
        match self {
            Self::Rounded | Self::NotFinite | Self::NullKey | Self::LargeKey => {
                Some("quote it if a string is meant")
            }
            Self::WrongTag | Self::Base64 | Self::NotText | Self::CompoundKey => None,
        }
    }
}

/// Reads a plain scalar without a tag.
pub(super) fn plain(text: &str) -> Result<Reading, Unreadable> {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => return Ok(Reading::Null),
        "y" | "Y" | "yes" | "Yes" | "YES" | "true" | "True" | "TRUE" | "on" | "On" | "ON" => {
            return Ok(Reading::Bool(true));
        }
        "n" | "N" | "no" | "No" | "NO" | "false" | "False" | "FALSE" | "off" | "Off" | "OFF" => {
            return Ok(Reading::Bool(false));
        }
        ".nan" | ".NaN" | ".NAN" => return Ok(Reading::Float(f64::NAN)),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => {
            return Ok(Reading::Float(f64::INFINITY));
        }
        "-.inf" | "-.Inf" | "-.INF" => return Ok(Reading::Float(f64::NEG_INFINITY)),
        _ => {}
    }
    let number = match text.as_bytes().first() {
        // Go's ParseFloat takes underscores between digits here; for the rest go-yaml drops them all.
        Some(b'.') if underscores_part_digits(text) => decimal(&text.replace('_', ""))?,
        Some(b'0'..=b'9' | b'+' | b'-') => {
            let digits = text.replace('_', "");
            match integer(&digits) {
                Some(number) => Some(Reading::Int(number)),
                None => decimal(&digits)?,
            }
        }
        _ => None,
    };
    Ok(number.unwrap_or_else(|| Reading::Text(text.to_owned())))
}

/// Reads a scalar with a tag of YAML's own namespace (`int` for `!!int`), whatever its quotes.
pub(super) fn tagged(tag: &str, text: &str) -> Result<Reading, Unreadable> {
    match tag {
        "binary" => {
            let base64: String = text.chars().filter(|c| !matches!(c, '\r' | '\n')).collect();
            let bytes = STANDARD.decode(base64).map_err(|_| Unreadable::Base64)?;
            let text = String::from_utf8(bytes).map_err(|_| Unreadable::NotText)?;
            Ok(Reading::Text(text))
        }
        "timestamp" if looks_like_date(text) => Ok(Reading::Text(text.to_owned())),
        "bool" | "int" | "float" | "null" | "timestamp" => match (tag, plain(text)?) {
            ("bool", reading @ Reading::Bool(_))
            | ("int" | "float", reading @ Reading::Int(_))
            | ("float", reading @ Reading::Float(_))
            | ("null", reading @ Reading::Null) => Ok(reading),
            _ => Err(Unreadable::WrongTag),
        },
        // `!!str`, and any tag kubectl does not know, make a string of the text.
        _ => Ok(Reading::Text(text.to_owned())),
    }
}

impl Reading {
    /// Makes the JSON value.
    pub(super) fn into_value(self) -> Result<NodeKind, Unreadable> {
        Ok(match self {
            Self::Null => NodeKind::Null,
            Self::Bool(value) => NodeKind::Bool(value),
            Self::Int(number) => NodeKind::Number(number),
            Self::Float(value) => NodeKind::Number(float(value).ok_or(Unreadable::NotFinite)?),
            Self::Text(text) => NodeKind::String(text),
        })
    }

    /// Makes a key, as sigs.k8s.io/yaml makes a string of each type it can find there.
    pub(super) fn into_key(self) -> Result<String, Unreadable> {
        Ok(match self {
            Self::Null => return Err(Unreadable::NullKey),
            Self::Bool(value) => value.to_string(),
            Self::Int(number) if number.as_i64().is_none() => return Err(Unreadable::LargeKey),
            Self::Int(number) => number.to_string(),
            Self::Float(value) => float_key(value),
            Self::Text(text) => text,
        })
    }
}

/// Makes the JSON number Go makes of a float: one without a fraction is an integer there.
pub(super) fn float(value: f64) -> Option<Number> {
    // 2^63 and 2^64 are exact in f64; below them every float without a fraction converts exactly.
    if value.fract() == 0.0
        && (-9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0).contains(&value)
    {
        Some(Number::from(value as i64))
    } else if value.fract() == 0.0 && (0.0..18_446_744_073_709_551_616.0).contains(&value) {
        Some(Number::from(value as u64))
    } else {
        Number::from_f64(value)
    }
}

/// Go's `ParseInt(text, 0, 64)`, then `ParseUint`.
fn integer(text: &str) -> Option<Number> {
    let (negative, signed, unsigned) = match text.as_bytes().first() {
        Some(b'-') => (true, true, text.get(1..)?),
        Some(b'+') => (false, true, text.get(1..)?),
        _ => (false, false, text),
    };
    let (radix, digits) = match unsigned.get(..2) {
        Some("0x" | "0X") => (16, unsigned.get(2..)?),
        Some("0b" | "0B") => (2, unsigned.get(2..)?),
        Some("0o" | "0O") => (8, unsigned.get(2..)?),
        Some(_) if unsigned.starts_with('0') => (8, unsigned.get(1..)?),
        _ => (10, unsigned),
    };
    // Rust's own parser would take a second sign here.
    if !digits.bytes().all(|b| b.is_ascii_alphanumeric()) {
        return None;
    }
    let magnitude = i128::from(u64::from_str_radix(digits, radix).ok()?);
    let value = if negative { -magnitude } else { magnitude };
    match i64::try_from(value) {
        Ok(value) => Some(Number::from(value)),
        Err(_) if signed => None,
        Err(_) => u64::try_from(value).ok().map(Number::from),
    }
}

/// A decimal number in go-yaml's pattern `[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?`.
fn decimal(text: &str) -> Result<Option<Reading>, Unreadable> {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let fits_mantissa = match mantissa.split_once('.') {
        Some(("", fraction)) => digits(fraction),
        Some((whole, fraction)) => digits(whole) && (fraction.is_empty() || digits(fraction)),
        None => digits(mantissa),
    };
    let fits_exponent =
        exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)));
    if !fits_mantissa || !fits_exponent {
        return Ok(None);
    }
    match text.parse::<f64>() {
        // Go reports a range error, and go-yaml goes on to read a string.
        Ok(value) if value.is_infinite() => Ok(None),
        // Digits only: `08`, which is no octal number, or an integer past 64 bits, which kubectl rounds.
        // Floats hold every integer up to 2^53.
        Ok(value)
            if exponent.is_none()
                && !mantissa.contains('.')
                && value.abs() > 9_007_199_254_740_992.0 =>
        {
            Err(Unreadable::Rounded)
        }
        Ok(value) => Ok(Some(Reading::Float(value))),
        Err(_) => Ok(None),
    }
}

fn underscores_part_digits(text: &str) -> bool {
    text.split('_').enumerate().all(|(i, part)| {
        let begins = i == 0 || part.starts_with(|c: char| c.is_ascii_digit());
        let last = i == text.matches('_').count();
        begins && (last || part.ends_with(|c: char| c.is_ascii_digit()))
    })
}

/// `YYYY-M-D…`, the beginning of every timestamp go-yaml knows.
fn looks_like_date(text: &str) -> bool {
    let mut parts = text.splitn(3, '-');
    let mut all_digits = |most: usize| {
        parts
            .next()
            .is_some_and(|p| (1..=most).contains(&p.len()) && p.bytes().all(|b| b.is_ascii_digit()))
    };
    let year = text
        .get(..4)
        .is_some_and(|y| y.bytes().all(|b| b.is_ascii_digit()));
    let front = year && all_digits(4) && all_digits(2);
    front
        && parts
            .next()
            .is_some_and(|day| day.starts_with(|c: char| c.is_ascii_digit()))
}

/// Go's `FormatFloat(value, 'g', -1, 32)`: the shortest digits of a 32-bit float, exponents of two digits.
fn float_key(value: f64) -> String {
    if value.is_nan() {
        return ".nan".to_owned();
    }
    let single = value as f32;
    if single.is_infinite() {
        return if single > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{single:e}");
    let Some((mantissa, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if !(-4..6).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        format!("{mantissa}e{sign}{:02}", exponent.abs())
    } else {
        format!("{single}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn value(reading: Result<Reading, Unreadable>) -> Result<Value, Unreadable> {
        let node = super::super::Node {
            position: super::super::Position { line: 1, column: 1 },
            kind: reading?.into_value()?,
        };
        Ok(node.to_json())
    }

    #[test]
    fn plain_scalars_read_as_in_go_yaml() {
        for text in [
            "y", "Y", "yes", "Yes", "YES", "on", "On", "ON", "true", "True", "TRUE",
        ] {
            assert_eq!(plain(text), Ok(Reading::Bool(true)), "{text}");
        }
        for text in [
            "n", "N", "no", "No", "NO", "off", "Off", "OFF", "false", "False", "FALSE",
        ] {
            assert_eq!(plain(text), Ok(Reading::Bool(false)), "{text}");
        }
        let strings = [
            "oN",
            "yEs",
            "nO",
            "tRUE",
            "1:30",
            "2024-01-01",
            "=",
            "<<",
            "1e400",
            "0x",
            "-",
            "+",
            ".",
            "..",
            "0b2",
            "1.2.3",
            "1e",
            "e5",
            "0xg",
            "._5",
            ".5__0",
            ".5_",
            ".5_e1",
            "- 1",
            "--1",
            "+-1",
            "0x-1",
            "inf",
            "nan",
            "-.nan",
            "1__a",
            "0o9",
            "１",
            "0xFFFFFFFFFFFFFFFFFF",
            "2001-12-14t21:59:43.10-05:00",
            "nULL",
            "1e+",
            "_1",
        ];
        for text in strings {
            assert_eq!(plain(text), Ok(Reading::Text(text.to_owned())), "{text}");
        }
        let numbers = [
            ("0755", json!(493)),
            ("08", json!(8)),
            ("09.5", json!(9.5)),
            ("0o755", json!(493)),
            ("0x1F", json!(31)),
            ("0b11", json!(3)),
            ("-0b11", json!(-3)),
            ("+0755", json!(493)),
            ("-0755", json!(-493)),
            ("1_000", json!(1000)),
            ("1__0_", json!(10)),
            ("1e3", json!(1000)),
            ("1.0", json!(1)),
            ("-0.0", json!(0)),
            ("-0", json!(0)),
            (".5", json!(0.5)),
            (".5_0", json!(0.5)),
            ("+.5", json!(0.5)),
            ("1.", json!(1)),
            ("9007199254740993", json!(9_007_199_254_740_993_u64)),
            ("9123456789012345678", json!(9_123_456_789_012_345_678_u64)),
            ("18446744073709551615", json!(u64::MAX)),
            ("-9223372036854775808", json!(i64::MIN)),
            ("1e19", json!(10_000_000_000_000_000_000_u64)),
            ("1.5e22", json!(1.5e22)),
            ("1_000.5", json!(1000.5)),
            ("00", json!(0)),
            ("20190612073634", json!(20_190_612_073_634_u64)),
        ];
        for (text, expected) in numbers {
            assert_eq!(value(plain(text)), Ok(expected), "{text}");
        }
    }

    #[test]
    fn what_json_cannot_carry_is_refused() {
        for text in [
            "18446744073709551616",
            "-9223372036854775809",
            "+9223372036854775808",
            "0999999999999999999",
        ] {
            assert_eq!(value(plain(text)), Err(Unreadable::Rounded), "{text}");
        }
        for text in [".inf", "-.Inf", "+.INF", ".nan", ".NaN"] {
            assert_eq!(value(plain(text)), Err(Unreadable::NotFinite), "{text}");
        }
    }

    #[test]
    fn tags_are_honoured() {
        let cases = [
            ("str", "on", json!("on")),
            ("str", "", json!("")),
            ("int", "5", json!(5)),
            ("float", "5", json!(5)),
            ("bool", "no", json!(false)),
            ("null", "", json!(null)),
            ("binary", "aGVs\nbG8=", json!("hello")),
            ("timestamp", "2024-01-01", json!("2024-01-01")),
            ("", "5", json!("5")),
        ];
        for (tag, text, expected) in cases {
            assert_eq!(value(tagged(tag, text)), Ok(expected), "!!{tag} {text}");
        }
        for (tag, text) in [
            ("int", "x"),
            ("int", "1.5"),
            ("bool", "5"),
            ("null", "x"),
            ("timestamp", "x"),
            ("timestamp", "1-1-1"),
        ] {
            assert_eq!(
                value(tagged(tag, text)),
                Err(Unreadable::WrongTag),
                "!!{tag} {text}"
            );
        }
        assert_eq!(value(tagged("binary", "a b")), Err(Unreadable::Base64));
        assert_eq!(value(tagged("binary", "/w==")), Err(Unreadable::NotText));
    }

    #[test]
    fn keys_become_the_strings_kubectl_makes() {
        let cases = [
            ("1", "1"),
            ("on", "true"),
            ("n", "false"),
            ("0x10", "16"),
            ("1.5", "1.5"),
            ("1e6", "1e+06"),
            ("1e3", "1000"),
            ("0.1", "0.1"),
            ("123456789.5", "1.2345679e+08"),
            ("1e-5", "1e-05"),
            ("0.0001", "0.0001"),
            (".inf", ".inf"),
            ("-.inf", "-.inf"),
            (".nan", ".nan"),
            ("a", "a"),
            ("1234567.0", "1.234567e+06"),
        ];
        for (text, expected) in cases {
            assert_eq!(
                plain(text).and_then(Reading::into_key),
                Ok(expected.to_owned()),
                "{text}"
            );
        }
        assert_eq!(
            plain("~").and_then(Reading::into_key),
            Err(Unreadable::NullKey)
        );
        assert_eq!(
            plain("18446744073709551615").and_then(Reading::into_key),
            Err(Unreadable::LargeKey)
        );
    }
}
