//! Answers.

use axum::body::Body;
use axum::response::Response;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER, USER_AGENT, WARNING};
use http::request::Parts;
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use super::present::Shown;
use super::query;
use crate::error::ApiError;

/// An answer that is yet to be written out.
pub enum Reply {
    /// Text.
    Text(u16, &'static str),
    /// A document, and its type.
    Value(u16, serde_json::Value, &'static str),
    /// A document that is no JSON, and its type.
    Bytes(Vec<u8>, &'static str),
    /// Objects.
    Shown {
        /// HTTP status.
        code: u16,
        /// The objects.
        shown: Shown,
        /// What is told besides.
        warnings: Vec<String>,
    },
    /// A refusal.
    Error(Box<ApiError>),
    /// A watch.
    Stream(Body),
}

impl Reply {
    /// What is said of paths that lead nowhere.
    pub fn nowhere() -> Self {
        Self::Text(404, "404 page not found\n")
    }

    /// The HTTP status.
    pub fn code(&self) -> u16 {
        match self {
            Self::Text(code, _) | Self::Value(code, ..) | Self::Shown { code, .. } => *code,
            Self::Error(error) => error.code,
            Self::Bytes(..) | Self::Stream(_) => 200,
        }
    }

    /// The reason of a refusal; empty for none.
    pub fn reason(&self) -> &'static str {
        match self {
            Self::Error(error) => error.reason,
            _ => "",
        }
    }

    /// Writes it out.
    pub fn response(self, pretty: bool) -> Response {
        let code = self.code();
        let mut retry_after = None;
        let mut told = Vec::new();
        let (kind, body) = match self {
            Self::Text(_, text) => ("text/plain; charset=utf-8", Body::from(text)),
            Self::Value(_, value, kind) => (kind, json(&value, pretty)),
            Self::Bytes(bytes, kind) => (kind, Body::from(bytes)),
            Self::Shown {
                shown, warnings, ..
            } => {
                told = warnings;
                ("application/json", json(&shown, pretty))
            }
            Self::Error(error) => {
                retry_after = error
                    .details
                    .as_ref()
                    .and_then(|details| details.retry_after);
                ("application/json", json(&error.body(), pretty))
            }
            Self::Stream(body) => ("application/json", body),
        };
        let mut response = Response::new(body);
        *response.status_mut() =
            StatusCode::from_u16(code).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache, private"));
        if let Some(seconds) = retry_after {
            headers.insert(RETRY_AFTER, seconds.into());
        }
        for warning in told.iter().filter_map(|warning| header(warning)) {
            headers.append(WARNING, warning);
        }
        response
    }
}

fn json(document: &impl Serialize, pretty: bool) -> Body {
    let written = if pretty {
        serde_json::to_vec_pretty(document)
    } else {
        serde_json::to_vec(document)
    };
    let mut bytes = written.unwrap_or_default();
    bytes.push(b'\n');
    Body::from(bytes)
}

/// A warning as RFC 7234 has it.
fn header(warning: &str) -> Option<HeaderValue> {
    let mut text = String::with_capacity(warning.len());
    for c in warning.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            c if c.is_control() => text.push(' '),
            c => text.push(c),
        }
    }
    HeaderValue::from_bytes(format!("299 - \"{text}\"").as_bytes()).ok()
}

/// Whether the answer is for people: `pretty`, or a browser or the like where that does not say.
pub fn is_pretty(parts: &Parts) -> bool {
    let query = query::parse(parts.uri.query().unwrap_or_default());
    if let Some(pretty) = query.get("pretty") {
        return query::is_on(Some(pretty));
    }
    let agent = parts
        .headers
        .get(USER_AGENT)
        .and_then(|value| value.to_str().ok());
    ["curl", "Wget", "Mozilla/5.0"]
        .iter()
        .any(|program| agent.is_some_and(|agent| agent.starts_with(program)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn warnings_are_quoted() {
        let header = header("a \"b\"\nc\\").unwrap();
        assert_eq!(header.to_str().unwrap(), r#"299 - "a \"b\" c\\""#);
    }
}
