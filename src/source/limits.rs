//! How much of a source is read before it is called too much.

use std::time::Duration;

/// Bounds on what one snapshot may hold and cost.
///
/// Repository content is written by others: each bound turns "the process runs out of memory or time" into a diagnostic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest manifest file, in bytes; a larger one fails alone.
    pub file_bytes: u64,
    /// All manifest files together, in bytes.
    pub total_bytes: u64,
    /// Number of manifest files.
    pub files: usize,
    /// Number of directory entries looked at, manifests or not.
    pub entries: usize,
    /// Directories below the root that are entered one inside the other.
    pub depth: usize,
    /// Bytes received in one git fetch.
    pub fetch_bytes: usize,
    /// Longest silence of a git server, and longest wait for another process that uses the same cache entry.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // The API server takes objects of 3 MiB at most, but people keep a whole operator's CRDs in one file;
            // the largest published bundles are about 10 MiB.
            file_bytes: 16 << 20,
            // 10,000 objects of 10 KiB, and some air; parsed documents take several times as much memory as their text.
            total_bytes: 128 << 20,
            // Ten times the 1,010 objects of the benchmark, each in its own file, doubled.
            files: 20_000,
            // Checked-out work trees with dependencies or build output beside the manifests have some 100,000 entries;
            // a tree of trees that repeat themselves ("git bomb") has 10^10 and must end.
            entries: 1 << 20,
            // Deepest real layouts (environment/region/cluster/app/overlay) stay under 12.
            depth: 64,
            // Only one commit is fetched where the server allows it; a monorepo's snapshot beyond 2 GiB belongs in a
            // repository of its own.
            fetch_bytes: 2 << 30,
            // Servers that count objects of a large repository stay silent for several seconds, not for a minute.
            timeout: Duration::from_secs(60),
        }
    }
}
