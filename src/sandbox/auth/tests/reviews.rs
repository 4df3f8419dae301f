use serde_json::{Value, json};

use super::super::{authenticate, review};
use super::{bind, headers, kind, person, put, request, role, state};
use crate::error::ApiError;
use crate::request::{Request, Verb};
use crate::state::State;

fn ask(state: &State, who: &str, what: &str, body: Value) -> Result<Value, ApiError> {
    let group = match what {
        "TokenReview" | "SelfSubjectReview" => "authentication.k8s.io/v1",
        _ => "authorization.k8s.io/v1",
    };
    let request = Request {
        verb: Verb::Create,
        kind: kind(group, what, &format!("{}s", what.to_lowercase())),
        body,
        ..request(who)
    };
    review(state, &request).expect("it is a review")
}

#[test]
fn access_is_asked_for_oneself_and_for_others() {
    let mut state = state();
    bind(&mut state, "y", "v", "view", person("ann"));
    let pods = json!({ "namespace": "y", "verb": "get", "resource": "pods" });
    let own = json!({ "spec": { "resourceAttributes": pods } });
    let answer = ask(&state, "ann", "SelfSubjectAccessReview", own.clone()).unwrap();
    let reason = r#"RBAC: allowed by RoleBinding "v/y" of ClusterRole "view" to User "ann""#;
    assert_eq!(
        answer,
        json!({
            "kind": "SelfSubjectAccessReview", "apiVersion": "authorization.k8s.io/v1",
            "metadata": { "creationTimestamp": null },
            "spec": { "resourceAttributes": pods },
            "status": { "allowed": true, "reason": reason },
        })
    );
    let answer = ask(&state, "bob", "SelfSubjectAccessReview", own).unwrap();
    assert_eq!(answer["status"], json!({ "allowed": false }));

    let of = |user: &str, groups: Value| json!({ "spec": { "user": user, "groups": groups, "resourceAttributes": pods } });
    let status =
        |body: Value| ask(&state, "bob", "SubjectAccessReview", body).unwrap()["status"].clone();
    assert_eq!(status(of("ann", json!([])))["allowed"], true);
    assert_eq!(
        status(of("bob", json!(["system:masters"]))),
        json!({ "allowed": true })
    );
    let path = json!({ "spec": { "groups": ["system:authenticated"], "nonResourceAttributes": { "path": "/api", "verb": "get" } } });
    assert_eq!(
        status(path)["reason"],
        r#"RBAC: allowed by ClusterRoleBinding "system:discovery" of ClusterRole "system:discovery" to Group "system:authenticated""#
    );
}

