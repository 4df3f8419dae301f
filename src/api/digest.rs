//! How digests are written: in annotations, in statuses and as revisions of directories.

use sha2::{Digest, Sha256};

/// Gives `sha256:<hex>` of some bytes.
pub fn sha256(bytes: impl AsRef<[u8]>) -> String {
    format!("sha256:{}", hex(&Sha256::digest(bytes)))
}

/// Writes bytes as lower-case hexadecimal digits.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes
        .iter()
        .fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
            // Writing to a String cannot fail.
            let _ = write!(text, "{byte:02x}");
            text
        })
}
