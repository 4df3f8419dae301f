//! The `request` that the API server would judge.

use serde_json::json;

use super::cel::{self, from_json, unknown};
use super::subject::{Subject, Surroundings};
use crate::api::split_api_version;

/// Makes the request. Who makes it may be unknown: then looking at `userInfo` is a fault, not an empty name.
pub fn request(subject: &Subject<'_>, around: &Surroundings<'_>) -> cel::Value {
    let id = subject.id;
    let (group, version) = split_api_version(subject.api_version);
    let kind = json!({ "group": group, "version": version, "kind": id.group_kind.kind });
    let resource = json!({ "group": group, "version": version, "resource": subject.resource });
    // The namespace of a Namespace is itself.
    let namespace = match &id.namespace {
        Some(namespace) => namespace,
        None if id.group_kind.is_namespace() => &id.name,
        None => "",
    };
    let mut request = json!({
        "kind": kind,
        "resource": resource,
        "subResource": "",
        "requestKind": kind,
        "requestResource": resource,
        "requestSubResource": "",
        "name": id.name,
        "namespace": namespace,
        "operation": subject.operation(),
        // A plan is the same for those who only look at it.
        "dryRun": false,
    });
    if let (Some(user), Some(request)) = (&around.user, request.as_object_mut()) {
        let user = json!({ "username": user.name, "groups": user.groups });
        request.insert("userInfo".to_owned(), user);
    }
    let value = from_json(&request);
    let (cel::Value::Map(map), None) = (&value, &around.user) else {
        return value;
    };
    let mut entries = (*map.map).clone();
    let why = "request.userInfo is not known before the request is made";
    entries.insert("userInfo".into(), unknown(why));
    entries.into()
}
