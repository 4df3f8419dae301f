//! A directory or a file as a source.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::collect::Collected;
use super::disk::{Disk, kind};
use super::git::lacking;
use super::overlay::{Found, Place, follow, gather};
use super::tree::Kind;
use super::walk::{single, walk};
use super::{Limits, SourceError};
use crate::api::digest::hex;
use crate::load::{Diagnostic, Severity, Snapshot, SourceFile};

/// How often a directory that changes under our eyes is read again. A checkout or a volume's swap takes milliseconds;
/// what still changes after that many readings is being written all the time.
const ATTEMPTS: usize = 3;

/// Reads all manifests of a directory, or one file; an overlay is not built.
///
/// The revision is `sha256:<hex>` over names, contents, and what could not be read.
///
/// # Errors
/// When `path` itself is missing, unreadable, or neither a directory nor a regular file. Everything else is a diagnostic.
pub fn read(path: &Path, limits: &Limits) -> Result<Snapshot, SourceError> {
    let (root, kind) = open(path, |_| true)?;
    let collected = match kind {
        Kind::Directory => manifests(&root, limits)?,
        _ => file(path, &root, limits)?,
    };
    Ok(snapshot(collected))
}

/// A directory or a file as a source that may have to be built.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirectorySource {
    /// All that belongs to the source.
    pub path: PathBuf,
    /// The folder in it that holds the manifests; all of it if there is none.
    pub folder: Option<String>,
    /// Files that a chart needs beside its own, from the chart's folder.
    pub values_files: Vec<String>,
}

impl From<PathBuf> for DirectorySource {
    fn from(path: PathBuf) -> Self {
        Self {
            path,
            ..Self::default()
        }
    }
}

/// Reads a source: its manifests, or what they are built from.
///
/// # Errors
/// As those of [`read`], and when the folder is not in the source.
pub fn find(source: &DirectorySource, limits: &Limits) -> Result<Found, SourceError> {
    find_if(source, limits, |_| true)
}

/// The same, as long as the source lies below one of these directories: a link on its path, or it itself, may have been another
/// one when it was allowed.
///
/// # Errors
/// As those of [`find`], and when it does not.
pub fn find_within(
    source: &DirectorySource,
    directories: &[PathBuf],
    limits: &Limits,
) -> Result<Found, SourceError> {
    find_if(source, limits, |root| is_within(root, directories))
}

/// Tells whether a path leads below one of these directories. Looks at the file system, and blocks.
pub fn is_within(path: &Path, directories: &[PathBuf]) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    directories
        .iter()
        .any(|it| real(path).starts_with(real(it)))
}

fn find_if(
    source: &DirectorySource,
    limits: &Limits,
    is_allowed: impl Fn(&Path) -> bool,
) -> Result<Found, SourceError> {
    let (root, kind) = open(&source.path, is_allowed)?;
    let Some(start) = start(&root, source.folder.as_deref()) else {
        return Err(SourceError::NotFound {
            path: source
                .path
                .join(source.folder.as_deref().unwrap_or_default()),
        });
    };
    if kind != Kind::Directory {
        return Ok(Found::Manifests(snapshot(file(
            &source.path,
            &root,
            limits,
        )?)));
    }
    let (collected, place) = settled(|| {
        let mut disk = Disk::new(&root);
        let read = match gather(&mut disk, &start, &source.values_files, limits)? {
            Some((mut collected, place)) => {
                // Its names are those in the source. What a base lacks, the builder misses.
                add_lacking(&mut collected, &root.join(&start), &start, limits)?;
                (collected, Some(place))
            }
            None => (below(&mut disk, &start, limits)?, None),
        };
        Ok((read, disk.changed()))
    })?;
    Ok(Place::found(place, snapshot(collected)))
}

/// The folder with the manifests, free of links; nothing when it is not in the source.
fn start(root: &Path, folder: Option<&str>) -> Option<PathBuf> {
    let Some(folder) = folder else {
        return Some(PathBuf::new());
    };
    let start = follow(Path::new(""), folder)?;
    let real = fs::canonicalize(root.join(start)).ok()?;
    let inside = real.strip_prefix(root).ok()?;
    real.is_dir().then(|| inside.to_owned())
}