#[test]
fn questions_that_make_no_sense_are_refused() {
    let state = state();
    let refused = |what: &str, spec: Value| {
        let error = ask(&state, "ann", what, json!({ "spec": spec })).unwrap_err();
        (error.code, error.message)
    };
    let pods = json!({ "verb": "get", "namespace": "z" });
    let path = json!({ "path": "/api", "verb": "get" });
    assert_eq!(
        refused("SelfSubjectAccessReview", json!({})),
        (422, r#".authorization.k8s.io "" is invalid: spec.resourceAttributes: Invalid value: "null": exactly one of nonResourceAttributes or resourceAttributes must be specified"#.into())
    );
    assert_eq!(
        refused("SelfSubjectAccessReview", json!({ "resourceAttributes": pods, "nonResourceAttributes": path })),
        (422, r#".authorization.k8s.io "" is invalid: spec.nonResourceAttributes: Invalid value: authorization.NonResourceAttributes{Path:"/api", Verb:"get"}: cannot be specified in combination with resourceAttributes"#.into())
    );
    assert_eq!(
        refused("SubjectAccessReview", json!({ "resourceAttributes": pods })),
        (422, r#".authorization.k8s.io "" is invalid: spec.user: Invalid value: "": at least one of user or group must be specified"#.into())
    );
    assert_eq!(
        refused("LocalSubjectAccessReview", json!({ "user": "ann", "resourceAttributes": pods })),
        (422, r#".authorization.k8s.io "" is invalid: spec.resourceAttributes.namespace: Invalid value: "z": must match metadata.namespace"#.into())
    );
    assert_eq!(
        refused("SelfSubjectRulesReview", json!({})),
        (400, "no namespace on request".into())
    );
    let no_token = "token is required for TokenReview in authentication";
    assert_eq!(refused("TokenReview", json!({})), (400, no_token.into()));
}

#[test]
fn rules_are_told_by_kind() {
    let mut state = state();
    let rule = json!([{ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"] }]);
    role(&mut state, "y", "r", rule);
    bind(&mut state, "y", "r", "./r", person("ann"));
    let body = json!({ "spec": { "namespace": "y" } });
    let answer = ask(&state, "ann", "SelfSubjectRulesReview", body).unwrap();
    assert_eq!(answer["spec"], json!({}));
    let status = &answer["status"];
    assert_eq!(status["incomplete"], false);
    let own = json!({ "verbs": ["get"], "apiGroups": [""], "resources": ["pods"], "resourceNames": ["a"] });
    let resources = status["resourceRules"].as_array().unwrap();
    assert_eq!(resources.last(), Some(&own));
    assert_eq!(resources.len(), 3);
    let public = json!({ "verbs": ["get"], "nonResourceURLs": ["/healthz", "/livez", "/readyz", "/version", "/version/"] });
    assert!(
        status["nonResourceRules"]
            .as_array()
            .unwrap()
            .contains(&public)
    );
}

#[test]
fn a_requested_token_is_one_of_the_account() {
    let mut state = state();
    put(&mut state, "serviceaccounts", "y", "bot", json!({}));
    let token = |name: &str, spec: Value| {
        let request = Request {
            verb: Verb::Create,
            kind: kind("v1", "ServiceAccount", "serviceaccounts"),
            name: Some(name.to_owned()),
            subresource: Some("token".into()),
            body: json!({ "spec": spec }),
            ..request("ann")
        };
        review(&state, &request).unwrap()
    };
    let answer = token("bot", json!({})).unwrap();
    assert_eq!(answer["kind"], "TokenRequest");
    let spec = json!({
        "audiences": ["https://kubernetes.default.svc"], "expirationSeconds": 3600, "boundObjectRef": null,
    });
    assert_eq!(answer["spec"], spec);
    let issued = answer["status"]["token"].as_str().unwrap();
    let bearer = format!("bearer {issued}");
    let user = authenticate(&state, &headers(&[("authorization", &bearer)])).unwrap();
    assert_eq!(user.name, "system:serviceaccount:y:bot");

    let body = json!({ "spec": { "token": issued } });
    let reviewed = ask(&state, "ann", "TokenReview", body).unwrap();
    let described = json!({
        "username": "system:serviceaccount:y:bot", "uid": "uid-bot",
        "groups": ["system:serviceaccounts", "system:serviceaccounts:y", "system:authenticated"],
    });
    let audiences = json!(["https://kubernetes.default.svc"]);
    let status = json!({ "authenticated": true, "user": described, "audiences": audiences });
    assert_eq!(reviewed["status"], status);
    let body = json!({ "spec": { "token": "nope" } });
    let reviewed = ask(&state, "ann", "TokenReview", body).unwrap();
    assert_eq!(
        reviewed["status"],
        json!({ "user": {}, "error": "invalid bearer token" })
    );

    let error = token("nobody", json!({})).unwrap_err();
    assert_eq!(error.message, r#"serviceaccounts "nobody" not found"#);
    let error = token("bot", json!({ "expirationSeconds": 10 })).unwrap_err();
    assert_eq!(
        error.message,
        r#"TokenRequest.authentication.k8s.io "" is invalid: spec.expirationSeconds: Invalid value: 10: may not specify a duration less than 10 minutes"#
    );
}

#[test]
fn one_can_ask_who_one_is_and_other_requests_are_no_reviews() {
    let state = state();
    let answer = ask(&state, "ann", "SelfSubjectReview", json!({})).unwrap();
    let told = json!({ "userInfo": { "username": "ann", "groups": ["system:authenticated"] } });
    assert_eq!(answer["status"], told);
    assert!(answer.get("spec").is_none());
    assert_eq!(review(&state, &request("ann")), None);
}
