//! The secret that a git server and we share.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// More than any git server lets people type.
const MOST_BYTES: u64 = 4096;

/// How requests prove where they come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// By the secret in this file, read anew for each request: a mounted Secret may be renewed at any time.
    Secret(PathBuf),
    /// Not at all: whoever reaches the port may trigger.
    Insecure,
}

/// The secret's bytes; never printed.
pub(super) struct Secret(Vec<u8>);

impl Secret {
    pub(super) fn bytes(&self) -> &[u8] {
        &self.0
    }

    #[cfg(test)]
    pub(super) fn of(text: &str) -> Self {
        Self(text.into())
    }
}

/// Why there is no secret. Its text may be logged, but not sent: it names a path.
#[derive(Debug, Error)]
pub(super) enum SecretError {
    #[error("read the webhook's secret {path}: {source}")]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("the webhook's secret {0} is empty")]
    Empty(PathBuf),
    #[error("the webhook's secret {0} has more than {MOST_BYTES} bytes")]
    TooLong(PathBuf),
}

impl Secret {
    /// Reads a file without the line break that editors leave at its end.
    pub(super) fn read(path: &Path) -> Result<Self, SecretError> {
        let mut bytes = Vec::new();
        let read = File::open(path)
            .and_then(|file| file.take(MOST_BYTES + 1).read_to_end(&mut bytes))
            .map_err(|source| SecretError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
        if read as u64 > MOST_BYTES {
            return Err(SecretError::TooLong(path.to_owned()));
        }
        while bytes.pop_if(|last| matches!(last, b'\r' | b'\n')).is_some() {}
        if bytes.trim_ascii().is_empty() {
            return Err(SecretError::Empty(path.to_owned()));
        }
        Ok(Self(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(content: &[u8]) -> Result<Vec<u8>, String> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), content).unwrap();
        let path = file.path().display().to_string();
        match Secret::read(file.path()) {
            Ok(secret) => Ok(secret.0),
            Err(error) => Err(error.to_string().replace(&path, "PATH")),
        }
    }

    #[test]
    fn the_line_break_at_the_end_is_no_part_of_it() {
        for content in ["ab c", "ab c\n", "ab c\r\n"] {
            assert_eq!(read(content.as_bytes()).unwrap(), b"ab c");
        }
        assert_eq!(read(b"ab \n").unwrap(), b"ab ");
    }

    #[test]
    fn nothing_is_no_secret() {
        for content in ["", "\n", " \r\n"] {
            assert_eq!(
                read(content.as_bytes()).unwrap_err(),
                "the webhook's secret PATH is empty"
            );
        }
        let Err(error) = Secret::read(Path::new("/nowhere/secret")) else {
            panic!("there is no such file");
        };
        assert!(
            error
                .to_string()
                .starts_with("read the webhook's secret /nowhere/secret: ")
        );
    }

    #[test]
    fn a_file_that_is_no_secret_is_not_read_whole() {
        assert_eq!(read(&[b'x'; 4096]).unwrap().len(), 4096);
        assert_eq!(
            read(&[b'x'; 4097]).unwrap_err(),
            "the webhook's secret PATH has more than 4096 bytes"
        );
    }
}
