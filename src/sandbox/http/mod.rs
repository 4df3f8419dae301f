//! Serving over HTTP.

mod accept;
mod body;
mod discovery;
mod objects;
mod path;
mod present;
mod query;
mod reply;
mod subresource;
mod target;
mod trail;
mod watch;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use http::request::Parts;

pub use self::body::Yaml;
use self::path::Route;
use self::reply::Reply;
use self::trail::Trail;
use super::Sandbox;
use super::auth::{self, Attributes, Target};
use super::error::ApiError;

/// Answers all requests.
pub fn router(sandbox: Arc<Sandbox>) -> Router {
    Router::new().fallback(answer).with_state(sandbox)
}

async fn answer(State(sandbox): State<Arc<Sandbox>>, request: Request) -> Response {
    let _under_way = sandbox.requests().begin();
    let mut trail = Trail::begin();
    let (parts, body) = request.into_parts();
    let reply = match body::read(body).await {
        Ok(bytes) => serve(&sandbox, &parts, &bytes, &mut trail),
        Err(error) => Err(error),
    };
    let reply = reply.unwrap_or_else(|error| Reply::Error(Box::new(error)));
    if let Some(log) = &sandbox.options().audit {
        trail.write(log, &parts, &reply);
    }
    reply.response(reply::is_pretty(&parts))
}

fn serve(
    sandbox: &Arc<Sandbox>,
    parts: &Parts,
    bytes: &[u8],
    trail: &mut Trail,
) -> Result<Reply, ApiError> {
    let about = path::parse(parts.uri.path());
    if let Route::Objects(place) = about {
        return objects::serve(sandbox, parts, place, bytes, trail);
    }
    let state = sandbox.lock();
    let user = auth::authenticate(&state, &parts.headers)?;
    let user = trail.user.insert(user);
    let verb = trail::verb(&parts.method);
    let attributes = Attributes {
        verb: &verb,
        target: Target::Path(parts.uri.path()),
    };
    let decision = auth::decide(&state, user, &attributes);
    if !trail.decision.insert(decision).allowed {
        return Err(attributes.forbidden(user));
    }
    let kinds = state.kinds.clone();
    drop(state);
    discovery::serve(&kinds, &parts.headers, about)
}

#[cfg(test)]
mod tests;
