//! Sending a request: as whom, how many at once, for how long, and whether we may still write.

use std::time::Duration;

use http::{Request, StatusCode};
use kube::Client;
use kube::core::Status;
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::{Cluster, ClusterError};

/// The same as kube-apiserver's own limit for a request.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// What a request does, in the word that roles use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    List,
    Watch,
    Patch,
    Delete,
}

impl Verb {
    fn word(self) -> &'static str {
        match self {
            Self::Get => "get",
            Self::List => "list",
            Self::Watch => "watch",
            Self::Patch => "patch",
            Self::Delete => "delete",
        }
    }
}

/// Is asked before every write, since others may have taken over what it is for.
pub trait WriteGuard: Send + Sync {
    /// Permits one write, which lasts until the permit is dropped; `None` when we must not write any more.
    fn permit(&self) -> Option<Box<dyn Send>>;
}

/// Is told of every request: verb, and HTTP code of the answer, or 0 when there was none.
pub type Observer = dyn Fn(&str, u16) + Send + Sync;

impl Cluster {
    /// Sends a request that changes nothing, and again for a while when the server is too busy to answer it.
    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        verb: Verb,
        request: Request<Vec<u8>>,
    ) -> Result<T, ClusterError> {
        let answer = self.answer(verb, request).await?;
        serde_json::from_slice(answer.as_ref()).map_err(|error| unreadable(&error))
    }

    /// The same, and gives the answer as it came.
    pub(super) async fn answer(
        &self,
        verb: Verb,
        request: Request<Vec<u8>>,
    ) -> Result<impl AsRef<[u8]> + use<>, ClusterError> {
        let _in_flight = self.in_flight().await;
        self.send(verb, request).await
    }

    /// Sends a request that changes something, if we still may.
    pub(super) async fn write<T: DeserializeOwned>(
        &self,
        verb: Verb,
        request: Request<Vec<u8>>,
    ) -> Result<T, ClusterError> {
        let _in_flight = self.in_flight().await;
        // Last of all: waiting for the others may have taken long.
        let _permit = match &self.guard {
            Some(guard) => Some(guard.permit().ok_or(ClusterError::NotOurs)?),
            None => None,
        };
        let answer = self.send(verb, request).await?;
        serde_json::from_slice(answer.as_ref()).map_err(|error| unreadable(&error))
    }

    async fn in_flight(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        // Nobody closes it.
        self.requests.as_ref()?.acquire().await.ok()
    }

    /// Limits how long a request may take with all its repetitions: kube's own policy tries for minutes.
    async fn send(
        &self,
        verb: Verb,
        mut request: Request<Vec<u8>>,
    ) -> Result<impl AsRef<[u8]> + use<>, ClusterError> {
        self.identity.sign(request.headers_mut());
        let (code, answer) = match timeout(ANSWER_WITHIN, exchange(&self.client, request)).await {
            Ok((code, answer)) => (code, answer),
            Err(_) => {
                let seconds = ANSWER_WITHIN.as_secs();
                let error = ClusterError::Unavailable(format!("no good answer within {seconds} s"));
                (0, Err(error))
            }
        };
        self.observe(verb, code);
        answer
    }

    pub(super) fn observe(&self, verb: Verb, code: u16) {
        if let Some(observer) = &self.observer {
            observer(verb.word(), code);
        }
    }
}

/// Gives the HTTP code, or 0 without an answer, and what was answered.
///
/// Not by `Client::request`, which logs whole answers that it cannot read: they may be Secrets.
async fn exchange(
    client: &Client,
    request: Request<Vec<u8>>,
) -> (u16, Result<impl AsRef<[u8]> + use<>, ClusterError>) {
    let response = match client.send(request.map(Into::into)).await {
        Ok(response) => response,
        Err(error) => return (0, Err(error.into())),
    };
    let status = response.status();
    let answer = match response.into_body().collect_bytes().await {
        Ok(body) if is_refusal(status) => Err(refusal(status, &body).into()),
        Ok(body) => Ok(body),
        Err(error) => Err(error.into()),
    };
    (status.as_u16(), answer)
}

fn is_refusal(status: StatusCode) -> bool {
    status.is_client_error() || status.is_server_error()
}

/// What the server says; a proxy in between does not say it as a `Status`.
fn refusal(status: StatusCode, body: &[u8]) -> Status {
    serde_json::from_slice(body).unwrap_or_else(|_| {
        let text = String::from_utf8_lossy(body);
        Status::failure(text.trim(), "NotAStatus").with_code(status.as_u16())
    })
}

/// The server may do better next time; what it sent is not told, since it may be a Secret.
pub(super) fn unreadable(error: &serde_json::Error) -> ClusterError {
    ClusterError::Unavailable(format!(
        "its answer cannot be read (line {}, column {})",
        error.line(),
        error.column()
    ))
}
