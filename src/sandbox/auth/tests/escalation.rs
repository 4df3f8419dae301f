use serde_json::{Value, json};

use super::super::check;
use super::{bind, kind, person, request, role, state, user};
use crate::error::ApiError;
use crate::request::{Request, Verb};
use crate::state::State;

const API: &str = "rbac.authorization.k8s.io/v1";

fn write(
    state: &State,
    what: &str,
    object: &Value,
    before: Option<&Value>,
) -> Result<(), ApiError> {
    let request = Request {
        verb: Verb::Create,
        kind: kind(API, what, &format!("{}s", what.to_lowercase())),
        user: user("ann"),
        ..request("ann")
    };
    check(state, &request, object, before)
}

fn binding(kind: &str, role: &str) -> Value {
    json!({
        "metadata": { "name": "b" }, "roleRef": { "kind": kind, "name": role }, "subjects": [person("x")],
    })
}

#[test]
fn nobody_gives_rights_that_they_do_not_have() {
    let mut state = state();
    let rules = json!([
        { "verbs": ["get", "list"], "apiGroups": [""], "resources": ["pods"] },
        { "verbs": ["get"], "apiGroups": ["*"], "resources": ["*/log"] },
    ]);
    role(&mut state, "y", "held", rules);
    bind(&mut state, "y", "held", "./held", person("ann"));
    let rules = json!([
        { "verbs": ["watch", "get"], "apiGroups": [""], "resources": ["services", "pods", "pods/log"] },
        { "verbs": ["list", "watch"], "apiGroups": [""], "resources": ["pods"] },
        { "verbs": ["get"], "apiGroups": ["apps"], "resources": ["deployments"], "resourceNames": ["a"] },
        { "verbs": ["get"], "nonResourceURLs": ["/version", "/metrics"] },
    ]);
    let given = json!({ "metadata": { "name": "r" }, "rules": rules });
    let error = write(&state, "Role", &given, None).unwrap_err();
    assert_eq!(
        error.message,
        r#"roles.rbac.authorization.k8s.io "r" is forbidden: user "ann" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:
{NonResourceURLs:["/metrics"], Verbs:["get"]}
{APIGroups:[""], Resources:["pods"], Verbs:["watch"]}
{APIGroups:[""], Resources:["pods/log"], Verbs:["watch"]}
{APIGroups:[""], Resources:["services"], Verbs:["watch" "get"]}
{APIGroups:["apps"], Resources:["deployments"], ResourceNames:["a"], Verbs:["get"]}"#
    );
    // Whoever leaves the rules as they are gives nothing.
    assert_eq!(write(&state, "Role", &given, Some(&given)), Ok(()));
    let held = json!({ "rules": [{ "verbs": ["list"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"] }] });
    assert_eq!(write(&state, "Role", &held, None), Ok(()));
}

#[test]
fn bindings_give_the_rules_of_their_role() {
    let mut state = state();
    let rules = json!([{ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"] }]);
    role(&mut state, "y", "held", rules);
    bind(&mut state, "y", "held", "./held", person("ann"));
    assert_eq!(
        write(&state, "RoleBinding", &binding("Role", "held"), None),
        Ok(())
    );
    let view = binding("ClusterRole", "view");
    let error = write(&state, "RoleBinding", &view, None).unwrap_err();
    let why = r#"rolebindings.rbac.authorization.k8s.io "b" is forbidden: user "ann" (groups=["system:authenticated"]) is attempting to grant RBAC permissions not currently held:"#;
    assert!(error.message.starts_with(why), "{}", error.message);
    assert!(
        error
            .message
            .contains("\n{APIGroups:[\"\"], Resources:[\"pods\"], Verbs:[\"list\" \"watch\"]}\n")
    );
    let error = write(&state, "RoleBinding", &binding("ClusterRole", "none"), None).unwrap_err();
    assert_eq!(
        error.message,
        r#"clusterroles.rbac.authorization.k8s.io "none" not found"#
    );

    let rules = json!([{ "verbs": ["bind"], "apiGroups": ["rbac.authorization.k8s.io"], "resources": ["clusterroles"], "resourceNames": ["view"] }]);
    role(&mut state, "y", "bind", rules);
    bind(&mut state, "y", "bind", "./bind", person("ann"));
    assert_eq!(write(&state, "RoleBinding", &view, None), Ok(()));
}
