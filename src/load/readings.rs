//! What files held when they were read before: of a source that is read again only what has changed is parsed.

use std::collections::HashMap;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::loader::{Content, Sum, read_file};
use super::{Limits, Loaded, Snapshot};

/// So much text of one source is kept as trees, which take about five times as much memory: twice what 5,000 documents have.
/// What is beyond is parsed each time.
const MOST: usize = 4 << 20;

/// A source with less text than this is parsed within a millisecond or two, and most are: there are better uses of memory.
const LEAST: usize = 64 << 10;

/// The last reading of one source, file by file.
#[derive(Debug, Default)]
pub struct Readings {
    files: HashMap<Arc<str>, Kept>,
    /// What the files were read with.
    limits: Option<Limits>,
}

#[derive(Debug)]
struct Kept {
    digest: [u8; 32],
    content: Arc<Content>,
}

impl Readings {
    /// Does what [`load`](super::load()) does, and parses only files that are new or changed since the last time.
    ///
    /// Keeps what this snapshot holds, up to 4 MiB of text, and forgets all else.
    pub fn load(&mut self, snapshot: &Snapshot, limits: &Limits) -> Loaded {
        if self.limits.as_ref() != Some(limits) {
            self.files.clear();
            self.limits = Some(limits.clone());
        }
        let mut before = std::mem::take(&mut self.files);
        let sizes = snapshot.files.iter().map(|file| file.bytes.len());
        let worthwhile = sizes.fold(0, usize::saturating_add) >= LEAST;
        let mut room = if worthwhile { MOST } else { 0 };
        let mut sum = Sum::new(snapshot, limits);
        while let Some((file, allowance)) = sum.next_file() {
            let digest: [u8; 32] = Sha256::digest(&file.bytes).into();
            let known = before.remove(&file.path);
            let known = known.filter(|kept| kept.digest == digest && kept.content.fits(allowance));
            let content = match known {
                Some(kept) => kept.content,
                None => {
                    sum.parsed += 1;
                    Arc::new(read_file(file, limits, allowance))
                }
            };
            if let (Some(left), true) = (room.checked_sub(file.bytes.len()), content.is_whole()) {
                room = left;
                let content = Arc::clone(&content);
                let kept = Kept { digest, content };
                self.files.insert(Arc::clone(&file.path), kept);
            }
            sum.add(Arc::unwrap_or_clone(content));
        }
        sum.finish()
    }

    /// How many files are kept.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Tells whether nothing is kept.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }
}

#[cfg(test)]
#[path = "readings_tests.rs"]
mod tests;
