//! Messages and answers are those of a real API server.

mod audit;
mod escalation;
mod owners;
mod reviews;
mod rights;
mod senders;
mod writes;

use std::collections::BTreeMap;
use std::sync::Arc;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde_json::{Value, json};

use super::rbac::GROUP;
use super::{AUTHENTICATED, Attributes, Target, decide, seed};
use crate::read::tests::kind as kind_named;
use crate::request::{Request, User, Verb};
use crate::state::State;
use crate::store::Key;
use crate::types::Kind;

fn state() -> State {
    let mut state = State::default();
    state.auth.enforced = true;
    seed(&mut state, "2026-01-01T00:00:00Z");
    state
}

fn user(name: &str) -> User {
    User {
        name: name.to_owned(),
        groups: vec![AUTHENTICATED.to_owned()],
        ..User::default()
    }
}

fn headers(list: &[(&str, &str)]) -> HeaderMap {
    let pair = |(name, value): &(&str, &str)| {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        (name, HeaderValue::from_str(value).unwrap())
    };
    list.iter().map(pair).collect()
}

fn kind(api_version: &str, kind: &str, plural: &str) -> Arc<Kind> {
    let (group, version) = api_version.rsplit_once('/').unwrap_or(("", api_version));
    Arc::new(Kind {
        version: version.to_owned(),
        status: false,
        generation: false,
        ..kind_named(group, plural, kind)
    })
}

/// A request of a user for a list of pods in the namespace `y`.
fn request(name: &str) -> Request {
    Request {
        verb: Verb::List,
        kind: kind("v1", "Pod", "pods"),
        namespace: Some("y".to_owned()),
        name: None,
        subresource: None,
        query: BTreeMap::new(),
        body: Value::Null,
        user: user(name),
        manager: String::new(),
    }
}

fn put(state: &mut State, plural: &str, namespace: &str, name: &str, mut object: Value) {
    object["metadata"] =
        json!({ "name": name, "namespace": namespace, "uid": format!("uid-{name}") });
    let key = Key {
        resource: plural.into(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
    };
    state.store.put(key, object);
}

/// A role; one without a namespace is a ClusterRole.
fn role(state: &mut State, namespace: &str, name: &str, rules: Value) {
    let plural = if namespace.is_empty() {
        "clusterroles"
    } else {
        "roles"
    };
    let object = json!({ "rules": rules });
    put(state, &format!("{plural}.{GROUP}"), namespace, name, object);
}

/// A binding of a role, which is the namespace's own where `role` starts with `./`.
fn bind(state: &mut State, namespace: &str, name: &str, role: &str, subject: Value) {
    let (kind, role) = match role.strip_prefix("./") {
        Some(own) => ("Role", own),
        None => ("ClusterRole", role),
    };
    let plural = if namespace.is_empty() {
        "clusterrolebindings"
    } else {
        "rolebindings"
    };
    let object = json!({ "roleRef": { "kind": kind, "name": role }, "subjects": [subject] });
    put(state, &format!("{plural}.{GROUP}"), namespace, name, object);
}

fn person(name: &str) -> Value {
    json!({ "kind": "User", "name": name })
}

/// `verb group/resource/subresource@namespace:name`, all but verb and resource being optional; or `verb /path`. The core
/// group is `core` where it is said.
fn may(state: &State, user: &User, deed: &str) -> bool {
    let (verb, rest) = deed.split_once(' ').unwrap();
    if rest.starts_with('/') {
        let target = Target::Path(rest);
        return decide(state, user, &Attributes { verb, target }).allowed;
    }
    let (rest, name) = rest.split_once(':').unwrap_or((rest, ""));
    let (rest, namespace) = rest.split_once('@').unwrap_or((rest, ""));
    let parts: Vec<&str> = rest.split('/').collect();
    let (group, resource, subresource) = match parts[..] {
        [resource] => ("", resource, ""),
        [group, resource] => (group, resource, ""),
        ["core", resource, subresource] => ("", resource, subresource),
        [group, resource, subresource] => (group, resource, subresource),
        _ => unreachable!("{deed}"),
    };
    let target = Target::Resource {
        group,
        resource,
        subresource,
        namespace,
        name,
    };
    decide(state, user, &Attributes { verb, target }).allowed
}
