//! Who says whose an object is: references to owners are for those who may delete the object, and one that holds up its
//! owner's end is for those who may do that (the admission plugin OwnerReferencesPermissionEnforcement, as on OpenShift).

use serde_json::Value;

use super::attributes::{Attributes, Target};
use super::decide;
use crate::error::ApiError;
use crate::request::{Request, Verb};
use crate::state::State;

/// Checks the references of an object that is to be written, `before` being what is there.
///
/// # Errors
/// 403, worded as the API server words it.
pub fn check(
    state: &State,
    request: &Request,
    object: &Value,
    before: Option<&Value>,
) -> Result<(), ApiError> {
    let (old, new) = (before.and_then(references), references(object));
    if old == new {
        return Ok(());
    }
    let name = object
        .pointer("/metadata/name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let kind = &request.kind;
    let namespace = request.namespace.as_deref();
    let may = |verb, group, resource, part, namespace, name| {
        let target = Target::objects(group, resource, part, namespace, Some(name), None);
        decide(state, &request.user, &Attributes { verb, target }).allowed
    };
    let forbidden = |why: &str| Err(ApiError::forbidden(&kind.group, &kind.plural, name, why));
    let delete = Verb::Delete.word();
    if before.is_some() && !may(delete, &kind.group, &kind.plural, None, namespace, name) {
        return forbidden("cannot set an ownerRef on a resource you can't delete: , <nil>");
    }
    let held = |reference: &&Value| !blocks(old, reference);
    for reference in blocking(new).filter(held) {
        let (version, of) = (text(reference, "apiVersion"), text(reference, "kind"));
        let Some(owner) = state.kinds.of(version, of) else {
            return forbidden(&format!(
                "cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion {version} Kind {of}: no matches for kind {of:?} in version {version:?}"
            ));
        };
        let namespace = namespace.filter(|_| owner.namespaced);
        let (group, plural) = (&owner.group, &owner.plural);
        let name = text(reference, "name");
        if !may("update", group, plural, Some("finalizers"), namespace, name) {
            return forbidden(
                "cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>",
            );
        }
    }
    Ok(())
}

/// The references of an object, if it has any.
fn references(object: &Value) -> Option<&Vec<Value>> {
    let references = object.pointer("/metadata/ownerReferences")?.as_array()?;
    (!references.is_empty()).then_some(references)
}

/// Those that hold up the end of an owner.
fn blocking(references: Option<&Vec<Value>>) -> impl Iterator<Item = &Value> {
    let all = references.into_iter().flatten();
    all.filter(|reference| reference.get("blockOwnerDeletion") == Some(&Value::Bool(true)))
}

fn blocks(references: Option<&Vec<Value>>, wanted: &Value) -> bool {
    blocking(references).any(|reference| reference.get("uid") == wanted.get("uid"))
}

fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}
