//! How much of a source is read before it counts as hostile or a mistake.

/// Bounds on what [`load`](super::load()) reads. Past one of them the document, the file or the rest of the source fails
/// with an error that says which, so that nothing is pruned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of one file.
    pub file_bytes: usize,
    /// Documents of one file, with or without an object in them; a file with more gives none.
    pub file_documents: usize,
    /// Objects of the whole source, members of lists included.
    pub documents: usize,
    /// Mappings and lists inside one another.
    pub nesting: usize,
    /// Values in one file, keys included, after aliases are expanded.
    pub file_values: usize,
    /// Values in the whole source: they, and not the bytes, are what memory is needed for.
    pub values: usize,
    /// Bytes of text that aliases, anchors and merge keys of one document may copy.
    pub alias_bytes: usize,
    /// Errors of one file before the rest of it is left unread.
    pub file_faults: usize,
    /// Errors of the whole source before the rest of it is left unread; so many warnings are told of.
    pub faults: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            // The API server takes objects of 3 MiB at most, but people keep a whole operator's CRDs in one file;
            // the largest published bundles are about 10 MiB.
            file_bytes: 16 << 20,
            // Twice the largest source the design budgets for, rendered into one file.
            file_documents: 20_000,
            // Ten times that source.
            documents: 100_000,
            // A CRD's schema, the deepest thing in use, nests about 40; parsers of the API server stop at 10,000,
            // but Rust's recursion over a tree (drop, JSON) has a small stack to live in, and what reads the server's
            // answers stops at 128.
            nesting: 100,
            // An object that etcd accepts has 1.5 MB, so not even half as many values; a bundle of 10 MiB has up to 900,000.
            file_values: 2_000_000,
            // 50 MiB of real manifests. Each takes some 100 bytes by the time it is planned.
            values: 5_000_000,
            // What is larger than this cannot be stored anyway.
            alias_bytes: 16 << 20,
            // Nobody reads more than a screen or two of them.
            file_faults: 100,
            // Nor of those of many files.
            faults: 1_000,
        }
    }
}
