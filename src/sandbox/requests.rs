//! Whether requests are under way.

use std::sync::atomic::{AtomicU32, Ordering};

/// Counts requests that are under way.
#[derive(Debug, Default)]
pub struct Requests(AtomicU32);

/// A request that is under way as long as this lives.
#[derive(Debug)]
pub struct UnderWay<'a>(&'a AtomicU32);

impl Requests {
    /// Counts one.
    pub fn begin(&self) -> UnderWay<'_> {
        self.0.fetch_add(1, Ordering::Relaxed);
        UnderWay(&self.0)
    }

    /// Whether there are any.
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
