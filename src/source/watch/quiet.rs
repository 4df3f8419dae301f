//! Waits for the end of a save.

use tokio::sync::Notify;
use tokio::time::{Instant, timeout_at};

use super::Timing;

/// Waits until the bell has not rung for a while, or has rung for too long.
pub(super) async fn wait(bell: &Notify, timing: &Timing) {
    let end = Instant::now() + timing.longest;
    while Instant::now() < end {
        let quiet = Instant::now() + timing.quiet;
        if timeout_at(quiet.min(end), bell.notified()).await.is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use tokio::time::sleep;

    use super::*;

    /// How long the waiting takes when the bell rings so often, this far apart.
    async fn waited(rings: u32, apart: u64) -> Duration {
        let bell = Arc::new(Notify::new());
        let ringer = Arc::clone(&bell);
        tokio::spawn(async move {
            for _ in 0..rings {
                sleep(Duration::from_millis(apart)).await;
                ringer.notify_one();
            }
        });
        let begin = Instant::now();
        wait(&bell, &Timing::default()).await;
        begin.elapsed()
    }

    #[tokio::test(start_paused = true)]
    async fn a_pause_ends_the_wait_and_constant_writing_does_not_prolong_it_for_ever() {
        let milliseconds = Duration::from_millis;
        assert_eq!(waited(0, 0).await, milliseconds(50));
        assert_eq!(waited(3, 20).await, milliseconds(110));
        // Too far apart to be one change.
        assert_eq!(waited(3, 60).await, milliseconds(50));
        assert_eq!(waited(10_000, 20).await, milliseconds(500));
    }
}
