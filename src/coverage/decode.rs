//! From bytes to blocks.

use std::io::Read;

use super::block::{
    Block, ClassId, DONE, EXECUTION, ExecutionRef, HEADER, MAGIC, SESSION, SessionInfo, VERSION,
};
use super::error::{Fault, ProtocolError, StreamError};
use super::java_string::JavaStr;
use super::limits::Limits;
use super::probes::ProbesRef;

/// Where a stream comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// A file, which has no [`Block::Done`].
    File,
    /// What an agent answers.
    Agent,
}

/// Decodes a stream that comes in pieces.
///
/// Push what has arrived, and take blocks until there is none. It keeps no more than what was pushed and not taken.
#[derive(Debug)]
pub struct Decoder {
    dialect: Dialect,
    limits: Limits,
    buffer: Vec<u8>,
    /// How much of the buffer was taken.
    taken: usize,
    /// Where the buffer begins in the stream.
    base: u64,
    begun: bool,
}

impl Decoder {
    /// Begins a stream.
    pub fn new(dialect: Dialect, limits: Limits) -> Self {
        Self {
            dialect,
            limits,
            buffer: Vec::new(),
            taken: 0,
            base: 0,
            begun: false,
        }
    }

    /// Adds what has arrived; of what is more than the limit only what is within it, after which there is an error.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), ProtocolError> {
        self.forget_taken();
        self.buffer.extend_from_slice(bytes);
        self.cut_to_limit()
    }

    /// Adds up to `most` bytes of a file as [`push`](Self::push) does, and tells how many; at the end there is none.
    pub fn read(&mut self, file: &mut impl Read, most: u64) -> Result<usize, StreamError> {
        self.forget_taken();
        let count = file.take(most).read_to_end(&mut self.buffer);
        self.cut_to_limit()?;
        Ok(count?)
    }

    fn forget_taken(&mut self) {
        self.buffer.drain(..self.taken);
        self.base += self.taken as u64;
        self.taken = 0;
    }

    fn cut_to_limit(&mut self) -> Result<(), ProtocolError> {
        let limit = self.limits.bytes;
        let end = self.base + self.buffer.len() as u64;
        match usize::try_from(limit - self.base) {
            Ok(room) if room < self.buffer.len() => {
                self.buffer.truncate(room);
                Err(at(limit, Fault::too_many("bytes", end, limit)))
            }
            _ => Ok(()),
        }
    }

    /// Takes the next block and where it begins, or nothing as long as it has not arrived wholly. An error comes again.
    pub fn next_block(&mut self) -> Result<Option<(u64, Block<'_>)>, ProtocolError> {
        let begin = self.offset();
        let rest = self.buffer.get(self.taken..).unwrap_or_default();
        let mut input = Input {
            rest,
            offset: begin,
        };
        match block(&mut input, self.begun, self.dialect, &self.limits) {
            Ok(block) => {
                self.taken += rest.len() - input.rest.len();
                self.begun = true;
                Ok(Some((begin, block)))
            }
            Err(Stop::Short) => Ok(None),
            Err(Stop::Fault(error)) => Err(error),
        }
    }

    /// Where the next block begins.
    pub fn offset(&self) -> u64 {
        self.base + self.taken as u64
    }

    /// The memory that it holds for what is still to be taken.
    #[cfg(test)]
    pub(super) fn kept(&self) -> usize {
        self.buffer.capacity()
    }

    /// Says that nothing more arrives, which is an error inside of a block.
    pub fn finish(&self) -> Result<(), ProtocolError> {
        if self.taken < self.buffer.len() {
            return Err(at(self.offset(), Fault::Truncated));
        }
        Ok(())
    }
}

/// Why there is no whole block.
enum Stop {
    /// It has not arrived.
    Short,
    Fault(ProtocolError),
}

fn block<'a>(
    input: &mut Input<'a>,
    begun: bool,
    dialect: Dialect,
    limits: &Limits,
) -> Result<Block<'a>, Stop> {
    let begin = input.offset;
    match input.byte()? {
        HEADER => {
            let magic = u16::from_be_bytes(input.array()?);
            if magic != MAGIC {
                return Err(fault(begin + 1, Fault::Magic(magic)));
            }
            let version = u16::from_be_bytes(input.array()?);
            if version != VERSION {
                return Err(fault(begin + 3, Fault::Version(version)));
            }
            Ok(Block::Header)
        }
        other if !begun => Err(fault(begin, Fault::NoHeader(other))),
        SESSION => Ok(Block::Session(SessionInfo {
            id: input.string()?.to_owned(),
            start: i64::from_be_bytes(input.array()?),
            dump: i64::from_be_bytes(input.array()?),
        })),
        EXECUTION => Ok(Block::Execution(ExecutionRef {
            id: ClassId(u64::from_be_bytes(input.array()?)),
            name: input.string()?,
            probes: input.probes(limits.probes_per_class)?,
        })),
        DONE if dialect == Dialect::Agent => Ok(Block::Done),
        other => Err(fault(begin, Fault::UnknownBlock(other))),
    }
}

/// What is left of a stream, and where that begins.
struct Input<'a> {
    rest: &'a [u8],
    offset: u64,
}

impl<'a> Input<'a> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], Stop> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(Stop::Short)?;
        self.rest = rest;
        self.offset += N as u64;
        Ok(*array)
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        self.array().map(|[byte]| byte)
    }

    fn bytes(&mut self, count: usize) -> Result<&'a [u8], Stop> {
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or(Stop::Short)?;
        self.rest = rest;
        self.offset += count as u64;
        Ok(bytes)
    }

    fn string(&mut self) -> Result<JavaStr<'a>, Stop> {
        let len = u16::from_be_bytes(self.array()?);
        let begin = self.offset;
        let bytes = self.bytes(len.into())?;
        JavaStr::new(bytes).map_err(|malformed| fault(begin + malformed.at as u64, Fault::Text))
    }

    fn probes(&mut self, limit: usize) -> Result<ProbesRef<'a>, Stop> {
        let begin = self.offset;
        let len = self.count()?;
        if len > limit {
            let too_many = Fault::too_many("probes of one class", len as u64, limit as u64);
            return Err(fault(begin, too_many));
        }
        let begin = self.offset;
        let bytes = self.bytes(len.div_ceil(8))?;
        // JaCoCo writes zeros where there are no probes, and would take no notice of others.
        if let Some(last) = bytes.last()
            && !len.is_multiple_of(8)
            && last >> (len % 8) != 0
        {
            return Err(fault(begin + bytes.len() as u64 - 1, Fault::Unused));
        }
        Ok(ProbesRef::new(len, bytes))
    }

    /// Reads a varint that fits into an `int` of Java.
    fn count(&mut self) -> Result<usize, Stop> {
        let begin = self.offset;
        let mut count = 0;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            count |= u64::from(byte & 0x7F) << shift;
            if byte & 0x80 == 0 {
                return match i32::try_from(count) {
                    Ok(count) => Ok(count as usize),
                    Err(_) => Err(fault(begin, Fault::Count)),
                };
            }
        }
        Err(fault(begin, Fault::Count))
    }
}

fn at(offset: u64, fault: Fault) -> ProtocolError {
    ProtocolError { offset, fault }
}

fn fault(offset: u64, fault: Fault) -> Stop {
    Stop::Fault(at(offset, fault))
}
