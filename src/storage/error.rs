//! Why something is not stored.

use thiserror::Error;

/// Why something is not stored. None of them tells a credential, or what a server's answer holds beside its code.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum StorageError {
    /// The place must not be used.
    #[error("{0}")]
    NotAllowed(String),
    /// The place cannot be used now.
    #[error("{0}")]
    Unavailable(String),
    /// What is there is not what it should be, and is left as it is.
    #[error("{0}")]
    Unreadable(String),
    /// It is more than is kept in one file; what is there is left as it is.
    #[error("{0}")]
    TooLarge(String),
}

impl StorageError {
    /// One word, for a condition.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::NotAllowed(_) => "StorageNotAllowed",
            Self::Unavailable(_) => "StorageUnavailable",
            Self::Unreadable(_) => "StorageUnreadable",
            Self::TooLarge(_) => "FileTooLarge",
        }
    }
}
