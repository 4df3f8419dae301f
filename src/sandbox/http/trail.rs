//! What the audit log tells of a request.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use http::Method;
use http::header::USER_AGENT;
use http::request::Parts;
use jiff::Timestamp;

use super::path::Place;
use super::query;
use super::reply::Reply;
use crate::auth::audit::{Event, Log};
use crate::auth::{Attributes, Decision, Target};
use crate::request::User;

/// What is known of a request so far.
pub struct Trail {
    received: Timestamp,
    /// Who sent it.
    pub user: Option<User>,
    /// Which objects it is about, and the selector of their fields.
    pub about: Option<(Place, Option<String>)>,
    /// Whether that is allowed.
    pub decision: Option<Decision>,
}

impl Trail {
    /// Nothing is known yet.
    pub fn begin() -> Self {
        Self {
            received: Timestamp::now(),
            user: None,
            about: None,
            decision: None,
        }
    }

    /// Writes it down, with what became of it.
    pub fn write(&self, log: &Log, parts: &Parts, reply: &Reply) {
        let verb = verb(&parts.method);
        let attributes = match &self.about {
            Some((place, selector)) => attributes(parts, place, selector.as_deref()),
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
            version: self.about.as_ref().map_or("", |(place, _)| &place.version),
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

/// What is done with objects, known before it is known whether there is such a kind.
pub fn attributes<'a>(
    parts: &'a Parts,
    place: &'a Place,
    selector: Option<&'a str>,
) -> Attributes<'a> {
    let query = parts.uri.query().unwrap_or_default();
    let verb = match (&parts.method, &place.name) {
        (&Method::POST, _) => "create",
        (&Method::PUT, _) => "update",
        (&Method::PATCH, _) => "patch",
        (&Method::DELETE, Some(_)) => "delete",
        (&Method::DELETE, None) => "deletecollection",
        (_, Some(_)) => "get",
        (_, None) if query::is_on(query::parse(query).get("watch").map(String::as_str)) => "watch",
        (_, None) => "list",
    };
    Attributes {
        verb,
        target: Target::objects(
            &place.group,
            &place.plural,
            place.subresource.as_deref(),
            place.namespace.as_deref(),
            place.name.as_deref(),
            selector,
        ),
    }
}

/// What is done with a path that is about no objects.
pub fn verb(method: &Method) -> String {
    method.as_str().to_ascii_lowercase()
}
