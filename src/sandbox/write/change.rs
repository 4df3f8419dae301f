//! What is common to all ways of changing an object.

use std::sync::Arc;

use serde_json::{Map, Value};

use super::delete;
use super::key::Write;
use super::lifecycle;
use super::metadata::{self, metadata, text};
use super::rules;
use crate::auth;
use crate::error::{ApiError, Cause};
use crate::kinds;
use crate::state::State;

/// What the API server says when somebody was faster.
const MODIFIED: &str =
    "the object has been modified; please apply your changes to the latest version and try again";

/// Kinds of Kubernetes whose objects are only replaced by who knows their version.
const VERSIONED: [&str; 10] = [
    "apiservices.apiregistration.k8s.io",
    "csidrivers.storage.k8s.io",
    "csinodes.storage.k8s.io",
    "customresourcedefinitions.apiextensions.k8s.io",
    "leases.coordination.k8s.io",
    "mutatingwebhookconfigurations.admissionregistration.k8s.io",
    "poddisruptionbudgets.policy",
    "runtimeclasses.node.k8s.io",
    "validatingwebhookconfigurations.admissionregistration.k8s.io",
    "volumeattachments.storage.k8s.io",
];

/// Holds the uid and the resource version that an object was sent with against those of the stored one.
pub(super) fn precede(write: &Write<'_>, old: &Value, new: &Value) -> Result<(), ApiError> {
    let (is, wanted) = (text(metadata(old), "uid"), text(metadata(new), "uid"));
    if !wanted.is_empty() && wanted != is {
        let Write { kind, key, .. } = write;
        let place = match key.namespace.as_str() {
            "" => key.name.clone(),
            namespace => format!("{namespace}/{}", key.name),
        };
        return Err(write.conflict(&format!(
            "StorageError: invalid object, Code: 4, Key: /registry/{}/{place}, ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: {wanted}, UID in object meta: {is}",
            kind.plural
        )));
    }
    if matches!(text(metadata(new), "resourceVersion"), "" | "0")
        && (write.custom() || VERSIONED.contains(&&*write.key.resource))
    {
        return Err(unversioned(write));
    }
    at_version(write, old, new)
}

/// Holds the same of a patch, which need not have a version, against those of the object that it changes.
pub(super) fn precede_patch(write: &Write<'_>, old: &Value, new: &Value) -> Result<(), ApiError> {
    at_version(write, old, new)?;
    let (is, wanted) = (text(metadata(old), "uid"), text(metadata(new), "uid"));
    if wanted.is_empty() || wanted == is {
        return Ok(());
    }
    let cause = Cause {
        reason: "FieldValueInvalid",
        message: format!("Invalid value: {wanted:?}: field is immutable"),
        field: "metadata.uid".to_owned(),
    };
    Err(write.invalid(vec![cause]))
}

fn at_version(write: &Write<'_>, old: &Value, new: &Value) -> Result<(), ApiError> {
    let is = text(metadata(old), "resourceVersion");
    let wanted = text(metadata(new), "resourceVersion");
    if matches!(wanted, "" | "0") || wanted == is {
        return Ok(());
    }
    if wanted.parse::<u64>().is_err() {
        let why = format!("strconv.ParseUint: parsing {wanted:?}: invalid syntax");
        return Err(ApiError::new(500, "", why));
    }
    Err(write.conflict(MODIFIED))
}

fn unversioned(write: &Write<'_>) -> ApiError {
    let cause = Cause {
        reason: "FieldValueInvalid",
        message: "Invalid value: 0x0: must be specified for an update".to_owned(),
        field: "metadata.resourceVersion".to_owned(),
    };
    let Write { kind, key, .. } = write;
    ApiError::invalid(&kind.group, &kind.plural, &key.name, vec![cause])
}

