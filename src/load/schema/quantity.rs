//! The grammar of quantities: `500m`, `1Gi`, `0.5`, `1e3`.

/// Suffixes of decimal and binary multiples.
const SUFFIXES: &[&str] = &[
    "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei",
];

/// Whether a text is a quantity.
pub(super) fn is_quantity(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let end = unsigned
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(unsigned.len());
    let Some((number, suffix)) = unsigned.split_at_checked(end) else {
        return false;
    };
    let digits = number.bytes().any(|b| b.is_ascii_digit()) && number.matches('.').count() <= 1;
    digits && (SUFFIXES.contains(&suffix) || is_exponent(suffix))
}

fn is_exponent(suffix: &str) -> bool {
    suffix.strip_prefix(['e', 'E']).is_some_and(|exponent| {
        let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
        !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
    })
}

/// The billionths that a quantity stands for, rounded up as Kubernetes does; nothing for what is no quantity or too large.
pub(in crate::load) fn nanos(text: &str) -> Option<i128> {
    if !is_quantity(text) {
        return None;
    }
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.')
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(end)?;
    let fraction = number.split_once('.').map_or("", |(_, fraction)| fraction);
    let digits: i128 = number.replace('.', "").parse().ok()?;
    let (binary, decimal) = match suffix {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (1, 0),
        "Mi" => (2, 0),
        "Gi" => (3, 0),
        "Ti" => (4, 0),
        "Pi" => (5, 0),
        "Ei" => (6, 0),
        exponent => (0, exponent.get(1..)?.parse::<i32>().ok()?),
    };
    let exponent = 9 + decimal - i32::try_from(fraction.len()).ok()?;
    let scaled = digits.checked_mul(1024_i128.checked_pow(binary)?)?;
    let power = |n: u32| 10_i128.checked_pow(n);
    let size = match u32::try_from(exponent) {
        Ok(exponent) => scaled.checked_mul(power(exponent)?)?,
        Err(_) => {
            let by = power(exponent.unsigned_abs())?;
            scaled.checked_add(by - 1)? / by
        }
    };
    Some(if negative { -size } else { size })
}

#[cfg(test)]
mod tests {
    use super::{is_quantity, nanos};

    #[test]
    fn quantities_are_compared_by_what_they_stand_for() {
        for (text, expected) in [
            ("1", 1_000_000_000),
            ("0.1", 100_000_000),
            ("100m", 100_000_000),
            ("1e3", 1_000_000_000_000),
            ("1k", 1_000_000_000_000),
            ("1Ki", 1_024_000_000_000),
            ("0.5Ki", 512_000_000_000),
            ("-2", -2_000_000_000),
            ("+1u", 1_000),
            ("0.1n", 1),
            ("1E", 1_000_000_000_000_000_000_000_000_000),
        ] {
            assert_eq!(nanos(text), Some(expected), "{text}");
        }
        for text in [
            "",
            "1 Gi",
            "1e99",
            "1e-99",
            "99999999999999999999999999999999999999999",
        ] {
            assert_eq!(nanos(text), None, "{text}");
        }
    }

    #[test]
    fn quantities_are_told_from_other_text() {
        for text in [
            "0", "1", "500m", "1Gi", "0.5", ".5", "5.", "-1", "+1k", "1e3", "1E-3", "1E", "12Ei",
            "100u",
        ] {
            assert!(is_quantity(text), "{text}");
        }
        for text in [
            "", "m", "1 Gi", "1gb", "1GB", "1KI", "1ki", "1.2.3", "e3", "1e", "--1", "0x10", "1,5",
            "1Gi ", "½",
        ] {
            assert!(!is_quantity(text), "{text}");
        }
    }
}
