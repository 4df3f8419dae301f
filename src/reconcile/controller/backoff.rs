//! When a failed run is tried again.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};

/// Shorter than people wait before they look again.
const FIRST: Duration = Duration::from_secs(1);

/// What fails for ever costs one run in five minutes at most, with the jitter that adds up to as much again; what helps it (a
/// commit, an edit, a request) is not waited for.
const LONGEST: Duration = Duration::from_secs(150);

/// Delays that grow while runs fail, each different from those of others (jitter).
#[derive(Default)]
pub struct Backoff(Option<ExponentialBackoff>);

impl Backoff {
    /// Notes that all went well.
    pub fn reset(&mut self) {
        self.0 = None;
    }

    /// Notes a failure, and says how long to wait.
    pub fn next(&mut self) -> Duration {
        let builder = ExponentialBuilder::default()
            .with_min_delay(FIRST)
            .with_max_delay(LONGEST)
            .with_jitter()
            .without_max_times();
        self.0
            .get_or_insert_with(|| builder.build())
            .next()
            .unwrap_or(LONGEST)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_grow_to_a_limit_and_start_anew_after_a_success() {
        let mut backoff = Backoff::default();
        let delays: Vec<_> = (0..20).map(|_| backoff.next()).collect();
        assert!(delays[0] >= FIRST && delays[0] <= FIRST * 2, "{delays:?}");
        assert!(
            delays[19] >= LONGEST && delays[19] <= LONGEST * 2,
            "{delays:?}"
        );
        backoff.reset();
        assert!(backoff.next() <= FIRST * 2);
    }
}
