//! A directory or a file as a source.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::collect::Collected;
use super::disk::{Disk, kind};
use super::tree::Kind;
use super::walk::{single, walk};
use super::{Limits, SourceError};
use crate::api::digest::hex;
use crate::load::{Snapshot, SourceFile};

/// How often a directory that changes under our eyes is read again. A checkout or a volume's swap takes milliseconds;
/// what still changes after that many readings is being written all the time.
const ATTEMPTS: usize = 3;

/// Reads all manifests of a directory, or one file.
///
/// The revision is `sha256:<hex>` over names and contents.
///
/// # Errors
/// When `path` itself is missing, unreadable, or neither a directory nor a regular file. Everything else is a diagnostic.
pub fn read(path: &Path, limits: &Limits) -> Result<Snapshot, SourceError> {
    let unreadable = |source: io::Error| match source.kind() {
        io::ErrorKind::NotFound => SourceError::NotFound {
            path: path.to_owned(),
        },
        _ => SourceError::Unreadable {
            path: path.to_owned(),
            source,
        },
    };
    let root = fs::canonicalize(path).map_err(unreadable)?;
    let collected = match kind(fs::metadata(&root).map_err(unreadable)?.file_type()) {
        Kind::Directory => {
            fs::read_dir(&root).map_err(unreadable)?;
            directory(&root, limits)?
        }
        Kind::Special(what) => {
            return Err(SourceError::Special {
                path: path.to_owned(),
                what,
            });
        }
        Kind::File | Kind::Link | Kind::Submodule => {
            let name = path.file_name().or(root.file_name()).unwrap_or_default();
            let file = root.file_name().unwrap_or_default();
            let mut disk = Disk::new(root.parent().unwrap_or(&root));
            single(&mut disk, Path::new(name), Path::new(file), limits)?
        }
    };
    let (files, diagnostics) = collected.finish();
    Ok(Snapshot {
        revision: revision(&files),
        files,
        diagnostics,
    })
}

fn directory(root: &Path, limits: &Limits) -> Result<Collected, SourceError> {
    settled(|| {
        let mut disk = Disk::new(root);
        let collected = walk(&mut disk, Path::new(""), limits)?;
        Ok((collected, disk.changed()))
    })
}

/// Reads until a reading saw no change. Two moments of a directory in one snapshot would lose the object that moved
/// from a file read late to one read early, and prune it.
fn settled(
    mut reading: impl FnMut() -> Result<(Collected, Option<PathBuf>), SourceError>,
) -> Result<Collected, SourceError> {
    let mut attempt = 1;
    loop {
        let (mut collected, changed) = reading()?;
        let Some(changed) = changed else {
            return Ok(collected);
        };
        if attempt == ATTEMPTS {
            collected.error(
                &changed,
                "keeps changing while it is read",
                Some("read it again when the writer has finished"),
            );
            return Ok(collected);
        }
        attempt += 1;
    }
}

/// Digest of names and contents. Lengths go first, so that no two different directories give the same input.
fn revision(files: &[SourceFile]) -> String {
    use sha2::{Digest as _, Sha256};
    let mut digest = Sha256::new();
    for SourceFile { path, bytes } in files {
        for part in [path.as_bytes(), bytes] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    format!("sha256:{}", hex(&digest.finalize()))
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
