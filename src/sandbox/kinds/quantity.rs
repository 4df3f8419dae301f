//! Sizes of quantities, to compare them.

use serde_json::Value;

/// A quantity in billionths, which is as exact as Kubernetes is.
pub(super) fn billionths(value: &Value) -> Option<i128> {
    match value {
        Value::String(text) => parse(text),
        Value::Number(number) => parse(&number.to_string()),
        _ => None,
    }
}

/// Whether a quantity is whole.
pub(super) fn is_whole(value: &Value) -> bool {
    billionths(value).is_some_and(|n| n % 1_000_000_000 == 0)
}

/// Rounds all quantities of a list up to thousandths, which is how finely resources are shared out.
pub(super) fn round_up(list: &mut Value) {
    const THOUSANDTH: i128 = 1_000_000;
    for quantity in list
        .as_object_mut()
        .into_iter()
        .flat_map(|list| list.values_mut())
    {
        let Some(size) = billionths(quantity).filter(|size| size % THOUSANDTH != 0) else {
            continue;
        };
        let thousandths = size.div_euclid(THOUSANDTH) + 1;
        let text = match thousandths % 1000 {
            0 => (thousandths / 1000).to_string(),
            _ => format!("{thousandths}m"),
        };
        *quantity = text.into();
    }
}

fn parse(text: &str) -> Option<i128> {
    let end = text
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '+' | '-')))
        .unwrap_or(text.len());
    let (number, suffix) = text.split_at_checked(end)?;
    let (negative, number) = match number.strip_prefix('-') {
        Some(number) => (true, number),
        None => (false, number.strip_prefix('+').unwrap_or(number)),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let mut digits: i128 = 0;
    for digit in whole.chars().chain(fraction.chars()) {
        let digit = i128::from(digit.to_digit(10)?);
        digits = digits.checked_mul(10)?.checked_add(digit)?;
    }
    let decimals = i32::try_from(fraction.len()).ok()?;
    let (binary, decimal) = scale(suffix)?;
    let scaled = digits.checked_mul(1_i128.checked_shl(binary)?)?;
    let exponent = decimal - decimals + 9;
    let power = 10_i128.checked_pow(exponent.unsigned_abs())?;
    let billionths = if exponent < 0 {
        scaled.checked_add(power - 1)? / power
    } else {
        scaled.checked_mul(power)?
    };
    Some(if negative { -billionths } else { billionths })
}

/// The powers of two and of ten that a suffix stands for.
fn scale(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "" => (0, 0),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        other => {
            let exponent = other.strip_prefix(['e', 'E'])?;
            (0, exponent.parse().ok()?)
        }
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn quantities_have_sizes() {
        for (text, size) in [
            ("1", 1_000_000_000),
            ("100m", 100_000_000),
            ("1.5Ki", 1_536_000_000_000),
            ("-2", -2_000_000_000),
            ("1e3", 1_000_000_000_000),
            (".5", 500_000_000),
            ("1n", 1),
        ] {
            assert_eq!(billionths(&json!(text)), Some(size), "{text}");
        }
        for text in [
            "",
            "a",
            "1x",
            "-",
            "1e",
            "99999999999999999999999999999999999999Ei",
        ] {
            assert_eq!(billionths(&json!(text)), None, "{text}");
        }
    }

    #[test]
    fn what_is_left_below_a_billionth_counts_as_one() {
        assert_eq!(billionths(&json!("0.1n")), Some(1));
        assert!(is_whole(&json!("2k")) && !is_whole(&json!("1500m")));
    }

    #[test]
    fn resources_are_shared_out_in_thousandths() {
        let mut list = json!({ "cpu": "100u", "memory": "1500m", "a/b": "1999999u" });
        round_up(&mut list);
        assert_eq!(list, json!({ "cpu": "1m", "memory": "1500m", "a/b": "2" }));
    }
}
