//! Connections that nobody can hold for ever, and only so many of them. `axum::serve` has no such limits of its own.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// Connections at once. Prometheus, the kubelet and a git server need a handful; each may buffer a body of 1 MiB.
const CONNECTIONS: usize = 128;

/// How long a peer may take to send a whole request, and to take a part of the answer. One that sends a byte now and then
/// does not get more of it (CWE-400, "slowloris").
const PATIENCE: Duration = Duration::from_secs(30);

/// A listener whose connections are bounded in time and number; more of them wait in the kernel's backlog.
pub(super) struct Bounded {
    listener: TcpListener,
    free: Arc<Semaphore>,
}

impl Bounded {
    pub(super) fn new(listener: TcpListener) -> Self {
        Self {
            listener,
            free: Arc::new(Semaphore::new(CONNECTIONS)),
        }
    }
}

impl Listener for Bounded {
    type Io = Patient<TcpStream>;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        // Nobody closes the semaphore.
        let place = Arc::clone(&self.free).acquire_owned().await.ok();
        let (stream, peer) = Listener::accept(&mut self.listener).await;
        (Patient::new(stream, place), peer)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A stream that fails when nothing could be written for as long as patience lasts: from its start, or from the last
/// part of an answer, to the first part of the next.
pub(super) struct Patient<S> {
    stream: S,
    deadline: Pin<Box<Sleep>>,
    _place: Option<OwnedSemaphorePermit>,
}

impl<S> Patient<S> {
    fn new(stream: S, place: Option<OwnedSemaphorePermit>) -> Self {
        Self {
            stream,
            deadline: Box::pin(sleep(PATIENCE)),
            _place: place,
        }
    }

    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        match self.deadline.as_mut().poll(cx) {
            Poll::Ready(()) => Err(io::ErrorKind::TimedOut.into()),
            Poll::Pending => Ok(()),
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Patient<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.check(cx)?;
        Pin::new(&mut self.stream).poll_read(cx, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Patient<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        let written = ready!(Pin::new(&mut self.stream).poll_write(cx, bytes))?;
        self.deadline.as_mut().reset(Instant::now() + PATIENCE);
        Poll::Ready(Ok(written))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
    use tokio::time::advance;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_drips_is_left() {
        let (mut peer, ours) = duplex(64);
        let mut ours = Patient::new(ours, None);
        for _ in 0..2 {
            advance(PATIENCE / 3).await;
            peer.write_all(b"x").await.unwrap();
            assert_eq!(ours.read_u8().await.unwrap(), b'x');
        }
        advance(PATIENCE / 3).await;
        peer.write_all(b"x").await.unwrap();
        let error = ours.read_u8().await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_renews_the_patience() {
        let (mut peer, ours) = duplex(64);
        let mut ours = Patient::new(ours, None);
        for _ in 0..4 {
            advance(PATIENCE / 2).await;
            peer.write_all(b"x").await.unwrap();
            assert_eq!(ours.read_u8().await.unwrap(), b'x');
            ours.write_all(b"y").await.unwrap();
            assert_eq!(peer.read_u8().await.unwrap(), b'y');
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_reads_nothing_is_left() {
        let (_peer, ours) = duplex(4);
        let mut ours = Patient::new(ours, None);
        let error = ours.write_all(b"more than fits").await.unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[tokio::test]
    async fn a_connection_more_waits_for_another_to_end() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let mut bounded = Bounded::new(listener);
        bounded.free = Arc::new(Semaphore::new(1));
        let _first = TcpStream::connect(address).await.unwrap();
        let _second = TcpStream::connect(address).await.unwrap();
        let (held, _) = bounded.accept().await;
        assert_eq!(bounded.free.available_permits(), 0);
        assert!(futures_util::poll!(pin!(bounded.accept())).is_pending());
        drop(held);
        bounded.accept().await;
    }
}
