//! Times, and how long ago they were.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// How long ago a time (RFC 3339) was, as coarse as kubectl tells it: `90s`, `5m30s`, `3h`, `12d`; `-` when there is none.
pub fn age(since: Option<&str>, now: Timestamp) -> String {
    let Some(since) = since.and_then(|since| since.parse::<Timestamp>().ok()) else {
        return "-".into();
    };
    // Clocks differ: what was made in a moment was made now.
    span((now.as_second() - since.as_second()).max(0))
}

/// How long a time (RFC 3339) is away, in the same way; what should have been is due now.
pub fn wait(until: Option<&str>, now: Timestamp) -> String {
    let until = until.and_then(|until| until.parse::<Timestamp>().ok());
    until.map_or_else(
        || "-".into(),
        |until| span((until.as_second() - now.as_second()).max(0)),
    )
}

fn span(seconds: i64) -> String {
    let two = |unit: i64, word: &str, below: i64, word_below: &str| match seconds % unit / below {
        0 => format!("{}{word}", seconds / unit),
        rest => format!("{}{word}{rest}{word_below}", seconds / unit),
    };
    match seconds {
        ..120 => format!("{seconds}s"),
        120..600 => two(MINUTE, "m", 1, "s"),
        600..10_800 => format!("{}m", seconds / MINUTE),
        10_800..28_800 => two(HOUR, "h", MINUTE, "m"),
        28_800..172_800 => format!("{}h", seconds / HOUR),
        172_800..691_200 => two(DAY, "d", HOUR, "h"),
        _ => format!("{}d", seconds / DAY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_are_as_coarse_as_kubectls() {
        let now: Timestamp = "2026-03-01T12:00:00Z".parse().unwrap();
        for (since, shown) in [
            ("2026-03-01T12:00:05Z", "0s"),
            ("2026-03-01T11:58:30Z", "90s"),
            ("2026-03-01T11:54:30Z", "5m30s"),
            ("2026-03-01T11:55:00Z", "5m"),
            ("2026-03-01T10:00:00Z", "120m"),
            ("2026-03-01T08:30:00Z", "3h30m"),
            ("2026-03-01T00:00:00Z", "12h"),
            ("2026-02-26T10:00:00Z", "3d2h"),
            ("2026-02-01T12:00:00Z", "28d"),
            ("yesterday", "-"),
        ] {
            assert_eq!(age(Some(since), now), shown, "{since}");
        }
        assert_eq!(age(None, now), "-");
        assert_eq!(wait(Some("2026-03-01T12:05:00Z"), now), "5m");
        assert_eq!(wait(Some("2026-03-01T11:00:00Z"), now), "0s");
        assert_eq!(wait(None, now), "-");
    }
}
