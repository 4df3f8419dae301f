//! What a follower wants to hear of.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

/// Directories, and the names in them that matter; none for all.
#[derive(Default)]
pub(super) struct Interests(BTreeMap<PathBuf, Option<BTreeSet<OsString>>>);

impl Interests {
    /// Tells whether the directory is new here.
    pub(super) fn add(&mut self, directory: &Path, name: Option<&OsStr>) -> bool {
        let known = self.0.get_mut(directory);
        let is_new = known.is_none();
        match (known, name) {
            (Some(all), None) => *all = None,
            (Some(Some(names)), Some(name)) => {
                names.insert(name.to_owned());
            }
            (Some(None), Some(_)) => {}
            (None, name) => {
                let names = name.map(|name| BTreeSet::from([name.to_owned()]));
                self.0.insert(directory.to_owned(), names);
            }
        }
        is_new
    }

    /// Tells whether a change of this path matters.
    pub(super) fn covers(&self, path: &Path) -> bool {
        let within = || match self.0.get(path.parent()?)? {
            None => Some(true),
            Some(names) => Some(names.contains(path.file_name()?)),
        };
        // Of a directory itself: it was moved or deleted, or may be read by others now.
        self.0.contains_key(path) || within().unwrap_or(false)
    }

    /// Gives the directories that the other has not.
    pub(super) fn beyond(self, other: &Self) -> Vec<PathBuf> {
        let directories = self.0.into_keys();
        directories
            .filter(|directory| !other.0.contains_key(directory))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_name_matters_or_the_whole_directory() {
        let mut interests = Interests::default();
        assert!(interests.add(Path::new("/tmp"), Some(OsStr::new("shop"))));
        assert!(interests.add(Path::new("/tmp/shop"), Some(OsStr::new("a.yaml"))));
        assert!(!interests.covers(Path::new("/tmp/shop/b.yaml")));
        assert!(!interests.add(Path::new("/tmp/shop"), None));
        assert!(!interests.add(Path::new("/tmp/shop"), Some(OsStr::new("a.yaml"))));
        for (path, expected) in [
            ("/tmp", true),
            ("/tmp/other", false),
            ("/tmp/other/a.yaml", false),
            ("/tmp/shop", true),
            ("/tmp/shop/a.yaml", true),
            ("/tmp/shop/b.yaml", true),
            ("/tmp/shop/deep/b.yaml", false),
        ] {
            assert_eq!(interests.covers(Path::new(path)), expected, "{path}");
        }
    }
}
