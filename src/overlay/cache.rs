//! What builds gave, by what they were given.

use std::collections::VecDeque;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use super::program::Program;
use super::{Options, Values};
use crate::load::SourceFile;
use crate::source::{Overlay, OverlayKind};

/// Bytes of output that are kept.
const MOST: usize = 64 << 20;

/// Builds that are remembered, however small.
const COUNT: usize = 256;

/// Digest of all that a build depends on: the files, what it is told, and the program's version.
pub(super) type Key = [u8; 32];

/// What a build gave: its output, or why there is none.
pub(super) type Built = Arc<Result<Vec<u8>, String>>;

/// The latest builds of a process. One that failed fails again, so that is remembered as well.
#[derive(Debug, Default)]
pub(super) struct Cache {
    builds: VecDeque<(Key, Built)>,
    bytes: usize,
}

impl Cache {
    /// Finds a build, which is then the latest.
    pub(super) fn get(&mut self, key: &Key) -> Option<Built> {
        let at = self.builds.iter().position(|(known, _)| known == key)?;
        let found = self.builds.remove(at)?;
        let built = Arc::clone(&found.1);
        self.builds.push_back(found);
        Some(built)
    }

    /// Keeps a build, and forgets those not asked for the longest.
    pub(super) fn keep(&mut self, key: Key, built: Built) {
        if self.get(&key).is_some() {
            return;
        }
        self.bytes += size(&built);
        self.builds.push_back((key, built));
        while self.bytes > MOST || self.builds.len() > COUNT {
            let Some((_, oldest)) = self.builds.pop_front() else {
                return;
            };
            self.bytes -= size(&oldest);
        }
    }
}

fn size(built: &Built) -> usize {
    built.as_ref().as_ref().map_or_else(String::len, Vec::len)
}

/// Makes the key. Lengths go first, so that no two different builds give the same input.
pub(super) fn key(overlay: &Overlay, options: &Options, program: &Program) -> Key {
    let mut digest = Sha256::new();
    let mut add = |part: &[u8]| {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    };
    let Overlay {
        kind,
        folder,
        file,
        snapshot,
    } = overlay;
    add(match kind {
        OverlayKind::Kustomize => b"kustomize",
        OverlayKind::Helm => b"helm",
    });
    add(folder.as_bytes());
    add(file.as_bytes());
    add(&(snapshot.files.len() as u64).to_le_bytes());
    for SourceFile { path, bytes } in &snapshot.files {
        add(path.as_bytes());
        add(bytes);
    }
    let Options {
        release,
        namespace,
        values,
        allow_remote,
        // It can only fail because of that, and then it is not kept.
        time: _,
    } = options;
    add(release.as_bytes());
    add(namespace.as_bytes());
    add(&[u8::from(*allow_remote)]);
    for values in values {
        let (word, bytes): (&[u8], &[u8]) = match values {
            Values::OfSource(path) => (b"source", path.as_bytes()),
            Values::Given(bytes) => (b"given", bytes),
        };
        add(word);
        add(bytes);
    }
    add(program.path.as_os_str().as_encoded_bytes());
    add(format!("{:?}", program.version).as_bytes());
    digest.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_asked_for_the_longest_is_forgotten_first() {
        let built = |bytes: usize| Arc::new(Ok(vec![0; bytes]));
        let mut cache = Cache::default();
        cache.keep([1; 32], built(MOST / 2));
        cache.keep([2; 32], built(MOST / 2));
        assert!(cache.get(&[1; 32]).is_some());
        cache.keep([3; 32], built(1));
        assert!(cache.get(&[2; 32]).is_none());
        assert!(cache.get(&[1; 32]).is_some() && cache.get(&[3; 32]).is_some());
        assert_eq!(cache.bytes, MOST / 2 + 1);
    }
}
