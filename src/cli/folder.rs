//! A folder of a command's own, which goes with it.

use std::fs::{self, DirBuilder};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

/// A folder that only its owner may enter. It is deleted on drop.
#[derive(Debug)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// Makes one where temporary files are kept; `of` says what it is for.
    pub fn new(of: &str) -> io::Result<Self> {
        let name = format!("covergence-{of}-{:08x}", fastrand::u32(..));
        let path = std::env::temp_dir().join(name);
        DirBuilder::new().mode(0o700).create(&path)?;
        Ok(Self { path })
    }

    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // Whatever is left is in the way of nobody.
        let _ = fs::remove_dir_all(&self.path);
    }
}
