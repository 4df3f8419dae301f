//! What a stream is made of.

use std::cmp::Ordering;
use std::fmt;

use super::java_string::{JavaStr, JavaString};
use super::probes::{Probes, ProbesRef};

pub(super) const HEADER: u8 = 0x01;
pub(super) const SESSION: u8 = 0x10;
pub(super) const EXECUTION: u8 = 0x11;
pub(super) const DONE: u8 = 0x20;
pub(super) const DUMP: u8 = 0x40;

/// What every header says after its first byte.
pub(super) const MAGIC: u16 = 0xC0C0;
/// The only version there has been since JaCoCo 0.7.5.
pub(super) const VERSION: u16 = 0x1007;

/// A block, borrowed from where it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// The format and its version.
    Header,
    /// A run of a JVM, from its start or the last reset to a dump.
    Session(SessionInfo),
    /// What has run of a class.
    Execution(ExecutionRef<'a>),
    /// The end of an answer.
    Done,
}

/// A run of a JVM. They are ordered by the time of the dump, as JaCoCo does.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SessionInfo {
    /// The host's name and eight digits, if the agent was not told otherwise.
    pub id: JavaString,
    /// Milliseconds since the epoch.
    pub start: i64,
    /// Milliseconds since the epoch.
    pub dump: i64,
}

impl Ord for SessionInfo {
    fn cmp(&self, other: &Self) -> Ordering {
        let Self { id, start, dump } = self;
        (dump, start, id).cmp(&(&other.dump, &other.start, &other.id))
    }
}

impl PartialOrd for SessionInfo {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The CRC-64 of a class file: which build of which class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClassId(pub u64);

/// As JaCoCo prints it.
impl fmt::Display for ClassId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// What has run of a class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecutionData {
    /// Which build of the class.
    pub id: ClassId,
    /// As the VM has it: `a/b/C`.
    pub name: JavaString,
    /// What was reached.
    pub probes: Probes,
}

impl ExecutionData {
    /// The same, borrowed.
    pub fn as_ref(&self) -> ExecutionRef<'_> {
        ExecutionRef {
            id: self.id,
            name: self.name.as_java_str(),
            probes: self.probes.as_ref(),
        }
    }
}

/// What has run of a class, borrowed from a stream or a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExecutionRef<'a> {
    /// Which build of the class.
    pub id: ClassId,
    /// As the VM has it: `a/b/C`.
    pub name: JavaStr<'a>,
    /// What was reached.
    pub probes: ProbesRef<'a>,
}

impl ExecutionRef<'_> {
    /// Copies it.
    pub fn to_owned(self) -> ExecutionData {
        ExecutionData {
            id: self.id,
            name: self.name.to_owned(),
            probes: self.probes.to_owned(),
        }
    }
}
