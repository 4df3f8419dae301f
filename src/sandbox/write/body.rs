//! Reading the object that was sent.

use serde_json::{Map, Value};

use super::key::Write;
use super::metadata::{metadata, text};
use crate::sandbox::crd;
use crate::sandbox::error::ApiError;
use crate::sandbox::kinds;
use crate::sandbox::types::{self, Origin};

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
    if write.custom() && (said_kind.is_empty() || said_version.is_empty()) {
        let (path, version) = (
            &write.kind.version,
            if said_kind.is_empty() {
                "Kind"
            } else {
                "apiVersion"
            },
        );
        return Err(ApiError::bad_request(format!(
            "{kind} in version {path:?} cannot be handled as a {kind}: unmarshalerDecoder: Object '{version}' is missing in '{object}'"
        )));
    }
    if !said_kind.is_empty() && said_kind != *kind {
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
            let unknown = crd::prune(write.kind, object);
            crd::default(write.kind, object);
            Ok(unknown)
        }
        Origin::Assumed => Ok(Unknown::new()),
    }
}

/// The kind of CustomResourceDefinitions.
pub(super) const DEFINITIONS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// Reads what was sent whole, by `POST` or `PUT`; unknown fields are told, or refused, as `fieldValidation` wants it.
pub(super) fn decode(write: &mut Write<'_>) -> Result<Value, ApiError> {
    let mut object = write.request.body.clone();
    identify(write, &mut object)?;
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
