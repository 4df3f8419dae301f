//! TLS, since kubectl sends no token over a connection that anybody can read.

mod identity;
mod stream;
#[cfg(test)]
mod tests;

use std::io;
use std::net::SocketAddr;

use axum::serve::Listener;
use tokio::net::TcpListener;

pub use self::identity::Identity;
use self::stream::TlsStream;

/// Takes connections, which prove themselves as they are first read from.
pub struct TlsListener {
    plain: TcpListener,
    identity: Identity,
}

impl TlsListener {
    /// Puts TLS on a listener.
    pub fn new(plain: TcpListener, identity: Identity) -> Self {
        Self { plain, identity }
    }
}

impl Listener for TlsListener {
    type Io = TlsStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (TlsStream, SocketAddr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.plain).await;
            // Only slower without it.
            let _ = stream.set_nodelay(true);
            if let Ok(stream) = TlsStream::new(&self.identity, stream) {
                return (stream, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.plain.local_addr()
    }
}
