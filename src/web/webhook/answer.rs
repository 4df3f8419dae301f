//! What the receiver answers.

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http::header::RETRY_AFTER;

use super::signature::Refusal;
use crate::metrics::WebhookOutcome;

/// An answer to a git server, which shows it to whoever set up the webhook.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// The source will be looked at.
    Accepted,
    /// We are here.
    Pong,
    /// The sender did not prove that it knows the secret.
    Unauthorized(Refusal),
    /// There is no such Sync.
    Unknown,
    /// The body is larger than we read.
    TooLarge,
    /// The body did not come in time.
    TooSlow,
    /// The body broke off.
    Broken,
    /// There were too many triggers before it.
    Limited,
    /// We could not judge or trigger; our log says why.
    Failed,
}

impl Answer {
    /// How it is counted.
    pub(super) fn outcome(self) -> WebhookOutcome {
        match self {
            Self::Accepted => WebhookOutcome::Accepted,
            Self::Pong => WebhookOutcome::Ping,
            Self::Unauthorized(_) => WebhookOutcome::Unauthorized,
            Self::Unknown => WebhookOutcome::Unknown,
            Self::TooLarge | Self::TooSlow | Self::Broken => WebhookOutcome::BadBody,
            Self::Limited => WebhookOutcome::Limited,
            Self::Failed => WebhookOutcome::Failed,
        }
    }

    fn status(self) -> StatusCode {
        match self {
            Self::Accepted => StatusCode::ACCEPTED,
            Self::Pong => StatusCode::OK,
            Self::Unauthorized(_) => StatusCode::UNAUTHORIZED,
            Self::Unknown => StatusCode::NOT_FOUND,
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Self::Broken => StatusCode::BAD_REQUEST,
            Self::Limited => StatusCode::TOO_MANY_REQUESTS,
            Self::Failed => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    fn text(self) -> String {
        match self {
            Self::Accepted => "accepted\n".into(),
            Self::Pong => "pong\n".into(),
            Self::Unauthorized(Refusal::Missing(header)) => {
                format!("there is no {header}: give the webhook a secret\n")
            }
            Self::Unauthorized(Refusal::OtherHash) => "only sha256= signatures count\n".into(),
            Self::Unauthorized(Refusal::Wrong) => "the signature or token is not right\n".into(),
            Self::Unknown => "there is no such Sync\n".into(),
            Self::TooLarge => "the body is larger than 1 MiB\n".into(),
            Self::TooSlow => "the body did not come in time\n".into(),
            Self::Broken => "the body broke off\n".into(),
            Self::Limited => "too many triggers: try again in a second\n".into(),
            Self::Failed => "covergence cannot take webhooks now: see its log\n".into(),
        }
    }
}

impl IntoResponse for Answer {
    fn into_response(self) -> Response {
        let mut response = (self.status(), self.text()).into_response();
        if self == Self::Limited {
            response.headers_mut().insert(RETRY_AFTER, 1.into());
        }
        response
    }
}
