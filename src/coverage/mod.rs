//! Execution data of JaCoCo: its format, in files and on the wire, and the union of many.
//!
//! # The format
//!
//! A `.exec` file and what an agent sends over TCP are the same: blocks, one after the other, without lengths or checksums
//! around them. All numbers are big-endian. A block begins with a byte that says what it is:
//!
//! | byte | block | what follows |
//! | --- | --- | --- |
//! | `01` | header | `C0 C0`, then the version: `10 07` for all of JaCoCo since 0.7.5 |
//! | `10` | session | its id (a string), start and time of the dump (milliseconds since the epoch, 8 bytes each) |
//! | `11` | class | its id (8 bytes), its name (a string: `a/b/C`, as the VM has it), its probes |
//! | `20` | done | nothing; ends what an agent answers, and is in no file |
//! | `40` | dump | two booleans: send what there is; begin anew. Only agents are sent it |
//!
//! The first block is a header. Others may come at any block boundary, since agents append to files and files are concatenated.
//!
//! - A *string* is the number of its bytes (2 bytes), then [modified UTF-8](JavaStr).
//! - *Probes* are the number of them as a varint (seven bits a byte, the least first, the high bit set in all bytes but the last),
//!   then a bit for each in as few bytes as hold them, the least significant bit first; what is left of the last byte is zero.
//! - A *class id* is a CRC-64 of the class file, so two builds of a class have two ids, and both are kept.
//! - Classes of which nothing has run are not written.
//!
//! There is no other way to find the end of a block than to read it: `20` and all others occur inside of numbers and names.
//!
//! A file of one session and one class, byte by byte:
//!
//! ```text
//! 01 c0c0 1007                   header
//! 10 0005 7065742d31             session "pet-1"
//!    0000000000000001              started 1 ms after the begin of 1970
//!    0000000000000100              dumped 256 ms after it
//! 11 0123456789abcdef            class 0123456789abcdef
//!    0008 73686f702f506574         named "shop/Pet"
//!    0a 05 02                      10 probes, of which the first, the third and the last were hit
//! ```
//!
//! ```
//! use covergence::coverage::{Limits, ReadError, read_exec};
//!
//! let file = b"\x01\xc0\xc0\x10\x07\
//!     \x10\x00\x05pet-1\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x01\x00\
//!     \x11\x01\x23\x45\x67\x89\xab\xcd\xef\x00\x08shop/Pet\x0a\x05\x02";
//! let store = read_exec(file, &Limits::default())?;
//! let class = store.classes().next().unwrap();
//! assert_eq!(class.name.to_string(), "shop/Pet");
//! assert_eq!((class.probes.count(), class.probes.len()), (3, 10));
//! # Ok::<(), ReadError>(())
//! ```
//!
//! # Talking with an agent
//!
//! An agent with `output=tcpserver` serves one connection at a time. The client sends a header once, and then a dump command as
//! often as it likes; each is answered with the session, the classes and `20`. Before the first answer comes a header: old agents
//! send it as soon as they are connected to, newer ones with the answer, so it must not be waited for. A reply without classes is
//! what an agent has to say right after it began anew. An agent that ends while it is connected to sends a last reply by itself.
//!
//! # The union
//!
//! A probe that was hit anywhere was hit: probes are put together class by class, by id ([`Store`]). What says the same id and
//! another name, or another number of probes, is a [`Mismatch`]: agents of different releases may count differently. It is told,
//! and changes nothing. Sessions are a set as well: the very same one is kept once.
//!
//! # What is refused
//!
//! What was read comes from peers that nobody has to trust. Every [`ProtocolError`] has the byte that it is about; what came before
//! that byte is kept. Nothing is allocated for what was announced, only for what has arrived, and [`Limits`] bound that.

mod agent;
mod block;
mod collect;
mod collected;
mod decode;
pub mod encode;
mod error;
mod file;
mod follow;
mod host;
mod java_string;
mod limits;
mod peer;
mod probes;
#[cfg(test)]
mod property_tests;
mod store;
mod tally;
#[cfg(test)]
mod tests;

pub use self::agent::{Agent, AgentError, Dump};
pub use self::block::{Block, ClassId, ExecutionData, ExecutionRef, SessionInfo};
pub use self::collect::{Collection, Request, collect};
pub use self::collected::{Collected, PodDump, PodFailure, PodResult};
pub use self::decode::{Decoder, Dialect};
pub use self::error::{Fault, ProtocolError, StreamError};
pub use self::file::{LocatedMismatch, ReadError, Taken, read_exec, write_exec};
pub use self::follow::{Followers, News};
pub use self::host::Host;
pub use self::java_string::{JavaStr, JavaString, TooLong};
pub use self::limits::Limits;
pub use self::peer::{Dial, Direct, Peer, PeerAddress};
pub use self::probes::{Probes, ProbesRef};
pub use self::store::{Growth, Mismatch, Store, Summary};
