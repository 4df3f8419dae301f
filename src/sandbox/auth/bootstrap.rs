//! The ClusterRoles that people count on, and who has them from the start.

use serde_json::{Value, json};

use super::rbac::GROUP;
use super::{aggregate, uuid};
use crate::state::State;
use crate::store::Key;

/// Rules are written `[groups, resources, verbs]`, with `read` and `write` for the verbs that go together.
const ROLES: &str = include_str!("bootstrap.json");

/// Puts the roles and their bindings into a state that has none; `time` is when they are made.
pub fn seed(state: &mut State, time: &str) {
    let table: Value = serde_json::from_str(ROLES).unwrap_or_default();
    let roles = table.get("roles").and_then(Value::as_array);
    for role in roles.into_iter().flatten() {
        let name = role.get("name").and_then(Value::as_str).unwrap_or_default();
        let rules = role.get("rules").and_then(Value::as_array);
        let rules: Vec<Value> = rules.into_iter().flatten().map(rule).collect();
        let mut object = object("ClusterRole", name, time);
        if let Some(to) = role.get("to").and_then(Value::as_str) {
            let label = format!("{GROUP}/aggregate-to-{to}");
            merge(&mut object, "/metadata/labels", &label, "true".into());
        }
        if let Some(from) = role.get("from").and_then(Value::as_str) {
            let labels = json!({ format!("{GROUP}/aggregate-to-{from}"): "true" });
            let rule = json!({ "clusterRoleSelectors": [{ "matchLabels": labels }] });
            merge(&mut object, "", "aggregationRule", rule);
        }
        merge(&mut object, "", "rules", rules.into());
        put(state, "clusterroles", name, object);
    }
    let bindings = table.get("bindings").and_then(Value::as_object);
    for (role, groups) in bindings.into_iter().flatten() {
        let groups = groups.as_array().into_iter().flatten();
        let subjects: Vec<Value> = groups
            .map(|group| json!({ "kind": "Group", "apiGroup": GROUP, "name": group }))
            .collect();
        let mut object = object("ClusterRoleBinding", role, time);
        merge(&mut object, "", "subjects", subjects.into());
        let role_ref = json!({ "apiGroup": GROUP, "kind": "ClusterRole", "name": role });
        merge(&mut object, "", "roleRef", role_ref);
        put(state, "clusterrolebindings", role, object);
    }
    aggregate(state);
}

fn rule(short: &Value) -> Value {
    let part = |index: usize| short.get(index).cloned();
    match (part(0), part(1), part(2)) {
        (Some(groups), Some(resources), Some(verbs)) => {
            let verbs = match verbs.as_str() {
                Some("read") => json!(["get", "list", "watch"]),
                Some(_) => json!(["create", "delete", "deletecollection", "patch", "update"]),
                None => verbs,
            };
            json!({ "apiGroups": groups, "resources": resources, "verbs": verbs })
        }
        _ => short.clone(),
    }
}

fn object(kind: &str, name: &str, time: &str) -> Value {
    json!({
        "kind": kind, "apiVersion": format!("{GROUP}/v1"),
        "metadata": {
            "name": name,
            "uid": uuid(),
            "creationTimestamp": time,
            "labels": { "kubernetes.io/bootstrapping": "rbac-defaults" },
            "annotations": { "rbac.authorization.kubernetes.io/autoupdate": "true" },
        },
    })
}

fn merge(object: &mut Value, place: &str, key: &str, value: Value) {
    if let Some(place) = object.pointer_mut(place).and_then(Value::as_object_mut) {
        place.insert(key.to_owned(), value);
    }
}

fn put(state: &mut State, plural: &str, name: &str, object: Value) {
    let key = Key {
        resource: format!("{plural}.{GROUP}").into(),
        namespace: String::new(),
        name: name.to_owned(),
    };
    state.store.put(key, object);
}
