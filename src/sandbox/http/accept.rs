//! In which form somebody wants the answer (`Accept`).

use http::HeaderMap;
use http::header::ACCEPT;

use crate::error::ApiError;
use crate::types::tables::Include;

/// The form of an answer about objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// As they are.
    Whole,
    /// Their metadata (`PartialObjectMetadata`, or its list).
    Metadata {
        /// Whether a list was asked for.
        list: bool,
    },
    /// What `kubectl get` prints, with so much of each object.
    Table(Include),
}

/// The form that is asked for first of those that there are.
///
/// # Errors
/// 406 when there is none.
pub fn form(headers: &HeaderMap, include: Include) -> Result<Form, ApiError> {
    first(headers, |clause| {
        if clause.shape.is_empty() {
            return Some(Form::Whole);
        }
        if clause.group != "meta.k8s.io" || !matches!(clause.version, "v1" | "v1beta1") {
            return None;
        }
        match clause.shape {
            "Table" => Some(Form::Table(include)),
            "PartialObjectMetadata" => Some(Form::Metadata { list: false }),
            "PartialObjectMetadataList" => Some(Form::Metadata { list: true }),
            _ => None,
        }
    })
}

/// How much of each object is wanted in a table (`includeObject`).
///
/// # Errors
/// 400 for what there is no word for.
pub fn include(word: Option<&str>) -> Result<Include, ApiError> {
    match word {
        None | Some("" | "Metadata") => Ok(Include::Metadata),
        Some("None") => Ok(Include::Nothing),
        Some("Object") => Ok(Include::Object),
        Some(other) => Err(ApiError::bad_request(format!(
            "unrecognized includeObject value: {other:?}"
        ))),
    }
}

/// The version of aggregated discovery that is asked for; `None` for the plain lists.
///
/// # Errors
/// 406 when there is nothing of what is asked for.
pub fn discovery(headers: &HeaderMap) -> Result<Option<&str>, ApiError> {
    first(headers, |clause| match clause.shape {
        "" => Some(None),
        "APIGroupDiscoveryList" if clause.group == "apidiscovery.k8s.io" => {
            matches!(clause.version, "v2" | "v2beta1").then_some(Some(clause.version))
        }
        _ => None,
    })
}

/// Whether a type is asked for by its name.
pub fn names(headers: &HeaderMap, wanted: &str) -> bool {
    let values = headers.get_all(ACCEPT).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|clause| clause.trim() == wanted)
}

/// A part of the header that JSON satisfies.
struct Clause<'a> {
    shape: &'a str,
    group: &'a str,
    version: &'a str,
}

fn first<'a, T>(
    headers: &'a HeaderMap,
    choose: impl Fn(&Clause<'a>) -> Option<T>,
) -> Result<T, ApiError> {
    let values = headers.get_all(ACCEPT).iter();
    let mut clauses = values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter(|clause| !clause.trim().is_empty())
        .peekable();
    if clauses.peek().is_none() {
        return choose(&ANY).ok_or_else(not_acceptable);
    }
    clauses
        .find_map(|text| clause(text).as_ref().and_then(&choose))
        .ok_or_else(not_acceptable)
}

/// What no header is.
const ANY: Clause<'static> = Clause {
    shape: "",
    group: "",
    version: "",
};

fn clause(text: &str) -> Option<Clause<'_>> {
    let mut parts = text.split(';').map(str::trim);
    if !matches!(
        parts.next(),
        Some("application/json" | "application/*" | "*/*")
    ) {
        return None;
    }
    let mut clause = ANY;
    for (name, value) in parts.filter_map(|part| part.split_once('=')) {
        match name {
            "as" => clause.shape = value,
            "g" => clause.group = value,
            "v" => clause.version = value,
            _ => {}
        }
    }
    Some(clause)
}

fn not_acceptable() -> ApiError {
    ApiError::new(
        406,
        "NotAcceptable",
        "only the following media types are accepted: application/json",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(accept: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        if !accept.is_empty() {
            headers.insert(ACCEPT, accept.parse().unwrap());
        }
        headers
    }

    #[test]
    fn the_first_form_that_there_is_counts() {
        const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";
        for (accept, expected) in [
            ("", Some(Form::Whole)),
            ("*/*", Some(Form::Whole)),
            ("application/json", Some(Form::Whole)),
            (
                "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
                Some(Form::Table(Include::Metadata)),
            ),
            (
                "application/json;as=Table;v=v9;g=meta.k8s.io,application/json",
                Some(Form::Whole),
            ),
            ("application/json;as=Table;v=v9;g=meta.k8s.io", None),
            (
                "application/json; as=PartialObjectMetadata; g=meta.k8s.io; v=v1",
                Some(Form::Metadata { list: false }),
            ),
            (
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1",
                Some(Form::Metadata { list: true }),
            ),
            (
                "application/vnd.kubernetes.protobuf,application/json;q=0.9",
                Some(Form::Whole),
            ),
            (PROTOBUF, None),
            ("text/html", None),
        ] {
            assert_eq!(
                form(&headers(accept), Include::Metadata).ok(),
                expected,
                "{accept}"
            );
        }
        assert_eq!(
            form(&headers(PROTOBUF), Include::Metadata)
                .unwrap_err()
                .code,
            406
        );
    }

    #[test]
    fn discovery_comes_whole_or_in_pieces() {
        let both = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList,application/json";
        assert_eq!(discovery(&headers(both)).unwrap(), Some("v2beta1"));
        assert_eq!(discovery(&headers("")).unwrap(), None);
        assert_eq!(discovery(&headers("application/json")).unwrap(), None);
        assert_eq!(discovery(&headers("text/html")).unwrap_err().code, 406);
    }
}
