//! Numbers in text, as Go and go-yaml read them.

use serde_json::Number;

use super::scalar::{Reading, Unreadable};

/// Makes the JSON number Go makes of a float: one without a fraction is an integer there, of the fewest digits that tell
/// it from other floats, and zeros.
pub(super) fn float(value: f64) -> Option<Number> {
    if value.fract() == 0.0 && value.abs() < 18_446_744_073_709_551_616.0 {
        // `-0` has no place among integers.
        let text = (value + 0.0).to_string();
        let integer = text.parse::<i64>().map(Number::from);
        let integer = integer.or_else(|_| text.parse::<u64>().map(Number::from));
        if let Ok(integer) = integer {
            return Some(integer);
        }
    }
    Number::from_f64(value)
}

/// Go's `ParseInt(text, 0, 64)`, then `ParseUint`.
pub(super) fn integer(text: &str) -> Option<Number> {
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
pub(super) fn decimal(text: &str) -> Result<Option<Reading>, Unreadable> {
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
        // kubectl rounds without a word: integers past 64 bits (`08` is none and well), fractions of many digits.
        Ok(value) => {
            // As it will be printed.
            let kept = Number::from_f64(value.abs()).map(|kept| kept.to_string());
            match kept.as_deref().map(significant) {
                Some(kept) if kept == significant(unsigned) => Ok(Some(Reading::Float(value))),
                _ => Err(Unreadable::Rounded),
            }
        }
        Err(_) => Ok(None),
    }
}

/// A decimal number as the digits after `0.` and the power of ten, so that two spellings of one number are the same.
fn significant(text: &str) -> (String, i64) {
    let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let exponent = exponent.parse().unwrap_or(i64::MAX);
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = format!("{whole}{fraction}");
    let leading = digits.len() - digits.trim_start_matches('0').len();
    let digits = digits.trim_matches('0');
    if digits.is_empty() {
        return (String::new(), 0);
    }
    let point = i64::try_from(whole.len()).unwrap_or(i64::MAX);
    let leading = i64::try_from(leading).unwrap_or(i64::MAX);
    let power = exponent.saturating_add(point).saturating_sub(leading);
    (digits.to_owned(), power)
}

/// Whether a float holds an integer with all its digits.
pub(super) fn is_exact(number: &Number) -> bool {
    let exact = |n: i64| n.unsigned_abs().leading_zeros() + n.trailing_zeros() >= 64 - 53;
    number.as_i64().is_some_and(exact)
}

pub(super) fn underscores_part_digits(text: &str) -> bool {
    text.split('_').enumerate().all(|(i, part)| {
        let begins = i == 0 || part.starts_with(|c: char| c.is_ascii_digit());
        let last = i == text.matches('_').count();
        begins && (last || part.ends_with(|c: char| c.is_ascii_digit()))
    })
}

/// `YYYY-M-D…`, the beginning of every timestamp go-yaml knows.
pub(super) fn looks_like_date(text: &str) -> bool {
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
pub(super) fn float_key(value: f64) -> String {
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
