use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{bind, person, put, request, role, state};
use crate::error::ApiError;
use crate::request::{PatchType, Request, Verb};
use crate::state::State;
use crate::{types, write};

fn with_kinds() -> State {
    let mut state = state();
    state.kinds = types::built_in();
    put(
        &mut state,
        "namespaces",
        "",
        "y",
        json!({ "status": { "phase": "Active" } }),
    );
    state
}

fn apply(state: &mut State, plural: &str, name: &str, object: Value) -> Result<u16, ApiError> {
    let group = object["apiVersion"].as_str().unwrap().split_once('/');
    let (group, version) = group.unwrap_or(("", "v1"));
    let request = Request {
        verb: Verb::Patch(PatchType::Apply),
        kind: state.kinds.at(group, version, plural).unwrap().clone(),
        name: Some(name.to_owned()),
        body: object,
        query: BTreeMap::from([("fieldManager".into(), "m".into())]),
        manager: "m".into(),
        ..request("ann")
    };
    write::write(state, &request).map(|written| written.code)
}

#[test]
fn an_apply_that_makes_an_object_needs_two_rights() {
    let mut state = with_kinds();
    let map = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "c" } });
    let refused = apply(&mut state, "configmaps", "c", map.clone()).unwrap_err();
    assert_eq!(
        (refused.code, refused.message.as_str()),
        (403, r#"configmaps "c" is forbidden: "#)
    );
    let rule = json!([{ "verbs": ["create"], "apiGroups": [""], "resources": ["configmaps"] }]);
    role(&mut state, "y", "create", rule);
    bind(&mut state, "y", "create", "./create", person("ann"));
    assert_eq!(apply(&mut state, "configmaps", "c", map.clone()), Ok(201));
    assert_eq!(apply(&mut state, "configmaps", "c", map), Ok(200));
}

#[test]
fn roles_are_held_against_the_rights_of_their_writer() {
    let mut state = with_kinds();
    let api = "rbac.authorization.k8s.io";
    let rules =
        json!([{ "verbs": ["create", "patch"], "apiGroups": [api], "resources": ["roles"] }]);
    role(&mut state, "y", "write", rules);
    bind(&mut state, "y", "write", "./write", person("ann"));
    let of = |verbs: Value| {
        json!({
            "apiVersion": format!("{api}/v1"), "kind": "Role", "metadata": { "name": "r" },
            "rules": [{ "verbs": verbs, "apiGroups": [api], "resources": ["roles"] }],
        })
    };
    assert_eq!(
        apply(&mut state, "roles", "r", of(json!(["patch"]))),
        Ok(201)
    );
    let refused = apply(&mut state, "roles", "r", of(json!(["patch", "delete"]))).unwrap_err();
    let missing =
        r#"{APIGroups:["rbac.authorization.k8s.io"], Resources:["roles"], Verbs:["delete"]}"#;
    assert!(refused.message.ends_with(missing), "{}", refused.message);
}
