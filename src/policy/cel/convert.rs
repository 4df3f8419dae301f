//! Conversions that the library does otherwise than the API server.

use kube_cel::cel::Value;

use super::fault::Fault;
use super::value::string;

/// Makes a text of a value, if it is one of those for which the library would make another.
pub fn to_text(value: &Value) -> Option<Value> {
    let text = match value {
        Value::Bool(it) => it.to_string(),
        Value::Float(it) => double(*it),
        // Seconds, as `google.protobuf.Duration` is written.
        Value::Duration(it) => {
            let seconds = it.num_seconds() as f64 + f64::from(it.subsec_nanos()) / 1e9;
            format!("{seconds}s")
        }
        Value::Timestamp(it) => {
            let text = it.to_rfc3339();
            match text.strip_suffix("+00:00") {
                Some(time) => format!("{time}Z"),
                None => text,
            }
        }
        _ => return None,
    };
    Some(string(text))
}

/// A double as Go writes it: with an exponent where it is very large or very small.
fn double(value: f64) -> String {
    let exponent = value.abs().log10();
    if !value.is_finite() || value == 0.0 || (-4.0..21.0).contains(&exponent) {
        return value.to_string();
    }
    let text = format!("{value:e}");
    let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    match exponent.strip_prefix('-') {
        Some(exponent) => format!("{digits}e-{exponent:0>2}"),
        None => format!("{digits}e+{exponent:0>2}"),
    }
}

/// Checks what the library reads too kindly: blanks around a text, and a prefix with zeros before it.
///
/// # Errors
/// When the API server would not read it.
pub fn strictly(name: &str, text: &str) -> Result<(), Fault> {
    let prefix = text.rsplit_once('/').map_or("", |(_, prefix)| prefix);
    let is_padded =
        name.to_ascii_lowercase().ends_with("cidr") && prefix.len() > 1 && prefix.starts_with('0');
    if text.trim() != text || is_padded {
        return Err(Fault::error(format!("{name}(): it is not written so")));
    }
    Ok(())
}
