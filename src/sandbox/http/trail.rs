//! What the audit log tells of a request.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use http::Method;
use http::header::USER_AGENT;
use http::request::Parts;
use jiff::Timestamp;

use super::reply::Reply;
use crate::sandbox::auth::audit::{Event, Log};
use crate::sandbox::auth::{Attributes, Decision, Target};
use crate::sandbox::request::{Request, User};

/// What is known of a request so far.
pub struct Trail {
    received: Timestamp,
    /// Who sent it.
    pub user: Option<User>,
    /// What it asks of objects.
    pub request: Option<Request>,
    /// Whether that is allowed.
    pub decision: Option<Decision>,
}

impl Trail {
    /// Nothing is known yet.
    pub fn begin() -> Self {
        Self {
            received: Timestamp::now(),
            user: None,
            request: None,
            decision: None,
        }
    }

    /// Writes it down, with what became of it.
    pub fn write(&self, log: &Log, parts: &Parts, reply: &Reply) {
        let verb = verb(&parts.method);
        let attributes = match &self.request {
            Some(request) => Attributes::of(request),
            None => Attributes {
                verb: &verb,
                target: Target::Path(parts.uri.path()),
            },
        };
        let sender = parts.extensions.get::<ConnectInfo<SocketAddr>>();
        let address = sender.map(|ConnectInfo(address)| address.ip().to_string());
        let agent = parts
            .headers
            .get(USER_AGENT)
            .and_then(|value| value.to_str().ok());
        let event = Event {
            uri: parts
                .uri
                .path_and_query()
                .map_or("", |whole| whole.as_str()),
            attributes,
            version: self
                .request
                .as_ref()
                .map_or("", |request| &request.kind.version),
            user: self.user.as_ref(),
            agent: agent.unwrap_or_default(),
            address: address.as_deref().unwrap_or_default(),
            code: reply.code(),
            reason: reply.reason(),
            decision: self.decision.as_ref(),
            received: self.received,
        };
        // A full disk is no reason to answer nothing.
        let _ = log.write(&event);
    }
}

/// What is done with a path that is about no objects.
pub fn verb(method: &Method) -> String {
    method.as_str().to_ascii_lowercase()
}
