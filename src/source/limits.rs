//! How much of a source is read before it is called too much.

use std::time::Duration;

use crate::load;

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
    /// Bytes of one path, from the root of the source.
    pub path_bytes: usize,
    /// Bytes of the paths of all directories, links and manifests together.
    pub all_path_bytes: usize,
    /// Entries that cannot be read, before the rest is left unread.
    pub faults: usize,
    /// Bytes received in one git fetch.
    pub fetch_bytes: usize,
    /// Longest silence of a git server, and longest wait for another process that uses the same cache entry.
    pub timeout: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        let load = load::Limits::default();
        Self {
            file_bytes: load.file_bytes as u64,
            // 10,000 objects of 10 KiB, and some air; parsed documents take several times as much memory as their text.
            total_bytes: 128 << 20,
            // Ten times the 1,010 objects of the benchmark, each in its own file, doubled.
            files: 20_000,
            // Checked-out work trees with dependencies or build output beside the manifests have some 100,000 entries;
            // a tree of trees that repeat themselves ("git bomb") has 10^10 and must end.
            entries: 1 << 18,
            // Deepest real layouts (environment/region/cluster/app/overlay) stay under 12.
            depth: 64,
            // Linux takes no longer ones (PATH_MAX), but git does.
            path_bytes: 4096,
            // As many entries as are looked at, with paths of 128 bytes; a few copies of each are kept.
            all_path_bytes: 32 << 20,
            faults: load.faults,
            // Only one commit is fetched where the server allows it; a monorepo's snapshot beyond 2 GiB belongs in a
            // repository of its own.
            fetch_bytes: 2 << 30,
            // Servers that count objects of a large repository stay silent for several seconds, not for a minute.
            timeout: Duration::from_secs(60),
        }
    }
}
