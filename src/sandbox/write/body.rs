//! Reading the object that was sent.

use std::sync::{Arc, LazyLock};

use serde_json::{Map, Value, json};

use super::key::Write;
use super::metadata::{metadata, text};
use crate::crd;
use crate::error::{ApiError, Cause};
use crate::kinds;
use crate::types::{self, Kind, Origin};

/// Checks that an object is of the kind of the path, and says so in it where it says nothing itself.
pub(super) fn identify(write: &Write<'_>, object: &mut Value) -> Result<(), ApiError> {
    let kind = &write.kind.kind;
    if !object.is_object() {
        return Err(ApiError::bad_request(format!(
            "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: {object} is no object"
        )));
    }
    let said_kind = text(object, "kind").to_owned();
    let said_version = text(object, "apiVersion").to_owned();
    let version = said_version.rsplit('/').next().unwrap_or_default();
    let missing = [("Kind", &said_kind), ("apiVersion", &said_version)];
    if let Some((field, _)) = missing.iter().find(|(_, said)| said.is_empty())
        && write.custom()
    {
        return Err(ApiError::bad_request(format!(
            "{kind} in version {:?} cannot be handled as a {kind}: unmarshalerDecoder: Object '{field}' is missing in '{object}'",
            write.kind.version
        )));
    }
    if !said_kind.is_empty() && said_kind != *kind {
        if write.custom() {
            return Err(other_kind(write, object));
        }
        return Err(ApiError::bad_request(format!(
            "{said_kind} in version {version:?} cannot be handled as a {kind}: converting ({version}.{said_kind}) to ({}.{kind}): unknown conversion",
            match write.kind.group.as_str() {
                "" => "core",
                group => group.split('.').next().unwrap_or_default(),
            }
        )));
    }
    if !said_version.is_empty() && said_version != write.api_version {
        return Err(ApiError::bad_request(format!(
            "the API version in the data ({said_version}) does not match the expected API version ({})",
            write.api_version
        )));
    }
    name_kind(write, object);
    Ok(())
}

/// 422 for an object that says it is of another kind than that of its definition.
pub(super) fn other_kind(write: &Write<'_>, object: &Value) -> ApiError {
    let said = text(object, "kind");
    let cause = Cause {
        reason: "FieldValueInvalid",
        message: format!("Invalid value: {said:?}: must be {}", write.kind.kind),
        field: "kind".to_owned(),
    };
    let name = text(metadata(object), "name");
    ApiError::invalid(&write.kind.group, said, name, vec![cause])
}

/// Says in an object of what kind it is, and gives it metadata.
pub(super) fn name_kind(write: &Write<'_>, object: &mut Value) {
    if let Some(fields) = object.as_object_mut() {
        let Write {
            kind, api_version, ..
        } = write;
        fields.insert("kind".to_owned(), kind.kind.as_str().into());
        fields.insert("apiVersion".to_owned(), api_version.as_str().into());
        if !fields.get("metadata").is_some_and(Value::is_object) {
            fields.insert("metadata".to_owned(), Map::new().into());
        }
    }
}

/// Checks an object's namespace against the path's, and sets it.
pub(super) fn place(write: &Write<'_>, object: &mut Value) -> Result<(), ApiError> {
    let said = text(metadata(object), "namespace").to_owned();
    let namespace = write.key.namespace.as_str();
    let Some(fields) = object.get_mut("metadata").and_then(Value::as_object_mut) else {
        return Ok(());
    };
    if !write.kind.namespaced {
        fields.remove("namespace");
        return Ok(());
    }
    if said.is_empty() {
        fields.insert("namespace".to_owned(), namespace.into());
    } else if said != namespace {
        return Err(ApiError::bad_request(
            "the namespace of the provided object does not match the namespace sent on the request",
        ));
    }
    Ok(())
}

/// What reading an object found: fields that its kind does not have.
pub(super) type Unknown = Vec<String>;

/// Reads an object as its kind, and adds defaults; `Err` says what cannot be read.
pub(super) fn read(write: &Write<'_>, object: &mut Value) -> Result<Unknown, String> {
    match write.kind.origin {
        Origin::BuiltIn => {
            let unknown = types::read(write.kind, object)?.unknown;
            kinds::default(write.kind, object);
            if &*write.key.resource == DEFINITIONS {
                crd::default_definition(object);
            }
            Ok(unknown)
        }
        Origin::Custom(_) => {
            read_metadata(write, object)?;
            let unknown = crd::prune(write.kind, object);
            crd::default(write.kind, object);
            Ok(unknown)
        }
        Origin::Assumed => Ok(Unknown::new()),
    }
}

/// Reads the metadata of a custom object, which is of the same type as that of any other.
fn read_metadata(write: &Write<'_>, object: &mut Value) -> Result<(), String> {
    static ANY: LazyLock<Option<Arc<Kind>>> =
        LazyLock::new(|| types::built_in().of("v1", "ConfigMap").cloned());
    let (Some(any), Some(metadata)) = (&*ANY, object.get_mut("metadata")) else {
        return Ok(());
    };
    let mut alone = json!({ "metadata": metadata.take() });
    let read = types::read(any, &mut alone);
    if let Some(read) = alone.get_mut("metadata") {
        *metadata = read.take();
    }
    let Kind { kind, version, .. } = &**write.kind;
    read.map(drop).map_err(|why| {
        let why = why
            .split_once(" as a ConfigMap: ")
            .map_or(&*why, |(_, why)| why);
        format!("{kind} in version {version:?} cannot be handled as a {kind}: {why}")
    })
}

/// The kind of CustomResourceDefinitions.
pub(super) const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Reads what was sent whole, by `POST` or `PUT`, without the status that it cannot set; unknown fields are told, or refused,
/// as `fieldValidation` wants it.
pub(super) fn decode(write: &mut Write<'_>) -> Result<Value, ApiError> {
    let mut object = write.request.body.clone();
    identify(write, &mut object)?;
    if write.kind.status
        && write.subresource().is_empty()
        && !kinds::keeps_status(write.kind)
        && let Some(fields) = object.as_object_mut()
    {
        fields.remove("status");
    }
    let kind = write.kind.clone();
    let (kind, version) = (&kind.kind, &kind.version);
    let handled = |why: &str| {
        ApiError::bad_request(format!(
            "{kind} in version {version:?} cannot be handled as a {kind}: {why}"
        ))
    };
    let unknown = read(write, &mut object).map_err(ApiError::bad_request)?;
    validate_fields(write, &unknown).map_err(|why| handled(&why))?;
    Ok(object)
}

/// Tells of unknown fields, or refuses them, as `fieldValidation` wants it.
pub(super) fn validate_fields(write: &mut Write<'_>, unknown: &[String]) -> Result<(), String> {
    let said = unknown
        .iter()
        .map(|field| format!("unknown field {field:?}"));
    match write.request.parameter("fieldValidation") {
        Some("Strict") if !unknown.is_empty() => {
            let said: Vec<String> = said.collect();
            Err(format!("strict decoding error: {}", said.join(", ")))
        }
        Some("Ignore") => Ok(()),
        _ => {
            write.warnings.extend(said);
            Ok(())
        }
    }
}
