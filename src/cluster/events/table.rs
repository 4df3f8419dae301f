//! Which Events are repetitions, and when they are worth a request.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};

/// What has not happened for so long happens anew (client-go's aggregator has the same).
const SAME_WITHIN: SignedDuration = SignedDuration::from_mins(10);
/// One Event is written no more often, however often it happens.
const WRITE_EVERY: SignedDuration = SignedDuration::from_mins(1);
/// Events that are known at once, as in client-go: 100 bytes of each are kept.
const MOST: usize = 4096;

/// The digest of a report.
pub(super) type Key = [u8; 32];

/// The same thing, happening again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Series {
    pub first: Timestamp,
    pub last: Timestamp,
    pub count: i32,
}

struct Entry {
    series: Series,
    written: Timestamp,
}

/// The Events of the last minutes.
#[derive(Default)]
pub(super) struct Table(HashMap<Key, Entry>);

impl Table {
    /// Takes note of what happens now, and tells what is to be written, if it is time to write.
    pub(super) fn note(&mut self, key: Key, now: Timestamp) -> Option<Series> {
        if let Some(entry) = self.0.get_mut(&key).filter(|entry| entry.is_recent(now)) {
            let Entry { series, written } = entry;
            series.count = series.count.saturating_add(1);
            series.last = now.max(series.last);
            let due = now.duration_since(*written) >= WRITE_EVERY;
            return due.then(|| {
                *written = now;
                *series
            });
        }
        if self.0.len() >= MOST {
            self.make_room(now);
        }
        let series = Series {
            first: now,
            last: now,
            count: 1,
        };
        let entry = Entry {
            series,
            written: now,
        };
        self.0.insert(key, entry);
        Some(series)
    }

    /// Forgets what is over; when nothing is, what has not happened for longest.
    fn make_room(&mut self, now: Timestamp) {
        self.0.retain(|_, entry| entry.is_recent(now));
        if self.0.len() < MOST {
            return;
        }
        let oldest = self.0.iter().min_by_key(|(_, entry)| entry.series.last);
        if let Some(key) = oldest.map(|(key, _)| *key) {
            self.0.remove(&key);
        }
    }
}

impl Entry {
    fn is_recent(&self, now: Timestamp) -> bool {
        now.duration_since(self.series.last) < SAME_WITHIN
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(seconds).unwrap()
    }

    fn key(number: u32) -> Key {
        let mut key = Key::default();
        key[..4].copy_from_slice(&number.to_be_bytes());
        key
    }

    fn series(first: i64, last: i64, count: i32) -> Option<Series> {
        Some(Series {
            first: at(first),
            last: at(last),
            count,
        })
    }

    #[test]
    fn repetitions_are_counted_and_written_once_in_a_minute() {
        let mut table = Table::default();
        assert_eq!(table.note(key(1), at(0)), series(0, 0, 1));
        assert_eq!(table.note(key(1), at(1)), None);
        assert_eq!(table.note(key(1), at(59)), None);
        assert_eq!(table.note(key(1), at(60)), series(0, 60, 4));
        assert_eq!(table.note(key(1), at(61)), None);
        assert_eq!(table.note(key(2), at(61)), series(61, 61, 1));
        assert_eq!(table.note(key(1), at(200)), series(0, 200, 6));
    }

    #[test]
    fn what_has_not_happened_for_long_happens_anew() {
        let mut table = Table::default();
        table.note(key(1), at(0));
        assert_eq!(table.note(key(1), at(599)), series(0, 599, 2));
        assert_eq!(table.note(key(1), at(1199)), series(1199, 1199, 1));
    }

    #[test]
    fn a_clock_that_steps_back_counts_on() {
        let mut table = Table::default();
        table.note(key(1), at(1000));
        assert_eq!(table.note(key(1), at(10)), None);
        assert_eq!(table.note(key(1), at(1060)), series(1000, 1060, 3));
    }

    #[test]
    fn the_table_is_bounded_and_keeps_what_happens_now() {
        let mut table = Table::default();
        let most = u32::try_from(MOST).unwrap();
        table.note(key(0), at(0));
        for number in 1..most {
            table.note(key(number), at(1));
        }
        table.note(key(0), at(2));
        table.note(key(most), at(3));
        assert_eq!(table.0.len(), MOST);
        assert_eq!(table.note(key(0), at(100)), series(0, 100, 3));
        table.note(key(most + 1), at(10_000));
        assert_eq!(table.0.len(), 1);
    }
}
