//! How many triggers are taken in a time.

use std::time::Duration;

use tokio::time::Instant;

/// Ten in a second, for as long as anybody likes.
const STEP: Duration = Duration::from_millis(100);
/// Fifty at once: a push to a repository that as many Syncs have hooks for.
const AHEAD: Duration = Duration::from_secs(5);

/// A leaky bucket, kept as the moment at which it will be empty (the "generic cell rate algorithm").
#[derive(Debug)]
pub(super) struct Pace {
    empty_at: Instant,
}

impl Pace {
    pub(super) fn new(now: Instant) -> Self {
        Self { empty_at: now }
    }

    /// Takes one more, if there is room for it.
    pub(super) fn admit(&mut self, now: Instant) -> bool {
        let full = self.empty_at.max(now) + STEP;
        let fits = full <= now + AHEAD;
        if fits {
            self.empty_at = full;
        }
        fits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admitted(pace: &mut Pace, now: Instant) -> usize {
        (0..1000).filter(|_| pace.admit(now)).count()
    }

    #[test]
    fn a_burst_is_taken_and_then_a_steady_rate() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        assert_eq!(admitted(&mut pace, start), 50);
        assert_eq!(admitted(&mut pace, start + STEP), 1);
        assert_eq!(admitted(&mut pace, start + STEP * 11), 10);
        assert_eq!(admitted(&mut pace, start + Duration::from_secs(3600)), 50);
    }
}
