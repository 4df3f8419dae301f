//! Quantities in the form that the API server keeps of each: `1000m` is `1`, `0.5` is `500m`, `1024Mi` is `1Gi`.

/// What is counted with: a billionth. Smaller parts are rounded up.
const NANO: i128 = 1_000_000_000;

/// Stands for numbers that are too large to be counted.
const LARGEST: i128 = i64::MAX as i128 * NANO;

const DECIMAL: &[&str] = &["n", "u", "m", "", "k", "M", "G", "T", "P", "E"];
const BINARY: &[&str] = &["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Decimal,
    Exponent,
    Binary,
}

/// The form that is kept: as it was written, where that says the same in the same unit (`+3`, `12E6`).
///
/// # Errors
/// What the API server says of text that is no quantity.
pub fn canonical(text: &str) -> Result<String, &'static str> {
    let canonical = parse(text).ok_or_else(|| refusal(text))?;
    let plain = text
        .trim_start_matches('+')
        .trim_end_matches('.')
        .replacen('E', "e", 1);
    match plain == canonical || text == canonical {
        true => Ok(text.to_owned()),
        false => Ok(canonical),
    }
}

fn refusal(text: &str) -> &'static str {
    let number = text.trim_start_matches(['+', '-']);
    let suffix = number.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
    let exponent = suffix.trim_start_matches(|it| "eEinumkKMGTP".contains(it));
    let exponent = exponent.trim_start_matches(['+', '-']);
    let is_formed = number != suffix && exponent.bytes().all(|it| it.is_ascii_digit());
    match is_formed {
        true => "unable to parse quantity's suffix",
        false => {
            "quantities must match the regular expression \
             '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
        }
    }
}

fn parse(text: &str) -> Option<String> {
    let (sign, rest) = match text.strip_prefix('-') {
        Some(rest) => (-1, rest),
        None => (1, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = rest
        .find(|it: char| !it.is_ascii_digit() && it != '.')
        .unwrap_or(rest.len());
    let (number, suffix) = rest.split_at_checked(end)?;
    let (whole, part) = number.split_once('.').unwrap_or((number, ""));
    if number.is_empty() || number == "." || part.contains('.') {
        return None;
    }
    let (form, scale) = scale(suffix)?;
    Some(written(sign * scaled(whole, part, scale), form))
}

/// By how much a suffix multiplies: a power of ten or of two.
#[derive(Clone, Copy)]
enum Scale {
    Ten(i32),
    Two(u32),
}

fn scale(suffix: &str) -> Option<(Form, Scale)> {
    if let Some(at) = DECIMAL.iter().position(|it| *it == suffix) {
        return Some((Form::Decimal, Scale::Ten(i32::try_from(at).ok()? * 3 - 9)));
    }
    if let Some(at) = BINARY.iter().position(|it| *it == suffix) {
        return Some((Form::Binary, Scale::Two(u32::try_from(at).ok()? * 10)));
    }
    let exponent = suffix.strip_prefix(['e', 'E'])?.parse().ok()?;
    Some((Form::Exponent, Scale::Ten(exponent)))
}

/// A number without sign in billionths, rounded up.
fn scaled(whole: &str, part: &str, scale: Scale) -> i128 {
    let digits = format!("{whole}{part}");
    let digits = digits.trim_start_matches('0');
    let Some(decimals) = i32::try_from(part.len()).ok() else {
        return LARGEST;
    };
    // More digits than these are beyond the largest number, or below a billionth.
    let (digits, dropped) = match digits.split_at_checked(28) {
        Some((kept, rest)) => (kept, rest),
        None => (digits, ""),
    };
    let Ok(mut size) = digits.parse::<i128>() else {
        return 0;
    };
    if dropped.bytes().any(|digit| digit != b'0') {
        size += 1;
    }
    let places = i32::try_from(dropped.len()).unwrap_or(i32::MAX) - decimals;
    match scale {
        Scale::Ten(ten) => shifted(size, places.saturating_add(ten).saturating_add(9)),
        Scale::Two(two) => {
            let shifted_left = shifted(size, places.saturating_add(9));
            shifted_left
                .checked_shl(two)
                .filter(|it| it >> two == shifted_left)
                .unwrap_or(LARGEST)
        }
    }
}

/// Times a power of ten, rounded up.
fn shifted(size: i128, places: i32) -> i128 {
    let power = 10_i128.checked_pow(places.unsigned_abs());
    match (places >= 0, power) {
        (true, Some(power)) => size.checked_mul(power).unwrap_or(LARGEST),
        (true, None) => {
            if size == 0 {
                0
            } else {
                LARGEST
            }
        }
        (false, Some(power)) => size / power + i128::from(size % power != 0),
        (false, None) => i128::from(size != 0),
    }
}

fn written(size: i128, form: Form) -> String {
    // Small numbers and fractions are not written in powers of two.
    let is_small = size.abs() < 1024 * NANO || size % NANO != 0;
    match form {
        Form::Binary if !is_small => {
            let (number, at) = without_factors(size / NANO, 1024, BINARY.len() - 1);
            format!("{number}{}", BINARY.get(at).unwrap_or(&""))
        }
        Form::Binary | Form::Decimal => {
            let (number, at) = decimal(size);
            format!("{number}{}", DECIMAL.get(at).unwrap_or(&""))
        }
        Form::Exponent => {
            let (number, at) = decimal(size);
            match (at * 3).cast_signed() - 9 {
                0 => number.to_string(),
                exponent => format!("{number}e{exponent}"),
            }
        }
    }
}

/// A number of billionths without thousands, and the place of its suffix in [`DECIMAL`].
fn decimal(size: i128) -> (i128, usize) {
    match size {
        0 => (0, 3),
        size => without_factors(size, 1000, DECIMAL.len() - 1),
    }
}

fn without_factors(mut number: i128, factor: i128, most: usize) -> (i128, usize) {
    let mut taken = 0;
    while taken < most && number != 0 && number % factor == 0 {
        number /= factor;
        taken += 1;
    }
    (number, taken)
}

#[cfg(test)]
mod tests {
    use super::canonical;

    /// Each answer is what the lab's API server made of an `emptyDir.sizeLimit`.
    #[test]
    fn quantities_are_kept_in_one_form() {
        for (given, kept) in [
            ("1000m", "1"),
            ("0.5", "500m"),
            ("1.5Gi", "1536Mi"),
            ("1024Mi", "1Gi"),
            ("100000", "100k"),
            ("1000M", "1G"),
            ("512Ki", "512Ki"),
            ("1023", "1023"),
            ("0.5Ki", "512"),
            ("0", "0"),
            ("0Gi", "0"),
            ("12e6", "12e6"),
            ("12E6", "12E6"),
            ("1500e-3", "1500e-3"),
            ("1E", "1E"),
            ("+3", "+3"),
            ("1.", "1."),
            (".5", "500m"),
            ("0.0000000001", "1n"),
            ("9223372036854775808", "9223372036854775808"),
            ("10E", "10E"),
            ("1.1Ki", "1126400m"),
            ("1000k", "1M"),
            ("1000e3", "1e6"),
        ] {
            assert_eq!(canonical(given).as_deref(), Ok(kept), "{given}");
        }
        for given in ["", ".", "1x", "x", "1 Gi", "1.2.3", "--1", "Gi"] {
            assert!(canonical(given).is_err(), "{given}");
        }
        for given in ["1e", "1ki"] {
            assert_eq!(canonical(given), Err("unable to parse quantity's suffix"));
        }
    }
}
