//! A build's own copy of the files, in a directory that goes with it.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::load::SourceFile;

/// What the names of the directories begin with.
const PREFIX: &str = "covergence-build-";

/// Older than any build, whatever time it is given: whoever made it was killed.
const LEFT: Duration = Duration::from_secs(24 * 3600);

/// A directory for one build: `tree` with the files, `home` and `tmp`. It is deleted on drop.
#[derive(Debug)]
pub(super) struct Copy {
    root: PathBuf,
}

impl Copy {
    /// Makes one below a directory.
    pub(super) fn new(below: &Path) -> io::Result<Self> {
        fs::create_dir_all(below)?;
        let below = fs::canonicalize(below)?;
        sweep(&below);
        let mut private = DirBuilder::new();
        private.mode(0o700);
        let root = loop {
            let root = below.join(format!("{PREFIX}{:016x}", fastrand::u64(..)));
            match private.create(&root) {
                Ok(()) => break root,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        };
        let copy = Self { root };
        for folder in [copy.tree(), copy.home(), copy.temporary()] {
            private.create(folder)?;
        }
        Ok(copy)
    }

    pub(super) fn tree(&self) -> PathBuf {
        self.root.join("tree")
    }

    pub(super) fn home(&self) -> PathBuf {
        self.root.join("home")
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.root.join("tmp")
    }

    /// Writes the files of a source. Names come from others: one that would lead anywhere else is refused.
    pub(super) fn write(&self, files: &[SourceFile]) -> io::Result<()> {
        let tree = self.tree();
        for SourceFile { path, bytes } in files {
            let inside = Path::new(&**path);
            if !inside
                .components()
                .all(|part| matches!(part, Component::Normal(_)))
            {
                let message = format!("{path:?} is no name of a file");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
            }
            let file = tree.join(inside);
            if let Some(folder) = file.parent() {
                fs::create_dir_all(folder)?;
            }
            create(&file, bytes)?;
        }
        Ok(())
    }

    /// Writes a file beside the tree, and gives its path.
    pub(super) fn aside(&self, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
        let path = self.root.join(name);
        create(&path, bytes)?;
        Ok(path)
    }
}

/// Deletes what killed processes have left. What cannot be deleted is another user's.
fn sweep(below: &Path) {
    let entries = fs::read_dir(below).into_iter().flatten().flatten();
    for entry in entries.filter(|it| {
        it.file_name()
            .as_encoded_bytes()
            .starts_with(PREFIX.as_bytes())
    }) {
        let modified = entry.metadata().and_then(|metadata| metadata.modified());
        if modified.is_ok_and(|at| at.elapsed().is_ok_and(|age| age > LEFT)) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.write_all(bytes)
}

impl Drop for Copy {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.root) {
            tracing::warn!(path = %self.root.display(), "a build's copy of the files is left behind: {error}");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str) -> SourceFile {
        SourceFile {
            path: path.into(),
            bytes: b"x".into(),
        }
    }

    #[test]
    fn what_was_left_long_ago_is_swept_away() {
        let below = tempfile::tempdir().unwrap();
        let left = |name: &str, age: Duration| {
            let path = below.path().join(name);
            fs::create_dir(&path).unwrap();
            let then = std::time::SystemTime::now() - age;
            fs::File::open(&path).unwrap().set_modified(then).unwrap();
            path
        };
        let old = left("covergence-build-1", 2 * LEFT);
        let kept = [
            left("covergence-build-2", LEFT / 2),
            left("another", 2 * LEFT),
        ];
        drop(Copy::new(below.path()).unwrap());
        assert!(!old.exists());
        assert!(kept.iter().all(|path| path.exists()));
    }

    #[test]
    fn no_name_leads_out_of_the_copy() {
        let below = tempfile::tempdir().unwrap();
        let copy = Copy::new(below.path()).unwrap();
        copy.write(&[file("a/b.yaml"), file(".helmignore")])
            .unwrap();
        assert_eq!(fs::read(copy.tree().join("a/b.yaml")).unwrap(), b"x");
        for path in ["../a", "a/../../b", "/etc/x", ".", ""] {
            assert!(copy.write(&[file(path)]).is_err(), "{path:?}");
        }
        // What is there is not written over: two names for one file are the source's mistake.
        assert!(copy.write(&[file("a/b.yaml")]).is_err());
        drop(copy);
        assert_eq!(fs::read_dir(below.path()).unwrap().count(), 0);
    }
}
