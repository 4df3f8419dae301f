//! Listening, serving, and ending both.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use thiserror::Error;
use tokio::net::TcpListener;
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use super::connection::Bounded;

/// How long requests that are under way at the end may take: well below the 30 s that a pod is given to end.
const GRACE: Duration = Duration::from_secs(5);

/// An address that cannot be listened on.
#[derive(Debug, Error)]
#[error("listen on {address}: {source}")]
pub struct BindError {
    /// The address.
    pub address: SocketAddr,
    /// What the system said.
    pub source: io::Error,
}

impl BindError {
    /// What to do about it, where that is known.
    pub fn hint(&self) -> Option<&'static str> {
        match self.source.kind() {
            io::ErrorKind::AddrInUse => {
                Some("something else listens there: end it, or choose another port")
            }
            io::ErrorKind::AddrNotAvailable => {
                Some("this machine has no such address; 0.0.0.0 and [::] are all it has")
            }
            io::ErrorKind::PermissionDenied => Some(
                "ports below 1024 need a privilege (CAP_NET_BIND_SERVICE): choose a higher one",
            ),
            _ => None,
        }
    }
}

/// Listens on an address; port 0 takes a free one.
///
/// # Errors
/// As the system answers.
pub async fn bind(address: SocketAddr) -> Result<TcpListener, BindError> {
    let listener = TcpListener::bind(address).await;
    listener.map_err(|source| BindError { address, source })
}

/// Serves pages until it is told to stop, and then finishes what is under way for a few seconds.
///
/// # Errors
/// As the system answers.
pub async fn serve(
    listener: TcpListener,
    pages: Router,
    stop: CancellationToken,
) -> io::Result<()> {
    let serving = axum::serve(Bounded::new(listener), pages)
        .with_graceful_shutdown(stop.clone().cancelled_owned());
    let enough = async {
        stop.cancelled().await;
        sleep(GRACE).await;
    };
    tokio::select! {
        ended = serving.into_future() => ended,
        () = enough => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn an_address_that_is_taken_is_named_with_what_to_do() {
        let taken = bind("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let address = taken.local_addr().unwrap();
        let error = bind(address).await.unwrap_err();
        assert!(
            error
                .to_string()
                .starts_with(&format!("listen on {address}: "))
        );
        assert!(error.hint().unwrap().contains("another port"));
    }

    #[test]
    fn a_hint_fits_the_error() {
        let hint = |kind: io::ErrorKind| {
            let address = SocketAddr::from(([127, 0, 0, 1], 80));
            let source = kind.into();
            BindError { address, source }.hint()
        };
        assert!(
            hint(io::ErrorKind::PermissionDenied)
                .unwrap()
                .contains("1024")
        );
        assert!(
            hint(io::ErrorKind::AddrNotAvailable)
                .unwrap()
                .contains("0.0.0.0")
        );
        assert_eq!(hint(io::ErrorKind::OutOfMemory), None);
    }
}
