//! How much is read before it counts as hostile or a mistake.

/// Bounds on what one stream may say. Past one of them it ends with an error; what came before is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the stream.
    pub bytes: u64,
    /// Sessions of the store that takes it.
    pub sessions: usize,
    /// Classes of the store that takes it, and mismatches.
    pub classes: usize,
    /// Probes of one class.
    pub probes_per_class: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // A dump of 20,000 classes has about 2 MB; files that agents append to for months have hundreds of them.
            bytes: 4 << 30,
            // One every minute for two months.
            sessions: 100_000,
            // The largest known JVM services load some 100,000, and a rolling update doubles them.
            classes: 1_000_000,
            // A method has at most 64 KiB of code, and the largest generated classes some thousands of probes.
            probes_per_class: 1 << 20,
        }
    }
}
