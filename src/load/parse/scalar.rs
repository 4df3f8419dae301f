//! What a YAML scalar means to kubectl.
//!
//! kubectl reads with go-yaml v2, a mix of YAML 1.1 and 1.2: `yes` and `on` are booleans, `0755` is octal,
//! `1_000` a number, `1:30` and dates are strings. This follows `resolve.go` of go-yaml v2 and the conversion
//! to JSON in sigs.k8s.io/yaml rule by rule.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Number;

use super::number::{
    decimal, float, float_key, integer, is_exact, looks_like_date, underscores_part_digits,
};
use crate::load::NodeKind;

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
    #[error("this number does not fit into 64 bits and would be rounded")]
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
    #[error("an alias to a number cannot be a key")]
    AliasedNumber,
}

impl Unreadable {
    /// What to do about it.
    pub(super) fn hint(self) -> Option<&'static str> {
        match self {
            Self::Rounded | Self::NotFinite | Self::NullKey => {
                Some("quote it if a string is meant")
            }
            Self::CompoundKey => Some(
                "quote a value that begins with `{` or `[`; what a template makes must be committed instead of it",
            ),
            Self::AliasedNumber => Some("write the key itself"),
            Self::WrongTag => Some("take the tag off, or write a value of its type"),
            Self::Base64 => Some("take the tag off if the text is meant as it stands"),
            Self::NotText => Some("keep bytes in `binaryData`, as base64 without a tag"),
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
                // kubectl and the API server make a float of what 63 bits do not hold.
                Some(number) if number.as_i64().is_none() => return Err(Unreadable::Rounded),
                Some(number) => Some(Reading::Int(number)),
                None => decimal(&digits)?,
            }
        }
        _ => None,
    };
    Ok(number.unwrap_or_else(|| Reading::Text(text.to_owned())))
}

/// Whether a plain scalar is the string it looks like.
pub(in crate::load) fn is_text(text: &str) -> bool {
    matches!(plain(text), Ok(Reading::Text(_)))
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
        "float" => match plain(text)? {
            // kubectl makes a float of it.
            Reading::Int(number) if !is_exact(&number) => Err(Unreadable::Rounded),
            reading @ (Reading::Int(_) | Reading::Float(_)) => Ok(reading),
            _ => Err(Unreadable::WrongTag),
        },
        "bool" | "int" | "null" | "timestamp" => match (tag, plain(text)?) {
            ("bool", reading @ Reading::Bool(_))
            | ("int", reading @ Reading::Int(_))
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
            Self::Int(number) => number.to_string(),
            Self::Float(value) => float_key(value),
            Self::Text(text) => text,
        })
    }
}
