//! Bodies of requests.

use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderMap, Method};
use serde_json::Value;

use crate::error::ApiError;
use crate::request::PatchType;
use crate::types::protobuf;

/// As much as the API server takes.
const LIMIT: usize = 3 * 1024 * 1024;
/// A body on loopback is there at once; who sends none is not waited for.
const PATIENCE: Duration = Duration::from_secs(30);

/// Reads YAML, if somebody has given the sandbox what does it; JSON it reads by itself.
pub type Yaml = fn(&str) -> Result<Value, String>;

/// What a body is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// An object, or options, as JSON.
    Json,
    /// An object as YAML.
    Yaml,
    /// An object, or options, in Kubernetes' protobuf encoding.
    Protobuf,
    /// A patch.
    Patch(PatchType),
}

/// Reads all of a body.
///
/// # Errors
/// 413 when it is too large, 400 when it does not come.
pub async fn read(body: Body) -> Result<Bytes, ApiError> {
    let read = axum::body::to_bytes(body, LIMIT);
    let Ok(read) = tokio::time::timeout(PATIENCE, read).await else {
        return Err(ApiError::bad_request(
            "the body of the request did not come",
        ));
    };
    read.map_err(|error| {
        let too_large = std::error::Error::source(&error)
            .is_some_and(|source| source.is::<http_body_util::LengthLimitError>());
        if too_large {
            let message = format!("Request entity too large: limit is {LIMIT}");
            ApiError::new(413, "RequestEntityTooLarge", message)
        } else {
            ApiError::bad_request(format!(
                "the body of the request could not be read: {error}"
            ))
        }
    })
}

/// What a body is, by its `Content-Type`; none is JSON.
///
/// # Errors
/// 415 for what cannot be read.
pub fn format(method: &Method, headers: &HeaderMap) -> Result<Format, ApiError> {
    let kind = headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok());
    let kind = kind
        .unwrap_or_default()
        .split(';')
        .next()
        .unwrap_or_default()
        .trim();
    if method == Method::PATCH {
        let patch = match kind {
            "application/json-patch+json" => PatchType::Json,
            "application/merge-patch+json" => PatchType::Merge,
            "application/strategic-merge-patch+json" => PatchType::Strategic,
            "application/apply-patch+yaml" => PatchType::Apply,
            _ => {
                return Err(unsupported(
                    "application/json-patch+json, application/merge-patch+json, application/strategic-merge-patch+json, application/apply-patch+yaml",
                ));
            }
        };
        return Ok(Format::Patch(patch));
    }
    match kind {
        "" | "application/json" => Ok(Format::Json),
        "application/yaml" => Ok(Format::Yaml),
        "application/vnd.kubernetes.protobuf" => Ok(Format::Protobuf),
        _ => Err(unsupported(
            "application/json, application/yaml, application/vnd.kubernetes.protobuf",
        )),
    }
}

fn unsupported(accepted: &str) -> ApiError {
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {accepted}"
    );
    ApiError::new(415, "UnsupportedMediaType", message)
}

/// Reads a body as what it is; `Null` when it is empty.
///
/// # Errors
/// What is wrong with it.
pub fn parse(format: Format, bytes: &[u8], yaml: Option<Yaml>) -> Result<Value, String> {
    if bytes.is_empty() {
        return Ok(Value::Null);
    }
    match format {
        Format::Yaml | Format::Patch(PatchType::Apply) => {
            // Nearly everybody sends JSON here, which is quicker to read as such.
            serde_json::from_slice(bytes).or_else(|error| {
                let read = match (yaml, std::str::from_utf8(bytes)) {
                    (Some(yaml), Ok(text)) => yaml(text),
                    (Some(_), Err(error)) => Err(error.to_string()),
                    (None, _) => Err(error.to_string()),
                };
                read.map_err(|error| {
                    format!("error decoding YAML: error converting YAML to JSON: {error}")
                })
            })
        }
        Format::Protobuf => protobuf::decode(bytes),
        Format::Json | Format::Patch(_) => {
            serde_json::from_slice(bytes).map_err(|error| format!("json parse error: {error}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(kind: &str) -> HeaderMap {
        HeaderMap::from_iter([(CONTENT_TYPE, kind.parse().unwrap())])
    }

    #[test]
    fn the_format_is_told_by_the_content_type() {
        let format = |method, kind: &str| format(&method, &headers(kind));
        assert_eq!(
            format(Method::POST, "application/json; charset=utf-8"),
            Ok(Format::Json)
        );
        assert_eq!(format(Method::PUT, "application/yaml"), Ok(Format::Yaml));
        assert_eq!(
            format(Method::PATCH, "application/apply-patch+yaml"),
            Ok(Format::Patch(PatchType::Apply))
        );
        assert_eq!(
            format(Method::PATCH, "application/json").unwrap_err().code,
            415
        );
        assert_eq!(
            format(Method::POST, "application/cbor").unwrap_err().code,
            415
        );
    }

    #[tokio::test]
    async fn a_body_beyond_the_limit_is_refused() {
        let read_all = |length| read(Body::from(vec![b' '; length]));
        assert_eq!(read_all(LIMIT).await.map(|bytes| bytes.len()), Ok(LIMIT));
        let error = read_all(LIMIT + 1).await.unwrap_err();
        assert_eq!(
            (error.code, error.message.as_str()),
            (413, "Request entity too large: limit is 3145728")
        );
    }

    #[test]
    fn what_is_applied_may_be_json_or_yaml() {
        fn one(text: &str) -> Result<Value, String> {
            match text {
                "a: 1" => Ok(serde_json::json!({ "a": 1 })),
                _ => Err("no YAML".to_owned()),
            }
        }
        let apply = Format::Patch(PatchType::Apply);
        let json = parse(apply, br#"{"a": 1}"#, None).unwrap();
        assert_eq!(parse(apply, b"a: 1", Some(one)).unwrap(), json);
        assert!(
            parse(apply, b"a: 1", None)
                .unwrap_err()
                .starts_with("error decoding YAML")
        );
        assert!(
            parse(apply, b"a: [", Some(one))
                .unwrap_err()
                .ends_with("no YAML")
        );
        assert!(
            parse(apply, b"\xff", Some(one))
                .unwrap_err()
                .contains("utf-8")
        );
        assert!(
            parse(Format::Json, b"a: 1", Some(one))
                .unwrap_err()
                .starts_with("json parse error")
        );
        assert_eq!(parse(Format::Json, b"", None).unwrap(), Value::Null);
    }
}