/// Carries over from the old object what the endpoint does not change.
pub(super) fn keep(write: &Write<'_>, old: &Value, new: &mut Value) {
    metadata::keep(old, new);
    let (Some(new), Some(old)) = (new.as_object_mut(), old.as_object()) else {
        return;
    };
    if let Some(version) = old.get("apiVersion") {
        new.insert("apiVersion".to_owned(), version.clone());
    }
    match write.subresource() {
        "status" => keep_all_but_status(write, old, new),
        "finalize" => {
            let finalizers = new
                .get("spec")
                .and_then(|spec| spec.get("finalizers"))
                .cloned();
            keep_field("spec", old, new);
            keep_field("status", old, new);
            let spec = new.get_mut("spec").and_then(Value::as_object_mut);
            if let Some(spec) = spec {
                match finalizers {
                    Some(finalizers) => spec.insert("finalizers".to_owned(), finalizers),
                    None => spec.remove("finalizers"),
                };
            }
        }
        _ if write.kind.status => keep_field("status", old, new),
        _ => {}
    }
}

fn keep_all_but_status(write: &Write<'_>, old: &Map<String, Value>, new: &mut Map<String, Value>) {
    new.retain(|field, _| matches!(field.as_str(), "metadata" | "status"));
    for (field, value) in old {
        if !matches!(field.as_str(), "metadata" | "status") {
            new.insert(field.clone(), value.clone());
        }
    }
    if !write.custom() {
        let kept = match &*write.key.resource {
            "deployments.apps" => "labels",
            "pods" => "ownerReferences",
            _ => return,
        };
        let old = old.get("metadata").and_then(Value::as_object);
        let new = new.get_mut("metadata").and_then(Value::as_object_mut);
        if let (Some(old), Some(new)) = (old, new) {
            keep_field(kept, old, new);
        }
    } else {
        let managed = new
            .get_mut("metadata")
            .and_then(Value::as_object_mut)
            .and_then(|fields| fields.remove("managedFields"));
        keep_field("metadata", old, new);
        if let Some(fields) = new.get_mut("metadata").and_then(Value::as_object_mut)
            && let Some(managed) = managed
        {
            fields.insert("managedFields".to_owned(), managed);
        }
    }
}

fn keep_field(field: &str, old: &Map<String, Value>, new: &mut Map<String, Value>) {
    match old.get(field) {
        Some(value) => new.insert(field.to_owned(), value.clone()),
        None => new.remove(field),
    };
}

/// Puts a changed object in the place of the old one, once it is read, keeps what it must keep, and has its
/// `managedFields`.
pub(super) fn admit(
    state: &mut State,
    write: &mut Write<'_>,
    old: &Arc<Value>,
    mut new: Value,
) -> Result<Arc<Value>, ApiError> {
    if !write.custom() && matches!(write.subresource(), "" | "scale") {
        kinds::prepare_update(write.kind, &mut new, old);
    }
    auth::check(state, write.request, &new, Some(old))?;
    if counts(write, old, &new) {
        metadata::next_generation(&mut new);
    }
    let causes = rules::changed(write, &new, old);
    if !causes.is_empty() {
        return Err(write.invalid(causes));
    }
    if !write.custom() && write.subresource().is_empty() {
        kinds::complete_update(state, write.kind, &mut new, old)?;
    }
    if **old == new {
        return Ok(old.clone());
    }
    if write.request.dry_run() {
        return Ok(Arc::new(new));
    }
    if delete::completes(&write.key, &new, old) {
        return Ok(delete::complete(state, &write.key, new));
    }
    let object = state.store.put(write.key.clone(), new);
    lifecycle::changed(state, write, &object);
    Ok(object)
}

/// Whether a change makes a new generation: not one of metadata or status, but for a Deployment's annotations, which its
/// ReplicaSets get.
fn counts(write: &Write<'_>, old: &Value, new: &Value) -> bool {
    if !write.kind.generation || !matches!(write.subresource(), "" | "scale") {
        return false;
    }
    let annotations = |object| metadata(object).get("annotations");
    if &*write.key.resource == "deployments.apps" && annotations(old) != annotations(new) {
        return true;
    }
    let counted = |field: &str| match field {
        "metadata" | "apiVersion" | "kind" => false,
        "status" => !write.kind.status,
        _ => true,
    };
    let (Some(old), Some(new)) = (old.as_object(), new.as_object()) else {
        return false;
    };
    let ours = new
        .iter()
        .any(|(field, value)| counted(field) && old.get(field) != Some(value));
    ours || old
        .keys()
        .any(|field| counted(field) && !new.contains_key(field))
}