fn open(path: &Path, is_allowed: impl Fn(&Path) -> bool) -> Result<(PathBuf, Kind), SourceError> {
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
    // All that follows reads from there and nowhere else, whatever the path leads to by then.
    if !is_allowed(&root) {
        return Err(SourceError::NotAllowed {
            path: path.to_owned(),
        });
    }
    match kind(fs::metadata(&root).map_err(unreadable)?.file_type()) {
        Kind::Directory => {
            fs::read_dir(&root).map_err(unreadable)?;
            Ok((root, Kind::Directory))
        }
        Kind::Special(what) => Err(SourceError::Special {
            path: path.to_owned(),
            what,
        }),
        kind => Ok((root, kind)),
    }
}

fn manifests(root: &Path, limits: &Limits) -> Result<Collected, SourceError> {
    let (collected, _) = settled(|| {
        let mut disk = Disk::new(root);
        let read = (below(&mut disk, Path::new(""), limits)?, None);
        Ok((read, disk.changed()))
    })?;
    Ok(collected)
}

/// Reads all manifests below a folder of a source, and tells what the folder lacks.
fn below(disk: &mut Disk<'_>, start: &Path, limits: &Limits) -> Result<Collected, SourceError> {
    let mut collected = walk(disk, start, limits)?;
    add_lacking(
        &mut collected,
        &disk.root.join(start),
        Path::new(""),
        limits,
    )?;
    Ok(collected)
}

/// Tells what a folder lacks of its commit; `name` is what it is called.
fn add_lacking(
    collected: &mut Collected,
    folder: &Path,
    name: &Path,
    limits: &Limits,
) -> Result<(), SourceError> {
    for (path, fault) in lacking(folder, limits.timeout) {
        // Without the slash that an empty path would leave at the end.
        let path: PathBuf = name.join(path).components().collect();
        collected.fault(&path, fault)?;
    }
    Ok(())
}

fn file(path: &Path, root: &Path, limits: &Limits) -> Result<Collected, SourceError> {
    let name = path.file_name().or(root.file_name()).unwrap_or_default();
    let file = root.file_name().unwrap_or_default();
    let mut disk = Disk::new(root.parent().unwrap_or(root));
    single(&mut disk, Path::new(name), Path::new(file), limits)
}

fn snapshot(collected: Collected) -> Snapshot {
    let (files, diagnostics) = collected.finish();
    Snapshot {
        revision: revision(&files, &diagnostics),
        files,
        diagnostics,
    }
}

/// What a reading gathered, and the overlay's place if it is one.
type Reading = (Collected, Option<Place>);

/// Reads until a reading saw no change. Two moments of a directory in one snapshot would lose the object that moved
/// from a file read late to one read early, and prune it.
fn settled(
    mut reading: impl FnMut() -> Result<(Reading, Option<PathBuf>), SourceError>,
) -> Result<Reading, SourceError> {
    let mut attempt = 1;
    loop {
        let ((mut collected, place), changed) = reading()?;
        let Some(changed) = changed else {
            return Ok((collected, place));
        };
        if attempt == ATTEMPTS {
            collected.error(
                &changed,
                "keeps changing while it is read",
                Some("read it again when the writer has finished"),
            );
            return Ok((collected, place));
        }
        attempt += 1;
    }
}

/// Digest of names and contents, and of what could not be read: that it can be read now is news. Lengths go first, so that no
/// two different directories give the same input.
fn revision(files: &[SourceFile], diagnostics: &[Diagnostic]) -> String {
    use sha2::{Digest as _, Sha256};
    let mut digest = Sha256::new();
    for SourceFile { path, bytes } in files {
        for part in [path.as_bytes(), bytes] {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    let errors = diagnostics.iter();
    for error in errors.filter(|it| it.severity == Severity::Error) {
        for part in [&*error.file, &error.message] {
            // No name is as long as that.
            digest.update(u64::MAX.to_le_bytes());
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
    }
    format!("sha256:{}", hex(&digest.finalize()))
}

#[cfg(test)]
#[path = "directory_tests.rs"]
mod tests;
