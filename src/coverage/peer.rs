//! Who is asked, and how a connection to it comes about.

use std::fmt;
use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;

/// One JVM with an agent that listens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    /// What people call it: the pod's name, or `host:port`.
    pub name: String,
    /// Where it is.
    pub address: PeerAddress,
}

/// Where an agent listens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum PeerAddress {
    /// Addresses of one and the same listener, tried in this order.
    Sockets(Vec<SocketAddr>),
    /// A port of a pod, reached through the API server.
    Pod {
        /// Its namespace.
        namespace: String,
        /// Its name.
        pod: String,
        /// uid, which tells it from another pod of that name.
        uid: String,
        /// The port that the agent listens on.
        port: u16,
    },
}

impl fmt::Display for PeerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sockets(addresses) => {
                for (at, address) in addresses.iter().enumerate() {
                    let comma = if at == 0 { "" } else { "," };
                    write!(f, "{comma}{address}")?;
                }
                Ok(())
            }
            Self::Pod {
                namespace,
                pod,
                port,
                ..
            } => write!(f, "{namespace}/{pod}:{port}"),
        }
    }
}

/// Makes connections to peers.
pub trait Dial: Send + Sync {
    /// What a connection is.
    type Stream: AsyncRead + AsyncWrite + Send + Unpin;

    /// Connects.
    ///
    /// # Errors
    /// Why there is no connection; the peer is named by whoever tells it.
    fn dial(&self, peer: &Peer) -> impl Future<Output = io::Result<Self::Stream>> + Send;
}

/// Dials addresses, from where we are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Dial for Direct {
    type Stream = TcpStream;

    async fn dial(&self, peer: &Peer) -> io::Result<TcpStream> {
        match &peer.address {
            PeerAddress::Sockets(addresses) => TcpStream::connect(addresses.as_slice()).await,
            PeerAddress::Pod { .. } => Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "its address is not known",
            )),
        }
    }
}
