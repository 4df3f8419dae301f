//! The client of one agent.

use std::io;
use std::time::Duration;

use thiserror::Error;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::time::timeout;

use super::{Block, Decoder, Dialect, Fault, Limits, ProtocolError, Store, Taken, encode};

/// As much as is read at once.
const CHUNK: usize = 16 << 10;

/// A connection to an agent. Commands may be sent before the answers to earlier ones have been read.
///
/// The agent's header is not waited for: old agents send it as soon as they serve us, newer ones with the first answer.
pub struct Agent<S> {
    stream: S,
    decoder: Decoder,
    chunk: Box<[u8]>,
    limits: Limits,
    greeted: bool,
    /// Where the group of blocks begins that is read now.
    begin: u64,
    /// Where what has arrived ends.
    end: u64,
}

/// What has come from a peer.
#[derive(Debug, Default)]
pub struct Dump {
    /// Sessions and classes.
    pub store: Store,
    /// Classes that the peer itself told in two ways, of which the first counts.
    pub taken: Taken,
}

/// Why a dump is not there, or not all of it.
#[derive(Debug, Error)]
pub enum AgentError {
    /// There is no connection.
    #[error("cannot connect: {0}")]
    Connect(io::Error),
    /// There is no connection in time.
    #[error("no connection within {}", seconds(*.0))]
    ConnectLate(Duration),
    /// Nothing has come for a while.
    #[error("nothing came for {}: an agent serves one connection at a time, perhaps another collector has it", seconds(*.0))]
    Silent(Duration),
    /// It has not come to its end in time.
    #[error("the dump did not end within {}", seconds(*.0))]
    Late(Duration),
    /// The connection ended too soon.
    #[error("closed before the end of the dump")]
    Closed,
    /// The connection ended without the data that an agent sends when its JVM ends.
    #[error("killed, or cut off for good: what ran in the last {} is lost", seconds(*.0))]
    Killed(Duration),
    /// The connection takes no command any more.
    #[error("the connection broke: {0}")]
    Unasked(io::Error),
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(io::Error),
    /// It says what no agent says.
    #[error("{0}")]
    Protocol(#[from] ProtocolError),
    /// What it had is collected already.
    #[error("it is collected, but has not begun anew: {0}")]
    NotReset(Box<AgentError>),
    /// What all peers have sent would take too much memory.
    #[error("all dumps together take more than {} MiB of memory", .0 >> 20)]
    Full(usize),
}

impl AgentError {
    /// The word for what is lost.
    pub(super) const KILLED: &str = "Killed";

    /// One word for it, for programs.
    #[must_use]
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Connect(_) | Self::ConnectLate(_) => "Unreachable",
            Self::Silent(_) | Self::Late(_) => "Timeout",
            Self::Closed | Self::Broken(_) | Self::Unasked(_) => "Closed",
            Self::Killed(_) => Self::KILLED,
            Self::Protocol(_) => "Protocol",
            Self::Full(_) => "TooMuch",
            Self::NotReset(_) => "NotReset",
        }
    }
}

fn seconds(duration: Duration) -> String {
    // Tenths are enough for people.
    let tenths = duration.as_millis().div_ceil(100);
    match tenths % 10 {
        0 => format!("{} s", tenths / 10),
        rest => format!("{}.{rest} s", tenths / 10),
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> Agent<S> {
    /// Takes a connection over; sends nothing yet.
    pub fn new(stream: S, limits: &Limits) -> Self {
        // Bytes are counted by the answer, however long the connection lives.
        let endless = Limits {
            bytes: u64::MAX,
            ..limits.clone()
        };
        Self {
            stream,
            decoder: Decoder::new(Dialect::Agent, endless),
            chunk: vec![0; CHUNK].into(),
            limits: limits.clone(),
            greeted: false,
            begin: 0,
            end: 0,
        }
    }

    /// Asks for all that the agent has, and perhaps to begin anew: the agent does both in one.
    ///
    /// # Errors
    /// When the connection takes nothing any more.
    pub async fn ask(&mut self, reset: bool, silence: Duration) -> Result<(), AgentError> {
        let mut request = Vec::new();
        if !self.greeted {
            request.extend(encode::header());
        }
        request.extend(encode::dump_command(true, reset));
        let sent = async {
            self.stream.write_all(&request).await?;
            self.stream.flush().await
        };
        match timeout(silence, sent).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => return Err(AgentError::Unasked(error)),
            Err(_) => return Err(AgentError::Silent(silence)),
        }
        self.greeted = true;
        Ok(())
    }

    /// Waits until an answer begins, or what is sent unasked; `false` when the agent has closed the connection instead. Nothing is
    /// lost when this is given up. A header that stands alone is no begin: old agents send it before they are asked.
    ///
    /// # Errors
    /// When the connection breaks.
    pub async fn wait(&mut self) -> Result<bool, AgentError> {
        let header = match self.begin {
            0 => encode::header().len() as u64,
            _ => 0,
        };
        while self.end - self.decoder.offset() <= header {
            if !self.receive().await? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Reads an answer, or what the agent sends unasked when its JVM ends. What came before an error is in `into`.
    ///
    /// # Errors
    /// When it does not come to an end.
    pub async fn read(
        &mut self,
        into: &mut Dump,
        silence: Duration,
        total: Duration,
    ) -> Result<(), AgentError> {
        let read = async {
            while !self.take(into)? {
                let received = timeout(silence, self.receive()).await;
                if !received.map_err(|_| AgentError::Silent(silence))?? {
                    return Err(AgentError::Closed);
                }
            }
            Ok(())
        };
        let read = timeout(total, read).await;
        read.map_err(|_| AgentError::Late(total))?
    }

    /// Receives some more; `false` when there is no more. A read that is given up has taken nothing.
    async fn receive(&mut self) -> Result<bool, AgentError> {
        let count = match self.stream.read(&mut self.chunk).await {
            Ok(count) => count,
            // So it ends when a command was not read that had been sent.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => 0,
            Err(error) => return Err(AgentError::Broken(error)),
        };
        let bytes = self.chunk.get(..count).unwrap_or_default();
        self.end += count as u64;
        self.decoder.push(bytes)?;
        Ok(count > 0)
    }

    /// Takes the blocks that have arrived, up to the end of the group; `true` when that was among them.
    fn take(&mut self, into: &mut Dump) -> Result<bool, AgentError> {
        loop {
            let offset = self.decoder.offset();
            if offset - self.begin > self.limits.bytes {
                let fault = Fault::TooMany {
                    what: "bytes",
                    count: offset - self.begin,
                    limit: self.limits.bytes,
                };
                return Err(ProtocolError { offset, fault }.into());
            }
            let Some((offset, block)) = self.decoder.next_block()? else {
                return Ok(false);
            };
            if block == Block::Done {
                break;
            }
            let Dump { store, taken } = into;
            store.take_block(offset, block, &self.limits, taken)?;
        }
        self.begin = self.decoder.offset();
        Ok(true)
    }
}
