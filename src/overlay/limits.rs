//! How much a build may use before it is ended.

use std::time::Duration;

/// Bounds on one build. Templates are programs, and others write them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// How long a build may take when its options do not say. Its processes may use twice that of the processor.
    pub time: Duration,
    /// Memory that one process may write to, in bytes.
    pub memory: u64,
    /// What it may print, in bytes.
    pub output: usize,
    /// The largest file that it may write, in bytes.
    pub file: u64,
    /// Processes and threads, where the kernel counts them for each user namespace.
    pub processes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // The largest charts in use take some seconds.
            time: Duration::from_secs(60),
            // Charts with many dependencies, such as monitoring stacks, take 200 MiB.
            memory: 1 << 30,
            // What is printed is loaded as one file, and this is what a file may have.
            output: 16 << 20,
            file: 128 << 20,
            processes: 256,
        }
    }
}
