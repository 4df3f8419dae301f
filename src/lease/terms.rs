//! The times that a Lease is kept by, all from its duration.

use std::time::Duration;

/// No Lease lasts longer, whatever it says: one with a made-up duration must not stop the others for years.
const LONGEST: Duration = Duration::from_secs(600);

/// How long a Lease lasts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Terms(Duration);

impl Terms {
    /// Takes a duration, which Leases state in whole seconds: at least one, and more rather than less.
    pub fn new(duration: Duration) -> Self {
        let rest = u64::from(duration.subsec_nanos() > 0);
        Self::from_seconds(duration.as_secs().saturating_add(rest))
    }

    /// Takes what a Lease says.
    pub fn from_seconds(seconds: u64) -> Self {
        Self(Duration::from_secs(seconds.max(1)).min(LONGEST))
    }

    /// How long others wait for a sign of life.
    pub fn duration(self) -> Duration {
        self.0
    }

    /// How long a replica relies on a renewal, from when it was sent. As in client-go (15 s and 10 s), a third of the
    /// duration is left for what is on its way to the server, and for clocks that run at different speeds.
    pub fn deadline(self) -> Duration {
        self.0 * 2 / 3
    }

    /// Between two renewals, and between two looks at the others. Three renewals may fail before the deadline.
    pub fn interval(self) -> Duration {
        self.0 / 5
    }

    /// Between two looks while replicas do not agree, and before anything is tried again.
    pub fn hurry(self) -> Duration {
        self.0 / 30
    }

    /// After how long without a sign of life a Lease is litter.
    pub fn litter(self) -> Duration {
        self.0 * 10
    }
}
