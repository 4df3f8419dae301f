//! The time, as conditions carry it.

use jiff::{RoundMode, Timestamp, TimestampRound, Unit};

/// The time in whole seconds; as text it is in RFC 3339.
pub fn now() -> Timestamp {
    let round = TimestampRound::new()
        .smallest(Unit::Second)
        .mode(RoundMode::Trunc);
    let now = Timestamp::now();
    now.round(round).unwrap_or(now)
}
