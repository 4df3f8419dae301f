//! What can be wrong with a stream, and where.

use std::io;

use thiserror::Error;

/// What is wrong with a stream.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("at byte {offset}: {fault}")]
pub struct ProtocolError {
    /// Counted from the begin of the stream.
    pub offset: u64,
    /// What is wrong.
    pub fault: Fault,
}

/// What can be wrong with a stream.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum Fault {
    /// The first block is another one.
    #[error("this is no execution data of JaCoCo: it begins with {0:#04x} instead of a header")]
    NoHeader(u8),
    /// The header is not JaCoCo's.
    #[error("this is no execution data of JaCoCo: its header says {0:#06x} instead of 0xc0c0")]
    Magic(u16),
    /// The header is of a version that nobody knows.
    #[error("version {0:#06x} of the format is not known, only 0x1007 (JaCoCo 0.7.5 and later)")]
    Version(u16),
    /// A block of no known type.
    #[error("there is no block of type {0:#04x}: the data is damaged here or a little before")]
    UnknownBlock(u8),
    /// The stream ends inside of a block.
    #[error("the data ends in the middle of the block that begins here: it is truncated")]
    Truncated,
    /// A string that Java does not write.
    #[error("this is no modified UTF-8")]
    Text,
    /// A count that is negative or does not end.
    #[error("this is no number of probes")]
    Count,
    /// A bit is set for a probe that the class has not.
    #[error("more probes are hit than the class has")]
    Unused,
    /// More than the limit.
    #[error("{count} {what} are more than the limit of {limit}")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many there are, or would be.
        count: u64,
        /// How many there may be.
        limit: u64,
    },
}

impl Fault {
    pub(super) fn too_many(what: &'static str, count: u64, limit: u64) -> Self {
        Self::TooMany { what, count, limit }
    }
}

/// Why a stream could not be taken to its end.
#[derive(Debug, Error)]
pub enum StreamError {
    /// It cannot be read.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// It says something wrong.
    #[error("{0}")]
    Protocol(#[from] ProtocolError),
}
