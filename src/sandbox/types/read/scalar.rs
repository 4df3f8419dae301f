//! Values without parts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::Value;

use super::quantity;
use crate::merge::Scalar;

/// Why a scalar cannot be read.
#[derive(Debug)]
pub enum Failure {
    /// It is of another type.
    Type {
        /// What was given.
        given: Value,
        /// Name of the type in Go.
        wanted: String,
    },
    /// Whole message on what is in it.
    Content(String),
}

/// Reads a scalar, and brings it into the form it is kept in; `go` is what Go calls its type.
pub fn read(scalar: Scalar, go: &str, value: &mut Value) -> Result<(), Failure> {
    let mismatch = |value: &Value| Failure::Type {
        given: value.clone(),
        wanted: go.to_owned(),
    };
    match (scalar, &*value) {
        (Scalar::String, Value::String(_))
        | (Scalar::Boolean, Value::Bool(_))
        | (Scalar::Number, Value::Number(_))
        | (Scalar::IntOrString, Value::String(_)) => Ok(()),
        (Scalar::Integer, Value::Number(number)) => match number.as_i64() {
            Some(number) if go != "int32" || i32::try_from(number).is_ok() => Ok(()),
            _ => Err(mismatch(value)),
        },
        (Scalar::IntOrString, Value::Number(number)) => match number.as_i64().map(i32::try_from) {
            Some(Ok(_)) => Ok(()),
            _ => Err(Failure::Content(format!(
                "json: cannot unmarshal number {number} into Go value of type int32"
            ))),
        },
        (Scalar::Quantity, Value::String(_) | Value::Number(_)) => {
            let text = match &*value {
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            *value = quantity::canonical(&text)
                .map_err(|why| Failure::Content(why.to_owned()))?
                .into();
            Ok(())
        }
        (Scalar::Time, Value::String(text)) => {
            *value = time(text, go == "v1.MicroTime")?;
            Ok(())
        }
        (Scalar::Bytes, Value::String(text)) => {
            *value = bytes(text)?.into();
            Ok(())
        }
        _ => Err(mismatch(value)),
    }
}

/// In UTC, of seconds or microseconds.
fn time(text: &str, micro: bool) -> Result<Value, Failure> {
    if text.is_empty() && !micro {
        return Ok(Value::Null);
    }
    let refused = |wrong: &str, wanted: &str| {
        let layout = match micro {
            true => "2006-01-02T15:04:05.000000Z07:00",
            false => "2006-01-02T15:04:05Z07:00",
        };
        Failure::Content(format!(
            "parsing time {text:?} as {layout:?}: cannot parse {wrong:?} as {wanted:?}"
        ))
    };
    let time: Timestamp = text.parse().map_err(|_| refused(text, "2006"))?;
    // Go takes microseconds for what they are only when all six digits are there.
    let part = text.split_once('.').map_or("", |(_, part)| part);
    let digits = part.bytes().take_while(u8::is_ascii_digit).count();
    if micro && digits != 6 {
        return Err(refused(part, ".000000"));
    }
    let form = match micro {
        true => "%Y-%m-%dT%H:%M:%S.%6fZ",
        false => "%Y-%m-%dT%H:%M:%SZ",
    };
    Ok(time.strftime(form).to_string().into())
}

fn bytes(text: &str) -> Result<String, Failure> {
    let plain: String = text
        .chars()
        .filter(|it| !matches!(it, '\r' | '\n'))
        .collect();
    match STANDARD.decode(&plain) {
        Ok(bytes) => Ok(STANDARD.encode(bytes)),
        Err(_) => {
            let is_good = |it: char| it.is_ascii_alphanumeric() || matches!(it, '+' | '/');
            let at = plain.find(|it| !is_good(it)).unwrap_or(plain.len());
            Err(Failure::Content(format!(
                "illegal base64 data at input byte {at}"
            )))
        }
    }
}
