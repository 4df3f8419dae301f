use serde_json::json;

use super::super::{Attributes, Target, aggregate, authorize_creation, require};
use super::{bind, kind, may, person, put, request, role, state, user};
use crate::error::ApiError;
use crate::request::{PatchType, Request, Verb};
use crate::state::State;
use crate::store::Key;

fn asked(state: &State, request: &Request) -> Result<(), ApiError> {
    require(state, &request.user, &Attributes::of(request))
}

#[test]
fn a_refusal_is_worded_as_the_api_server_words_it() {
    let state = state();
    let mut request = request("viewer");
    let mut refused = |change: &mut dyn FnMut(&mut crate::request::Request)| {
        change(&mut request);
        let error = asked(&state, &request).unwrap_err();
        assert_eq!((error.code, error.reason), (403, "Forbidden"));
        error
    };
    let error = refused(&mut |_| {});
    assert_eq!(
        error.message,
        r#"pods is forbidden: User "viewer" cannot list resource "pods" in API group "" in the namespace "y""#
    );
    assert_eq!(error.body()["details"], json!({ "kind": "pods" }));
    let error = refused(&mut |it| it.namespace = None);
    assert_eq!(
        error.message,
        r#"pods is forbidden: User "viewer" cannot list resource "pods" in API group "" at the cluster scope"#
    );
    let error = refused(&mut |it| {
        (it.verb, it.namespace) = (Verb::Get, Some("y".into()));
        (it.kind, it.name) = (
            kind("apps/v1", "Deployment", "deployments"),
            Some("d".into()),
        );
        it.subresource = Some("status".into());
    });
    assert_eq!(
        error.message,
        r#"deployments.apps "d" is forbidden: User "viewer" cannot get resource "deployments/status" in API group "apps" in the namespace "y""#
    );
    let details = json!({ "name": "d", "group": "apps", "kind": "deployments" });
    assert_eq!(error.body()["details"], details);
    // A namespace is in itself.
    let error = refused(&mut |it| {
        (it.kind, it.name) = (kind("v1", "Namespace", "namespaces"), Some("y".into()));
        (it.namespace, it.subresource, it.verb) = (None, None, Verb::Delete);
    });
    assert_eq!(
        error.message,
        r#"namespaces "y" is forbidden: User "viewer" cannot delete resource "namespaces" in API group "" in the namespace "y""#
    );
}

