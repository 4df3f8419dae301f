//! A saved cluster as a file: one line with the format's version, then JSON, compressed with zlib, which has a checksum.

use std::fs::{File, Permissions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use miniz_oxide::deflate::compress_to_vec_zlib;
use miniz_oxide::inflate::decompress_to_vec_zlib_with_limit;
use thiserror::Error;

use super::Saved;
use crate::durable::write_durably;

/// What files begin with; the version follows.
const MAGIC: &str = "covergence snapshot ";

/// Counted up when older programs would misread what is written.
const VERSION: u32 = 1;

/// A set of 10,000 objects takes a hundredth of these.
const MOST_READ: u64 = 64 << 20;
const MOST_UNPACKED: usize = 512 << 20;

/// Small enough, and four times as fast as the smallest.
const LEVEL: u8 = 6;

/// Why a file is of no use.
#[derive(Debug, Error)]
pub enum SavedError {
    /// It cannot be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It is something else.
    #[error("it is no file of covergence snapshot")]
    Foreign,
    /// A later version has written it.
    #[error("it was made by a newer Covergence (format {0}; this one knows format {VERSION})")]
    TooNew(u32),
    /// It is not as it was written.
    #[error("it is damaged: {0}")]
    Damaged(String),
    /// It is too large.
    #[error("it is too large: more than {most} MiB{when}")]
    TooLarge {
        /// What it may have.
        most: u64,
        /// When it has more.
        when: &'static str,
    },
}

impl SavedError {
    fn too_large(bytes: u64, when: &'static str) -> Self {
        let most = bytes >> 20;
        Self::TooLarge { most, when }
    }

    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::TooNew(_) => "use that version here as well, or make the file with this one",
            Self::Foreign | Self::Damaged(_) => "make it anew: covergence snapshot … -o FILE",
            Self::Io(_) | Self::TooLarge { .. } => return None,
        };
        Some(hint.to_owned())
    }
}

impl Saved {
    /// Writes it to a file that only its owner may read.
    ///
    /// # Errors
    /// When that cannot be done; what was there before is there still.
    pub fn write(&self, path: &Path) -> Result<(), SavedError> {
        let bytes = self.to_bytes()?;
        write_durably(path, |out| {
            out.get_ref()
                .set_permissions(Permissions::from_mode(0o600))?;
            out.write_all(&bytes)
        })?;
        Ok(())
    }

    /// Reads a file.
    ///
    /// # Errors
    /// When it is not what [`Saved::write`] has written.
    pub fn read(path: &Path) -> Result<Self, SavedError> {
        let mut bytes = Vec::new();
        let file = File::open(path)?;
        file.take(MOST_READ + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MOST_READ {
            return Err(SavedError::too_large(MOST_READ, ""));
        }
        Self::from_bytes(&bytes, MOST_UNPACKED)
    }

    fn to_bytes(&self) -> Result<Vec<u8>, SavedError> {
        let json = serde_json::to_vec(self).map_err(io::Error::from)?;
        let mut bytes = format!("{MAGIC}{VERSION}\n").into_bytes();
        bytes.extend(compress_to_vec_zlib(&json, LEVEL));
        Ok(bytes)
    }

    fn from_bytes(bytes: &[u8], most: usize) -> Result<Self, SavedError> {
        let rest = bytes
            .strip_prefix(MAGIC.as_bytes())
            .ok_or(SavedError::Foreign)?;
        let mut parts = rest.splitn(2, |byte| *byte == b'\n');
        let version = parts.next().unwrap_or_default();
        let version: u32 = std::str::from_utf8(version)
            .ok()
            .and_then(|version| version.parse().ok())
            .ok_or(SavedError::Foreign)?;
        if version > VERSION {
            return Err(SavedError::TooNew(version));
        }
        let packed = parts.next().unwrap_or_default();
        let json = decompress_to_vec_zlib_with_limit(packed, most).map_err(|error| {
            use miniz_oxide::inflate::TINFLStatus;
            match error.status {
                TINFLStatus::HasMoreOutput => {
                    SavedError::too_large(most as u64, " when it is unpacked")
                }
                _ => SavedError::Damaged(error.to_string()),
            }
        })?;
        serde_json::from_slice(&json).map_err(|error| {
            let (line, column) = (error.line(), error.column());
            SavedError::Damaged(format!("line {line}, column {column} of its JSON"))
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn saved() -> Saved {
        Saved {
            namespace: "shop".into(),
            name: "shop".into(),
            default_namespace: "default".into(),
            objects: vec![
                json!({ "apiVersion": "v1", "kind": "Namespace", "metadata": { "name": "shop" } }),
            ],
            ..Saved::default()
        }
    }

    #[test]
    fn a_file_comes_back_and_only_its_owner_may_read_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("shop.snapshot");
        std::fs::write(&path, "an old one that all may read").unwrap();
        saved().write(&path).unwrap();
        assert_eq!(Saved::read(&path).unwrap(), saved());
        let mode = std::fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(saved().to_bytes().unwrap(), std::fs::read(&path).unwrap());
    }

    #[test]
    fn what_is_wrong_with_a_file_is_told() {
        let whole = saved().to_bytes().unwrap();
        let told = |bytes: &[u8]| Saved::from_bytes(bytes, 1 << 20).unwrap_err().to_string();
        assert_eq!(
            told(b"apiVersion: v1\n"),
            "it is no file of covergence snapshot"
        );
        assert_eq!(
            told(b"covergence snapshot x\n"),
            "it is no file of covergence snapshot"
        );
        assert_eq!(
            told(b"covergence snapshot 2\nwhatever"),
            "it was made by a newer Covergence (format 2; this one knows format 1)"
        );
        let begin = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for end in begin..whole.len() {
            assert!(told(&whole[..end]).starts_with("it is damaged: "), "{end}");
        }
        for at in begin..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            if let Err(error) = Saved::from_bytes(&damaged, 1 << 20) {
                assert!(
                    matches!(error, SavedError::Damaged(_) | SavedError::TooLarge { .. }),
                    "{at}: {error}"
                );
            } else {
                panic!("a flipped bit in byte {at} goes unseen");
            }
        }
        let large = Saved {
            name: "x".repeat(2 << 20),
            ..saved()
        }
        .to_bytes()
        .unwrap();
        assert_eq!(
            told(&large),
            "it is too large: more than 1 MiB when it is unpacked"
        );
    }
}
