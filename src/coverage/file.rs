//! Whole `.exec` files.

use std::fmt;
use std::io::{self, Read, Write};

use thiserror::Error;

use super::block::Block;
use super::decode::{Decoder, Dialect};
use super::encode;
use super::error::{Fault, ProtocolError, StreamError};
use super::limits::Limits;
use super::store::{Growth, Mismatch, Store};

/// What a stream brought into a store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// What was not known before.
    pub growth: Growth,
    /// Classes that were left out.
    pub mismatches: Vec<LocatedMismatch>,
}

/// A class that was left out, and where it is.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("at byte {offset}: {mismatch}")]
pub struct LocatedMismatch {
    /// Where its block begins in the stream.
    pub offset: u64,
    /// Why it was left out.
    pub mismatch: Mismatch,
}

/// A file that is not as it should be.
#[derive(Debug, Error)]
pub struct ReadError {
    /// Why reading ended before the end, if it did.
    pub fault: Option<StreamError>,
    /// Classes that were left out.
    pub mismatches: Vec<LocatedMismatch>,
    /// What could be read.
    pub rest: Box<Store>,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            fault,
            mismatches,
            rest: _,
        } = self;
        match (fault, mismatches.as_slice()) {
            (Some(fault), _) => fault.fmt(f),
            (None, [only]) => only.fmt(f),
            (None, [first, more @ ..]) => write!(f, "{first} (and {} more)", more.len()),
            (None, []) => Ok(()),
        }
    }
}

/// Reads a whole file, also one that was put together of many.
pub fn read_exec(bytes: &[u8], limits: &Limits) -> Result<Store, ReadError> {
    let mut store = Store::new();
    let mut taken = Taken::default();
    let fault = store.take_exec(bytes, limits, &mut taken).err();
    if fault.is_some() || !taken.mismatches.is_empty() {
        return Err(ReadError {
            fault,
            mismatches: taken.mismatches,
            rest: Box::new(store),
        });
    }
    Ok(store)
}

/// Writes a file that every JaCoCo reads, of the same bytes for the same store: sessions by the time of their dump, then classes by id.
///
/// Classes of which nothing was hit are left out, as JaCoCo does.
pub fn write_exec(store: &Store, mut out: impl Write) -> io::Result<()> {
    let mut buffer = encode::header().to_vec();
    for session in store.sessions() {
        encode::session(&mut buffer, session);
    }
    for class in store.classes().filter(|class| class.probes.any()) {
        encode::execution(&mut buffer, class);
        if buffer.len() > BUFFER {
            out.write_all(&buffer)?;
            buffer.clear();
        }
    }
    out.write_all(&buffer)?;
    out.flush()
}

/// What is written at once, at least.
const BUFFER: usize = 64 << 10;

/// What is read at once: more than any but the strangest class takes.
const CHUNK: u64 = 256 << 10;

impl Store {
    /// Takes all of a file, also one that was put together of many. After an error, what came before its place was taken.
    pub fn take_exec(
        &mut self,
        mut file: impl Read,
        limits: &Limits,
        taken: &mut Taken,
    ) -> Result<(), StreamError> {
        let mut decoder = Decoder::new(Dialect::File, limits.clone());
        loop {
            let read = decoder.read(&mut file, CHUNK);
            while let Some((offset, block)) = decoder.next_block()? {
                self.take_block(offset, block, limits, taken)?;
            }
            if read? == 0 {
                return Ok(decoder.finish()?);
            }
        }
    }

    /// Takes the block that begins at `offset` of its stream.
    pub fn take_block(
        &mut self,
        offset: u64,
        block: Block<'_>,
        limits: &Limits,
        taken: &mut Taken,
    ) -> Result<(), ProtocolError> {
        let one_more = |what, count: usize, limit: usize| {
            if count < limit {
                return Ok(());
            }
            let fault = Fault::too_many(what, count as u64 + 1, limit as u64);
            Err(ProtocolError { offset, fault })
        };
        match block {
            Block::Header | Block::Done => {}
            Block::Session(session) => {
                if !self.has_session(&session) {
                    one_more("sessions", self.sessions().len(), limits.sessions)?;
                    self.add_session(session);
                }
            }
            Block::Execution(data) => {
                if self.len() >= limits.classes && self.get(data.id).is_none() {
                    one_more("classes", self.len(), limits.classes)?;
                }
                match self.put(data) {
                    Ok(growth) => taken.growth += growth,
                    Err(mismatch) => {
                        one_more("mismatches", taken.mismatches.len(), limits.classes)?;
                        taken.mismatches.push(LocatedMismatch { offset, mismatch });
                    }
                }
            }
        }
        Ok(())
    }
}
