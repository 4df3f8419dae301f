//! Sending a request: as whom, how many at once, for how long, and whether we may still write.

use std::time::Duration;

use backon::{BackoffBuilder, ExponentialBuilder};
use http::header::RETRY_AFTER;
use http::{Request, StatusCode};
use kube::Client;
use kube::core::Status;
use serde::de::DeserializeOwned;
use tokio::time::{Instant, sleep, timeout_at};

use super::{Cluster, ClusterError};
use crate::metrics::ApiVerb;

/// The same as kube-apiserver's own limit for a request.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(60);

/// Between a busy answer and the next try, when the server does not say how long.
const FIRST_PAUSE: Duration = Duration::from_millis(100);

/// The longest such pause.
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

/// Is asked before each try of a write, since others may have taken over what it is for.
pub trait WriteGuard: Send + Sync {
    /// Permits one write, which lasts until the permit is dropped; `None` when we must not write any more.
    fn permit(&self) -> Option<Box<dyn Send>>;
}

/// Is told of every request: verb, and HTTP status of the answer, if there was one.
pub type Observer = dyn Fn(ApiVerb, Option<u16>) + Send + Sync;

impl Cluster {
    /// Sends a request that changes nothing, and again for a while when the server is too busy to answer it.
    pub(super) async fn read<T: DeserializeOwned>(
        &self,
        verb: ApiVerb,
        request: Request<Vec<u8>>,
    ) -> Result<T, ClusterError> {
        let answer = self.answer(verb, request).await?;
        serde_json::from_slice(answer.as_ref()).map_err(|error| unreadable(&error))
    }

    /// The same, and gives the answer as it came.
    pub(super) async fn answer(
        &self,
        verb: ApiVerb,
        request: Request<Vec<u8>>,
    ) -> Result<impl AsRef<[u8]> + use<>, ClusterError> {
        let _in_flight = self.in_flight().await;
        self.send(verb, request, None).await
    }

    /// Sends a request that changes something, if we still may.
    pub(super) async fn write<T: DeserializeOwned>(
        &self,
        verb: ApiVerb,
        request: Request<Vec<u8>>,
    ) -> Result<T, ClusterError> {
        let _in_flight = self.in_flight().await;
        let answer = self.send(verb, request, self.guard.as_deref()).await?;
        serde_json::from_slice(answer.as_ref()).map_err(|error| unreadable(&error))
    }

    async fn in_flight(&self) -> Option<tokio::sync::SemaphorePermit<'_>> {
        // Nobody closes it.
        self.requests.as_ref()?.acquire().await.ok()
    }

    /// Sends a request, and again while the server is too busy to answer it, as long as one request may take.
    ///
    /// Not by kube's own policy, which would send a write again without asking the guard whether it still may.
    async fn send(
        &self,
        verb: ApiVerb,
        mut request: Request<Vec<u8>>,
        guard: Option<&dyn WriteGuard>,
    ) -> Result<impl AsRef<[u8]> + use<>, ClusterError> {
        self.identity.sign(request.headers_mut());
        let deadline = Instant::now() + ANSWER_WITHIN;
        let mut pauses = ExponentialBuilder::default()
            .with_min_delay(FIRST_PAUSE)
            .with_max_delay(LONGEST_PAUSE)
            .with_jitter()
            .without_max_times()
            .build();
        loop {
            // Last of all: waiting may have taken long.
            let permit = match guard {
                Some(guard) => Some(guard.permit().ok_or(ClusterError::NotOurs)?),
                None => None,
            };
            let exchange = exchange(&self.client, request.clone());
            let Exchange {
                status,
                retry_after,
                answer,
            } = timeout_at(deadline, exchange)
                .await
                .unwrap_or_else(|_| Exchange::none());
            drop(permit);
            self.observe(verb, status.map(|status| status.as_u16()));
            let pause = status.filter(|status| is_busy(*status)).and_then(|_| {
                let pause = retry_after.or_else(|| pauses.next())?;
                (Instant::now() + pause < deadline).then_some(pause)
            });
            match pause {
                Some(pause) => sleep(pause).await,
                None => return answer,
            }
        }
    }

    pub(super) fn observe(&self, verb: ApiVerb, status: Option<u16>) {
        if let Some(observer) = &self.observer {
            observer(verb, status);
        }
    }
}

/// What became of one try.
struct Exchange<T> {
    /// The HTTP status, if there was an answer.
    status: Option<StatusCode>,
    /// When the server wants to be asked again.
    retry_after: Option<Duration>,
    /// What was answered.
    answer: Result<T, ClusterError>,
}

impl<T> Exchange<T> {
    /// There was no answer in time.
    fn none() -> Self {
        let seconds = ANSWER_WITHIN.as_secs();
        let error = ClusterError::Unavailable(format!("no good answer within {seconds} s"));
        Self::failed(error)
    }

    fn failed(error: ClusterError) -> Self {
        Self {
            status: None,
            retry_after: None,
            answer: Err(error),
        }
    }
}

/// Tries once.
///
/// Not by `Client::request`, which logs whole answers that it cannot read: they may be Secrets.
async fn exchange(
    client: &Client,
    request: Request<Vec<u8>>,
) -> Exchange<impl AsRef<[u8]> + use<>> {
    let response = match client.send(request.map(Into::into)).await {
        Ok(response) => response,
        Err(error) => return Exchange::failed(error.into()),
    };
    let status = response.status();
    let retry_after = response.headers().get(RETRY_AFTER);
    let seconds = retry_after.and_then(|value| value.to_str().ok()?.parse().ok());
    Exchange {
        status: Some(status),
        retry_after: seconds.map(Duration::from_secs),
        answer: match response.into_body().collect_bytes().await {
            Ok(body) if is_refusal(status) => Err(refusal(status, &body).into()),
            Ok(body) => Ok(body),
            Err(error) => Err(error.into()),
        },
    }
}

/// Tells whether the same request may succeed a moment later.
fn is_busy(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::TOO_MANY_REQUESTS
            | StatusCode::SERVICE_UNAVAILABLE
            | StatusCode::GATEWAY_TIMEOUT
    )
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
