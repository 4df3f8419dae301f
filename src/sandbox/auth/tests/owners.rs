use serde_json::{Value, json};

use super::super::check;
use super::{bind, kind, person, request, role, state};
use crate::request::{Request, Verb};
use crate::state::State;
use crate::types;

/// What is said to a writer of ConfigMaps in the namespace `y`; nothing when it is fine.
fn said(state: &State, object: &Value, before: Option<&Value>) -> String {
    let request = Request {
        verb: Verb::Update,
        kind: kind("v1", "ConfigMap", "configmaps"),
        name: Some("c".into()),
        ..request("ann")
    };
    let refused = check(state, &request, object, before).err();
    refused.map_or_else(String::new, |error| {
        assert_eq!(error.code, 403);
        error.message
    })
}

fn owned(kind: &str, blocks: bool) -> Value {
    let owner = json!({ "apiVersion": "v1", "kind": kind, "name": "o", "uid": "u", "blockOwnerDeletion": blocks });
    json!({ "metadata": { "name": "c", "ownerReferences": [owner] } })
}

fn let_ann(state: &mut State, verb: &str, resource: &str) {
    let rule = json!([{ "verbs": [verb], "apiGroups": [""], "resources": [resource] }]);
    role(state, "y", verb, rule);
    bind(state, "y", verb, &format!("./{verb}"), person("ann"));
}

#[test]
fn who_holds_up_the_end_of_an_owner_may_update_its_finalizers() {
    let mut state = state();
    state.kinds = types::built_in();
    assert_eq!(said(&state, &owned("ConfigMap", false), None), "");
    assert_eq!(
        said(&state, &owned("ConfigMap", true), None),
        r#"configmaps "c" is forbidden: cannot set blockOwnerDeletion if an ownerReference refers to a resource you can't set finalizers on: , <nil>"#
    );
    assert_eq!(
        said(&state, &owned("Nonesuch", true), None),
        r#"configmaps "c" is forbidden: cannot set blockOwnerDeletion in this case because cannot find RESTMapping for APIVersion v1 Kind Nonesuch: no matches for kind "Nonesuch" in version "v1""#
    );
    let_ann(&mut state, "update", "configmaps/finalizers");
    assert_eq!(said(&state, &owned("ConfigMap", true), None), "");
}

#[test]
fn who_says_whose_an_object_is_may_delete_it() {
    let mut state = state();
    state.kinds = types::built_in();
    let (free, taken) = (
        json!({ "metadata": { "name": "c" } }),
        owned("ConfigMap", false),
    );
    let refused = r#"configmaps "c" is forbidden: cannot set an ownerRef on a resource you can't delete: , <nil>"#;
    assert_eq!(said(&state, &free, Some(&taken)), refused);
    assert_eq!(said(&state, &taken, Some(&free)), refused);
    assert_eq!(said(&state, &taken, Some(&taken)), "");
    let_ann(&mut state, "delete", "configmaps");
    assert_eq!(said(&state, &free, Some(&taken)), "");
}
