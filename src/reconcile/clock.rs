//! The time, as conditions carry it.

use jiff::{RoundMode, Timestamp, TimestampRound, Unit};

/// The time in RFC 3339, in whole seconds.
pub fn now() -> String {
    let round = TimestampRound::new()
        .smallest(Unit::Second)
        .mode(RoundMode::Trunc);
    let now = Timestamp::now();
    now.round(round).unwrap_or(now).to_string()
}