#[test]
fn a_list_of_one_name_needs_a_right_for_that_name_alone() {
    let mut state = state();
    let rule = json!([{ "verbs": ["list"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["q"] }]);
    role(&mut state, "y", "one", rule);
    bind(&mut state, "y", "one", "./one", person("ann"));
    let mut request = request("ann");
    request
        .query
        .insert("fieldSelector".into(), "metadata.name=q".into());
    assert_eq!(asked(&state, &request), Ok(()));
    request
        .query
        .insert("fieldSelector".into(), "metadata.name=r".into());
    let refused = asked(&state, &request).unwrap_err();
    assert!(
        refused.message.starts_with(r#"pods "r" is forbidden: "#),
        "{}",
        refused.message
    );
    request.query.clear();
    assert!(asked(&state, &request).is_err());
}

#[test]
fn who_makes_an_object_by_a_patch_needs_the_right_to_make_it() {
    let mut state = state();
    let rule = json!([{ "verbs": ["patch"], "apiGroups": [""], "resources": ["pods"] }]);
    role(&mut state, "y", "patch", rule);
    bind(&mut state, "y", "patch", "./patch", person("ann"));
    let mut request = request("ann");
    request.verb = Verb::Patch(PatchType::Apply);
    request.name = Some("p".into());
    assert_eq!(asked(&state, &request), Ok(()));
    let refused = authorize_creation(&state, &request).unwrap_err();
    assert_eq!(refused.message, r#"pods "p" is forbidden: "#);
}

#[test]
fn rules_allow_what_they_name() {
    let mut state = state();
    let rules = json!([
        { "verbs": ["get", "list"], "apiGroups": ["", "apps"], "resources": ["pods", "pods/log", "deployments"] },
        { "verbs": ["update"], "apiGroups": ["*"], "resources": ["*/scale"] },
        { "verbs": ["*"], "apiGroups": ["x.io"], "resources": ["*"] },
        { "verbs": ["get"], "apiGroups": [""], "resources": ["secrets"], "resourceNames": ["one", "two"] },
        { "verbs": ["get"], "nonResourceURLs": ["/logs", "/debug/*"] },
    ]);
    role(&mut state, "", "it", rules);
    bind(&mut state, "", "it", "it", person("ann"));
    let ann = user("ann");
    for deed in [
        "get pods@y:p",
        "list pods",
        "get core/pods/log@y:p",
        "list apps/deployments@y",
        "update apps/deployments/scale@y:d",
        "update z.io/things/scale@y:d",
        "delete x.io/things/status@y:d",
        "* x.io/*",
        "get secrets@y:one",
        "get /logs",
        "get /debug/pprof",
        "get /version",
    ] {
        assert!(may(&state, &ann, deed), "{deed}");
        assert!(
            !may(&state, &user("bob"), deed) || deed == "get /version",
            "{deed}"
        );
    }
    for deed in [
        "watch pods@y",
        "get core/pods/exec@y:p",
        "get batch/pods",
        "update apps/deployments@y:d",
        "update apps/deployments/status@y:d",
        "get secrets@y:three",
        "list secrets@y",
        "post /logs",
        "get /logs/x",
        "get /debugging",
        "* *",
    ] {
        assert!(!may(&state, &ann, deed), "{deed}");
    }
}

#[test]
fn bindings_reach_as_far_as_their_namespace() {
    let mut state = state();
    bind(
        &mut state,
        "y",
        "v",
        "view",
        json!({ "kind": "Group", "name": "team" }),
    );
    let account = json!({ "kind": "ServiceAccount", "name": "bot" });
    bind(&mut state, "y", "w", "edit", account);
    bind(&mut state, "y", "x", "./nonesuch", person("ann"));
    let mut member = user("ann");
    assert!(!may(&state, &member, "get pods@y:p"));
    member.groups.push("team".into());
    assert!(may(&state, &member, "get pods@y:p"));
    assert!(!may(&state, &member, "get pods@z:p"));
    assert!(!may(&state, &member, "list pods"));
    assert!(!may(&state, &member, "delete pods@y:p"));
    // A subject without a namespace is of the binding's.
    assert!(may(
        &state,
        &user("system:serviceaccount:y:bot"),
        "delete pods@y:p"
    ));
    assert!(!may(
        &state,
        &user("system:serviceaccount:z:bot"),
        "delete pods@y:p"
    ));
}

#[test]
fn rights_change_with_the_objects() {
    let mut state = state();
    let ann = user("ann");
    assert!(!may(&state, &ann, "get pods@y:p"));
    bind(&mut state, "y", "v", "view", person("ann"));
    assert!(may(&state, &ann, "get pods@y:p"));
    put(&mut state, "configmaps", "y", "other", json!({}));
    assert!(may(&state, &ann, "get pods@y:p"));
    state.store.remove(&Key {
        resource: "rolebindings.rbac.authorization.k8s.io".into(),
        namespace: "y".into(),
        name: "v".into(),
    });
    assert!(!may(&state, &ann, "get pods@y:p"));
}

#[test]
fn aggregated_roles_grow_with_those_that_they_select() {
    let mut state = state();
    bind(&mut state, "", "a", "admin", person("ann"));
    let ann = user("ann");
    // Through `edit`, `view`, and its own.
    assert!(may(&state, &ann, "create apps/deployments@y"));
    assert!(may(&state, &ann, "get pods@y:p"));
    assert!(may(
        &state,
        &ann,
        "create rbac.authorization.k8s.io/roles@y"
    ));
    assert!(!may(&state, &ann, "list x.io/things@y"));
    let rules = json!([{ "verbs": ["list"], "apiGroups": ["x.io"], "resources": ["things"] }]);
    role(&mut state, "", "things", rules);
    let key = Key {
        resource: "clusterroles.rbac.authorization.k8s.io".into(),
        namespace: String::new(),
        name: "things".into(),
    };
    let mut things = (**state.store.get(&key).unwrap()).clone();
    let label = json!({ "rbac.authorization.k8s.io/aggregate-to-view": "true" });
    things["metadata"]["labels"] = label;
    state.store.put(key, things);
    assert!(aggregate(&mut state));
    assert!(!aggregate(&mut state));
    assert!(may(&state, &ann, "list x.io/things@y"));
}

#[test]
fn paths_without_objects_need_rights_too() {
    let state = state();
    let read = |path| Attributes {
        verb: "get",
        target: Target::Path(path),
    };
    let nobody = crate::request::User {
        name: super::super::ANONYMOUS.into(),
        groups: vec![super::super::UNAUTHENTICATED.into()],
        ..Default::default()
    };
    assert_eq!(require(&state, &nobody, &read("/version")), Ok(()));
    let refused = require(&state, &nobody, &read("/api")).unwrap_err();
    assert_eq!(
        refused.message,
        r#"forbidden: User "system:anonymous" cannot get path "/api""#
    );
    assert_eq!(refused.body()["details"], json!({}));
    assert_eq!(
        require(&state, &user("ann"), &read("/apis/apps/v1")),
        Ok(())
    );
}
