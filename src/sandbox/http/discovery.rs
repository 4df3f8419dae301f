//! What the API tells of itself.

use http::HeaderMap;
use serde_json::{Value, json};

use super::accept;
use super::path::Route;
use super::reply::Reply;
use crate::sandbox::error::ApiError;
use crate::sandbox::types::Registry;

/// Answers a request that is not about objects.
///
/// # Errors
/// 406 for what nothing is there in.
pub fn serve(_kinds: &Registry, headers: &HeaderMap, about: Route) -> Result<Reply, ApiError> {
    if about == Route::Health {
        return Ok(Reply::Text(200, "ok"));
    }
    accept::json(headers)?;
    match about {
        Route::Version => Ok(Reply::Value(200, version())),
        _ => Ok(Reply::nowhere()),
    }
}

/// The version whose behaviour is served; clients take it for what they may ask.
fn version() -> Value {
    json!({
        "major": "1",
        "minor": "33",
        "gitVersion": concat!("v1.33.0+covergence-sandbox-", env!("CARGO_PKG_VERSION")),
        "gitCommit": "",
        "gitTreeState": "clean",
        "buildDate": "1970-01-01T00:00:00Z",
        "goVersion": "",
        "compiler": "rustc",
        "platform": concat!("linux/", "amd64"),
    })
}
