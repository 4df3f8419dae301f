use jiff::{SignedDuration, Timestamp};
use serde_json::json;

use super::super::authenticate;
use super::super::tokens::{Account, ISSUER};
use super::{bind, headers, person, put, role, state};
use crate::error::ApiError;
use crate::request::User;
use crate::state::State;

fn with_token(state: &State, token: &str, more: &[(&str, &str)]) -> Result<User, ApiError> {
    let authorization = format!("Bearer {token}");
    let mut all = vec![("authorization", authorization.as_str())];
    all.extend_from_slice(more);
    authenticate(state, &headers(&all))
}

#[test]
fn who_says_nothing_is_anonymous() {
    let state = state();
    for list in [
        &[][..],
        &[("authorization", "Basic eDp5")],
        &[("authorization", "Bearer ")],
    ] {
        let user = authenticate(&state, &headers(list)).unwrap();
        assert_eq!(user.name, "system:anonymous");
        assert_eq!(user.groups, ["system:unauthenticated"]);
    }
}

#[test]
fn an_unknown_token_is_refused() {
    let state = state();
    let error = with_token(&state, "nope", &[]).unwrap_err();
    let body = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "Unauthorized", "reason": "Unauthorized", "code": 401,
    });
    assert_eq!(error.body(), body);
}

#[test]
fn each_sandbox_has_an_admin_of_its_own() {
    let (one, other) = (state(), state());
    let token = one.auth.tokens.admin();
    let admin = with_token(&one, token, &[]).unwrap();
    assert_eq!(admin.name, "admin");
    assert_eq!(admin.groups, ["system:masters", "system:authenticated"]);
    assert_eq!(token.len(), 32);
    assert!(with_token(&other, token, &[]).is_err());
}

#[test]
fn a_token_of_an_account_is_good_until_it_ends_or_the_account_goes() {
    let mut state = state();
    put(&mut state, "serviceaccounts", "y", "bot", json!({}));
    let now = Timestamp::now();
    let issue = |state: &State, uid, audience: &str, seconds| {
        let account = Account {
            namespace: "y",
            name: "bot",
            uid,
        };
        let until = now + SignedDuration::from_secs(seconds);
        state
            .auth
            .tokens
            .issue(account, &[audience.to_owned()], now, until)
    };
    let good = issue(&state, "uid-bot", ISSUER, 60);
    let user = with_token(&state, &good, &[]).unwrap();
    assert_eq!(user.name, "system:serviceaccount:y:bot");
    assert_eq!(user.uid, "uid-bot");
    let groups = [
        "system:serviceaccounts",
        "system:serviceaccounts:y",
        "system:authenticated",
    ];
    assert_eq!(user.groups, groups);

    let (signed, signature) = good.rsplit_once('.').unwrap();
    let (head, _) = signed.split_once('.').unwrap();
    let foreign = issue(&super::state(), "uid-bot", ISSUER, 60);
    for bad in [
        issue(&state, "uid-of-one-before", ISSUER, 60),
        issue(&state, "uid-bot", "somebody else", 60),
        issue(&state, "uid-bot", ISSUER, -1),
        foreign,
        format!("{head}.e30.{signature}"),
        format!("{signed}."),
        format!("{signed}.!"),
    ] {
        assert_eq!(
            with_token(&state, &bad, &[]).unwrap_err().code,
            401,
            "{bad}"
        );
    }
    state.store.remove(&crate::store::Key {
        resource: "serviceaccounts".into(),
        namespace: "y".into(),
        name: "bot".into(),
    });
    assert_eq!(with_token(&state, &good, &[]).unwrap_err().code, 401);
}

#[test]
fn impersonation_needs_a_right_for_each_part() {
    let mut state = state();
    let ann = User {
        name: "ann".into(),
        ..User::default()
    };
    state.auth.tokens.give("t".into(), ann);
    let refused = |state: &State, more: &[(&str, &str)]| {
        let error = with_token(state, "t", more).unwrap_err();
        assert_eq!(error.code, 403);
        error.message
    };
    assert_eq!(
        refused(&state, &[("impersonate-user", "bob")]),
        r#"users "bob" is forbidden: User "ann" cannot impersonate resource "users" in API group "" at the cluster scope"#
    );
    assert_eq!(
        refused(
            &state,
            &[("impersonate-user", "system:serviceaccount:y:bot")]
        ),
        r#"serviceaccounts "bot" is forbidden: User "ann" cannot impersonate resource "serviceaccounts" in API group "" in the namespace "y""#
    );
    // That is the name of no account.
    assert!(
        refused(&state, &[("impersonate-user", "system:serviceaccount:y")])
            .starts_with(r#"users "system:serviceaccount:y" is forbidden"#)
    );
    let rules = json!([
        { "verbs": ["impersonate"], "apiGroups": [""], "resources": ["users"], "resourceNames": ["bob"] },
        { "verbs": ["impersonate"], "apiGroups": [""], "resources": ["groups"], "resourceNames": ["g"] },
        { "verbs": ["impersonate"], "apiGroups": ["authentication.k8s.io"], "resources": ["userextras/a/b"] },
    ]);
    role(&mut state, "", "as", rules);
    bind(&mut state, "", "as", "as", person("ann"));
    let bob = [("impersonate-user", "bob"), ("impersonate-group", "g")];
    let user = with_token(&state, "t", &bob).unwrap();
    assert_eq!(
        (user.name.as_str(), user.groups.as_slice()),
        ("bob", &["g".into(), "system:authenticated".into()][..])
    );
    assert_eq!(user.sender.unwrap().name, "ann");
    let extra = ("impersonate-extra-a%2fb", "1");
    let user = with_token(&state, "t", &[bob[0], extra]).unwrap();
    assert_eq!(user.extra["a/b"], ["1"]);
    assert_eq!(
        refused(&state, &[bob[0], ("impersonate-group", "h")]),
        r#"groups "h" is forbidden: User "ann" cannot impersonate resource "groups" in API group "" at the cluster scope"#
    );
    assert_eq!(
        refused(&state, &[bob[0], ("impersonate-extra-c", "1")]),
        r#"userextras.authentication.k8s.io "1" is forbidden: User "ann" cannot impersonate resource "userextras/c" in API group "authentication.k8s.io" at the cluster scope"#
    );
    assert!(refused(&state, &[bob[0], ("impersonate-uid", "1")]).contains(r#"resource "uids""#));
}

#[test]
fn an_impersonated_account_has_its_groups_unless_others_are_named() {
    let state = state();
    let admin = state.auth.tokens.admin();
    let account = ("impersonate-user", "system:serviceaccount:y:bot");
    let user = with_token(&state, admin, &[account]).unwrap();
    let groups = [
        "system:serviceaccounts",
        "system:serviceaccounts:y",
        "system:authenticated",
    ];
    assert_eq!(user.groups, groups);
    let user = with_token(&state, admin, &[account, ("impersonate-group", "g")]).unwrap();
    assert_eq!(user.groups, ["g", "system:authenticated"]);
    let anonymous = ("impersonate-user", "system:anonymous");
    let user = with_token(&state, admin, &[anonymous]).unwrap();
    assert_eq!(user.groups, ["system:unauthenticated"]);
    for alone in [
        ("impersonate-group", "g"),
        ("impersonate-uid", "1"),
        ("impersonate-extra-a", "b"),
    ] {
        assert_eq!(with_token(&state, admin, &[alone]).unwrap_err().code, 500);
    }
}
