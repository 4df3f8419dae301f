//! An encrypted connection.

use std::io::{self, Read, Write};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use openssl::ssl::{ErrorCode, SslStream};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

use super::Identity;

/// A connection that is encrypted; who connects has until its first request to prove itself.
pub struct TlsStream(SslStream<Plain>);

/// The connection beneath, as the library wants it: what is not ready says so.
struct Plain(TcpStream);

impl Read for Plain {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.try_read(buffer)
    }
}

impl Write for Plain {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.0.try_write(buffer)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl TlsStream {
    /// Puts encryption on a connection.
    ///
    /// # Errors
    /// Those of the library.
    pub fn new(identity: &Identity, stream: TcpStream) -> io::Result<Self> {
        Ok(Self(SslStream::new(identity.session()?, Plain(stream))?))
    }

    /// Does something as often as it takes until the connection is ready for it.
    fn poll<T>(
        &mut self,
        context: &mut Context<'_>,
        mut attempt: impl FnMut(&mut SslStream<Plain>) -> Result<T, openssl::ssl::Error>,
    ) -> Poll<io::Result<Option<T>>> {
        loop {
            let error = match attempt(&mut self.0) {
                Ok(done) => return Poll::Ready(Ok(Some(done))),
                Err(error) => error,
            };
            let plain = &self.0.get_ref().0;
            match error.code() {
                ErrorCode::WANT_READ => ready!(plain.poll_read_ready(context))?,
                ErrorCode::WANT_WRITE => ready!(plain.poll_write_ready(context))?,
                ErrorCode::ZERO_RETURN => return Poll::Ready(Ok(None)),
                // The other side went without a word.
                ErrorCode::SYSCALL if error.io_error().is_none() => return Poll::Ready(Ok(None)),
                _ => {
                    let error = error.into_io_error().unwrap_or_else(io::Error::other);
                    return Poll::Ready(Err(error));
                }
            }
        }
    }
}

impl AsyncRead for TlsStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = ready!(self.poll(context, |stream| {
            stream.ssl_read(buffer.initialize_unfilled())
        }))?;
        buffer.advance(read.unwrap_or(0));
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for TlsStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        if bytes.is_empty() {
            return Poll::Ready(Ok(0));
        }
        let written = ready!(self.poll(context, |stream| stream.ssl_write(bytes)))?;
        Poll::Ready(Ok(written.unwrap_or(0)))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        // The library holds nothing back.
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        // Says goodbye, and waits for none; to who is gone it cannot be said.
        let _ = ready!(self.poll(context, SslStream::shutdown));
        Pin::new(&mut self.0.get_mut().0).poll_shutdown(context)
    }
}
