//! Numbers in text, as Go and go-yaml read them.

use serde_json::Number;

use super::scalar::{Reading, Unreadable};

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
