//! How long ago something was, as kubectl says it.

use jiff::Timestamp;
use serde_json::Value;

use super::text;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
const YEAR: i64 = 365 * DAY;

/// The age of an object.
pub fn of(object: &Value, now: Timestamp) -> Value {
    since(text::at(object, "/metadata/creationTimestamp"), now).into()
}

/// How long ago a time was that is written in RFC 3339.
pub fn since(time: &str, now: Timestamp) -> String {
    match time.parse::<Timestamp>() {
        Ok(time) => duration(now.as_second() - time.as_second()),
        Err(_) => "<unknown>".to_owned(),
    }
}

/// How long it is from one time to another; nothing when one of them is none.
pub fn between(start: &str, end: &str) -> String {
    match (start.parse::<Timestamp>(), end.parse::<Timestamp>()) {
        (Ok(start), Ok(end)) => duration(end.as_second() - start.as_second()),
        _ => String::new(),
    }
}

/// Seconds in the two largest units that matter.
pub fn duration(seconds: i64) -> String {
    let two = |large: i64, unit: &str, small: i64, smaller: &str| match small {
        0 => format!("{large}{unit}"),
        small => format!("{large}{unit}{small}{smaller}"),
    };
    match seconds {
        ..-1 => "<invalid>".to_owned(),
        -1 => "0s".to_owned(),
        0..120 => format!("{seconds}s"),
        120..600 => two(seconds / MINUTE, "m", seconds % MINUTE, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => two(seconds / HOUR, "h", seconds % HOUR / MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(seconds / DAY, "d", seconds % DAY / HOUR, "h"),
        _ if seconds < 2 * YEAR => format!("{}d", seconds / DAY),
        _ if seconds < 8 * YEAR => two(seconds / YEAR, "y", seconds % YEAR / DAY, "d"),
        _ => format!("{}y", seconds / YEAR),
    }
}

#[cfg(test)]
mod tests {
    use super::duration;

    #[test]
    fn ages_are_said_in_two_units_at_most() {
        for (seconds, said) in [
            (-5, "<invalid>"),
            (-1, "0s"),
            (119, "119s"),
            (120, "2m"),
            (125, "2m5s"),
            (600, "10m"),
            (3 * 3600 - 1, "179m"),
            (3 * 3600 + 60, "3h1m"),
            (8 * 3600 + 60, "8h"),
            (47 * 3600, "47h"),
            (50 * 3600, "2d2h"),
            (8 * 86_400, "8d"),
            (3 * 365 * 86_400, "3y"),
            (3 * 365 * 86_400 + 86_400, "3y1d"),
            (9 * 365 * 86_400 + 86_400, "9y"),
        ] {
            assert_eq!(duration(seconds), said);
        }
    }
}
