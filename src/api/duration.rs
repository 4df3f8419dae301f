//! Lengths of time as Go prints them, which is how Kubernetes writes them.

use std::time::Duration;

/// A year: longer than anybody waits, and short enough for any clock.
const MOST: Duration = Duration::from_secs(365 * 24 * 3600);

/// Reads a length of time: `90s`, `1m30s`, `250ms`, `1.5h`.
///
/// # Errors
/// What to give instead, when it is not one, or longer than a year.
pub fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || "give a time such as 90s, 5m or 1h30m".to_owned();
    let mut total = Duration::ZERO;
    let mut rest = text;
    while !rest.is_empty() {
        let is_number = |c: char| c.is_ascii_digit() || c == '.';
        let end = rest.find(|c| !is_number(c)).ok_or_else(wrong)?;
        let (number, tail) = rest.split_at(end);
        let (unit, tail) = tail.split_at(tail.find(is_number).unwrap_or(tail.len()));
        let number: f64 = number.parse().map_err(|_| wrong())?;
        let seconds = match unit {
            "ms" => 0.001,
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(wrong()),
        };
        let part = Duration::try_from_secs_f64(number * seconds).map_err(|_| wrong())?;
        total = total.checked_add(part).ok_or_else(wrong)?;
        rest = tail;
    }
    if text.is_empty() || total > MOST {
        Err(wrong())
    } else {
        Ok(total)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_as_go_writes_them() {
        for (text, milliseconds) in [
            ("90s", 90_000),
            ("1m30s", 90_000),
            ("250ms", 250),
            ("1.5h", 5_400_000),
            ("0s", 0),
        ] {
            let read = parse_duration(text);
            assert_eq!(read, Ok(Duration::from_millis(milliseconds)), "{text}");
        }
        for wrong in [
            "",
            "8761h",
            "5",
            "m",
            "1d",
            "-1s",
            "1.2.3s",
            ".s",
            "99999999999999999999s",
            "18446744073709551615h",
        ] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
    }
}
