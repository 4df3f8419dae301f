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
mod watch;

use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::response::Response;
use http::request::Parts;

pub use self::body::Yaml;
use self::path::Route;
use self::reply::Reply;
use super::Sandbox;
use super::auth;
use super::error::ApiError;

/// Answers all requests.
pub fn router(sandbox: Arc<Sandbox>) -> Router {
    Router::new().fallback(answer).with_state(sandbox)
}

async fn answer(State(sandbox): State<Arc<Sandbox>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let reply = match body::read(body).await {
        Ok(bytes) => serve(&sandbox, &parts, &bytes),
        Err(error) => Err(error),
    };
    reply
        .unwrap_or_else(|error| Reply::error(&error))
        .response(reply::is_pretty(&parts))
}

fn serve(sandbox: &Arc<Sandbox>, parts: &Parts, bytes: &[u8]) -> Result<Reply, ApiError> {
    match path::parse(parts.uri.path()) {
        Route::Health => Ok(Reply::text(200, "ok")),
        Route::Nowhere => Ok(Reply::nowhere()),
        Route::Objects(place) => objects::serve(sandbox, parts, place, bytes),
        about => {
            let state = sandbox.lock();
            auth::authenticate(&state, &parts.headers)?;
            discovery::serve(&state.kinds, &parts.headers, about)
        }
    }
}

#[cfg(test)]
mod tests;
