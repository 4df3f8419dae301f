//! Connections to ports of pods through the API server, for whoever cannot reach the pods themselves.

use std::fmt;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use k8s_openapi::api::core::v1::Pod;
use kube::{Api, Client};
use tokio::io::{AsyncRead, AsyncWrite, DuplexStream, ReadBuf};

use super::{Cluster, ClusterError};
use crate::coverage::{Dial, Peer, PeerAddress};

/// Dials pods by their names.
#[derive(Clone)]
pub struct PortForward {
    client: Client,
}

impl fmt::Debug for PortForward {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PortForward").finish_non_exhaustive()
    }
}

impl Cluster {
    /// Makes connections to pods, as the same user.
    ///
    /// # Errors
    /// When there can be no client.
    pub fn port_forward(&self) -> Result<PortForward, ClusterError> {
        let client = self.streaming_client()?;
        Ok(PortForward { client })
    }
}

impl Dial for PortForward {
    type Stream = Forwarded;

    async fn dial(&self, peer: &Peer) -> io::Result<Forwarded> {
        let PeerAddress::Pod {
            namespace,
            pod,
            port,
            ..
        } = &peer.address
        else {
            let message = "only pods are reached through the API server";
            return Err(io::Error::new(io::ErrorKind::Unsupported, message));
        };
        let pods: Api<Pod> = Api::namespaced(self.client.clone(), namespace);
        let forwarded = pods.portforward(pod, &[*port]).await;
        let mut forwarded =
            forwarded.map_err(|error| io::Error::other(ClusterError::from(error)))?;
        let error = forwarded.take_error(*port);
        match (forwarded.take_stream(*port), error) {
            (Some(stream), Some(error)) => Ok(Forwarded {
                stream,
                error: Some(Box::pin(error)),
            }),
            _ => Err(io::Error::other("the port was not forwarded")),
        }
    }
}

type Complaint = Pin<Box<dyn Future<Output = Option<String>> + Send>>;

/// A port of a pod. What the node says of it, that nothing listens for instance, is an error of reading.
pub struct Forwarded {
    stream: DuplexStream,
    error: Option<Complaint>,
}

impl AsyncRead for Forwarded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        if matches!(read, Poll::Ready(Ok(()))) && buffer.filled().len() > before {
            return read;
        }
        if let Some(error) = &mut self.error
            && let Poll::Ready(said) = error.as_mut().poll(context)
        {
            self.error = None;
            if let Some(said) = said {
                return Poll::Ready(Err(io::Error::other(said.trim().to_owned())));
            }
        }
        read
    }
}

impl AsyncWrite for Forwarded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}
