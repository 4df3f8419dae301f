//! What the API tells of itself.

use http::HeaderMap;
use serde_json::{Value, json};

use super::accept;
use super::path::Route;
use super::reply::Reply;
use crate::error::ApiError;
use crate::types::{Registry, discovery, openapi};

/// Answers a request that is not about objects.
///
/// # Errors
/// 406 for what nothing is there in.
pub fn serve(kinds: &Registry, headers: &HeaderMap, about: Route) -> Result<Reply, ApiError> {
    if about == Route::Health {
        return Ok(Reply::Text(200, "ok"));
    }
    let names = [openapi::protobuf::TYPE, openapi::protobuf::ASKED_FOR];
    if about == Route::OpenApiV2 && names.iter().any(|name| accept::names(headers, name)) {
        let bytes = openapi::protobuf::encode(&openapi::v2(kinds));
        return Ok(Reply::Bytes(bytes, openapi::protobuf::TYPE));
    }
    let aggregated = accept::discovery(headers)?;
    let document = match about {
        Route::Version => Some(version()),
        Route::Legacy | Route::Groups if let Some(version) = aggregated => {
            let all = discovery::aggregated(kinds, about == Route::Legacy, version);
            return Ok(Reply::Value(200, all, list_type(version)));
        }
        Route::Legacy => Some(discovery::versions()),
        Route::Groups => Some(discovery::groups(kinds)),
        Route::Group(group) => discovery::group(kinds, &group),
        Route::Resources(group, version) => discovery::resources(kinds, &group, &version),
        Route::OpenApiV2 => Some(openapi::v2(kinds)),
        Route::OpenApiV3(None) => Some(openapi::v3_index(kinds)),
        Route::OpenApiV3(Some((group, version))) => openapi::v3(kinds, &group, &version),
        Route::Health | Route::Objects(_) | Route::Nowhere => None,
    };
    Ok(document.map_or_else(Reply::nowhere, |document| {
        Reply::Value(200, document, "application/json")
    }))
}
/// The whole type of an answer in one document, by which clients tell it from plain lists.
fn list_type(version: &str) -> &'static str {
    match version {
        "v2" => "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList",
        _ => "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList",
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
        "platform": format!("{}/{}", std::env::consts::OS, std::env::consts::ARCH),
    })
}
