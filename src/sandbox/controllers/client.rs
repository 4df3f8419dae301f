//! Writing as a controller.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::object::meta;
use crate::error::ApiError;
use crate::request::{Request, User, Verb};
use crate::state::State;
use crate::store::Key;
use crate::write;

/// The field manager of controllers.
const MANAGER: &str = "kube-controller-manager";

/// Makes an object; one with `generateName` gets its name.
pub(super) fn create(state: &mut State, key: &Key, object: Value) -> Option<Arc<Value>> {
    let mut request = request(state, Verb::Create, key, object)?;
    request.name = None;
    told(state, &request)
}

/// Puts an object in the place of what is there.
pub(super) fn update(state: &mut State, key: &Key, object: Value) -> Option<Arc<Value>> {
    let request = request(state, Verb::Update, key, object)?;
    told(state, &request)
}

/// Puts the status of an object in the place of its own.
pub(super) fn update_status(state: &mut State, key: &Key, object: Value) -> Option<Arc<Value>> {
    update_part(state, key, "status", object, MANAGER)
}

/// Puts an object in the place of a part of what is there, in somebody's name.
pub(super) fn update_part(
    state: &mut State,
    key: &Key,
    part: &str,
    object: Value,
    manager: &str,
) -> Option<Arc<Value>> {
    let mut request = request(state, Verb::Update, key, object)?;
    request.subresource = Some(part.to_owned());
    manager.clone_into(&mut request.manager);
    told(state, &request)
}

/// Binds a pod to a node.
pub(super) fn bind(state: &mut State, key: &Key, node: &str) -> Option<Arc<Value>> {
    let body = json!({
        "apiVersion": "v1", "kind": "Binding",
        "metadata": { "name": key.name, "namespace": key.namespace },
        "target": { "apiVersion": "v1", "kind": "Node", "name": node },
    });
    let mut request = request(state, Verb::Create, key, body)?;
    request.subresource = Some("binding".to_owned());
    "kube-scheduler".clone_into(&mut request.manager);
    told(state, &request)
}

/// Deletes an object as it is known, and nothing that has taken its place.
pub(super) fn delete(state: &mut State, key: &Key, object: &Value, options: Value) {
    let mut body = options;
    super::object::set(
        &mut body,
        &["preconditions", "uid"],
        meta(object, "uid").into(),
    );
    if let Some(request) = request(state, Verb::Delete, key, body) {
        // What cannot be deleted now is looked at again when it changes.
        told(state, &request);
    }
}

fn told(state: &mut State, request: &Request) -> Option<Arc<Value>> {
    let written: Result<_, ApiError> = write::write(state, request);
    written.ok().map(|written| written.object)
}

fn request(state: &State, verb: Verb, key: &Key, body: Value) -> Option<Request> {
    Some(Request {
        verb,
        kind: state.kinds.resource(&key.resource)?.clone(),
        namespace: (!key.namespace.is_empty()).then(|| key.namespace.clone()),
        name: Some(key.name.clone()),
        subresource: None,
        query: BTreeMap::new(),
        body,
        user: User {
            name: "system:kube-controller-manager".to_owned(),
            groups: vec![
                "system:masters".to_owned(),
                "system:authenticated".to_owned(),
            ],
            ..User::default()
        },
        manager: MANAGER.to_owned(),
    })
}
