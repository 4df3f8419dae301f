//! How much of a source is read before it counts as hostile or a mistake.

/// Bounds on what [`load`](super::load()) reads. Past one of them the document or file fails with a located error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file.
    pub file_bytes: usize,
    /// Documents of the whole snapshot, members of lists included.
    pub documents: usize,
    /// Mappings and lists inside one another.
    pub depth: usize,
    /// Values in one document, after aliases are expanded.
    pub nodes: usize,
    /// Bytes of text that aliases and merge keys of one document may copy.
    pub copied_bytes: usize,
    /// Errors reported for one file before the rest of it is left unread.
    pub faults_per_file: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // The largest files people keep are bundles of generated CRDs, about 10 MB.
            file_bytes: 32 << 20,
            // Ten times the largest source the design budgets for.
            documents: 100_000,
            // A CRD's schema, the deepest thing in use, nests about 40; parsers of the API server stop at 10,000,
            // but Rust's recursion over a tree (drop, JSON) has a small stack to live in.
            depth: 100,
            // An object that etcd accepts has 1.5 MB, so not even half as many values.
            nodes: 1_000_000,
            // The same reasoning: what is larger than this cannot be stored anyway.
            copied_bytes: 16 << 20,
            // Nobody reads more than a screen or two of them.
            faults_per_file: 100,
        }
    }
}
