//! Files that outlive the controller: below a folder of this machine, or in a bucket of an S3-compatible server.
//!
//! One operation: read what is stored, and put something else in its place, so that nothing another writer has put there
//! meanwhile is lost.

mod error;
mod folder;
pub mod s3;

use std::sync::Arc;

pub use self::error::StorageError;
pub use self::folder::Folder;
pub use self::s3::Bucket;

/// What is to be stored in place of what is there.
pub struct Update<T> {
    /// The new content; what is there stays when absent.
    pub content: Option<Vec<u8>>,
    /// What became of it, for the caller.
    pub outcome: T,
}

/// Makes the new content from the old one. It may be asked several times, when others write at the same time.
pub type Merge<T> = dyn Fn(Option<&[u8]>) -> Result<Update<T>, StorageError> + Send + Sync;

/// The place of one file.
#[derive(Clone, Debug)]
pub enum Storage {
    /// On this machine.
    Folder(Folder),
    /// In a bucket.
    Bucket(Bucket),
}

impl Storage {
    /// Where the file is, for people.
    pub fn location(&self) -> String {
        match self {
            Self::Folder(folder) => folder.location(),
            Self::Bucket(bucket) => bucket.location(),
        }
    }

    /// Reads the file, at most `most` bytes of it, and puts in its place what `merge` makes of it. When this ends well, the
    /// new content is on the disk, or with the server.
    ///
    /// # Errors
    /// When it cannot be read or written, is larger than that, or `merge` fails; then what was there is there.
    pub async fn update<T: Send + 'static>(
        &self,
        most: u64,
        merge: Arc<Merge<T>>,
    ) -> Result<T, StorageError> {
        match self {
            Self::Folder(folder) => {
                let folder = folder.clone();
                blocking(move || folder.update(most, &*merge)).await
            }
            Self::Bucket(bucket) => bucket.update(most, merge).await,
        }
    }
}

/// Does what takes long without waiting, or waits for a disk, where nobody else waits for it.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StorageError> + Send + 'static,
) -> Result<T, StorageError> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(StorageError::Unavailable(error.to_string())))
}
