//! Questions about users and rights: they are answered and not kept.

use serde_json::{Map, Value, json};

use super::attributes::{Attributes, Target};
use super::rules_review::rules_review;
use super::token_request::token_request;
use super::tokens::ISSUER;
use super::{Decision, decide};
use crate::error::{ApiError, Cause};
use crate::request::{Request, User, Verb};
use crate::state::State;

/// Answers a request for a review, or for a ServiceAccount's token; `None` when it is for something else.
///
/// # Errors
/// Of a question that cannot be answered.
pub fn review(state: &State, request: &Request) -> Option<Result<Value, ApiError>> {
    if request.verb != Verb::Create {
        return None;
    }
    let kind = &request.kind;
    let answer = match (kind.group.as_str(), kind.plural.as_str()) {
        ("authorization.k8s.io", "selfsubjectaccessreviews") => own_access(state, request),
        ("authorization.k8s.io", "subjectaccessreviews") => access(state, request),
        ("authorization.k8s.io", "localsubjectaccessreviews") => local_access(state, request),
        ("authorization.k8s.io", "selfsubjectrulesreviews") => rules_review(state, request),
        ("authentication.k8s.io", "tokenreviews") => token(state, request),
        ("authentication.k8s.io", "selfsubjectreviews") => Ok(own(request)),
        ("", "serviceaccounts") if request.subresource.as_deref() == Some("token") => {
            token_request(state, request)
        }
        _ => return None,
    };
    Some(answer.map(|mut answer| {
        // Objects that are kept nowhere have been made at no time.
        if let Some(metadata) = answer.get_mut("metadata").and_then(Value::as_object_mut) {
            metadata.insert("creationTimestamp".to_owned(), Value::Null);
        }
        answer
    }))
}

/// The question with its answer.
pub(super) fn answered(request: &Request, spec: Value, status: Value) -> Value {
    let metadata = match request.body.get("metadata") {
        Some(Value::Object(metadata)) => metadata.clone(),
        _ => Map::new(),
    };
    let api_version = request.kind.api_version();
    let kind = request.kind.kind.as_str();
    json!({ "kind": kind, "apiVersion": api_version, "metadata": metadata, "spec": spec, "status": status })
}

fn own_access(state: &State, request: &Request) -> Result<Value, ApiError> {
    let spec = spec(request);
    decided(state, request, &spec, &request.user)
}

fn access(state: &State, request: &Request) -> Result<Value, ApiError> {
    let spec = spec(request);
    let user = subject(&spec).ok_or_else(|| {
        let why = "at least one of user or group must be specified";
        invalid("spec.user", &format!("Invalid value: \"\": {why}"))
    })?;
    decided(state, request, &spec, &user)
}

fn local_access(state: &State, request: &Request) -> Result<Value, ApiError> {
    let asked = request.body.pointer("/spec/resourceAttributes/namespace");
    let asked = asked.and_then(Value::as_str).unwrap_or_default();
    if Some(asked) != request.namespace.as_deref() {
        let why = format!("Invalid value: {asked:?}: must match metadata.namespace");
        return Err(invalid("spec.resourceAttributes.namespace", &why));
    }
    let mut answer = access(state, request)?;
    if let Some(metadata) = answer.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.insert("namespace".to_owned(), asked.into());
    }
    Ok(answer)
}

fn decided(state: &State, request: &Request, spec: &Value, user: &User) -> Result<Value, ApiError> {
    let attributes = attributes(spec)?;
    let Decision { allowed, reason } = decide(state, user, &attributes);
    let mut status = json!({ "allowed": allowed });
    if let (Some(status), false) = (status.as_object_mut(), reason.is_empty()) {
        status.insert("reason".to_owned(), reason.into());
    }
    Ok(answered(request, spec.clone(), status))
}

fn attributes(spec: &Value) -> Result<Attributes<'_>, ApiError> {
    let part = |key: &str| spec.get(key).filter(|part| part.is_object());
    match (part("resourceAttributes"), part("nonResourceAttributes")) {
        (Some(asked), None) => Ok(Attributes {
            verb: text(asked, "verb"),
            target: Target::Resource {
                group: text(asked, "group"),
                resource: text(asked, "resource"),
                subresource: text(asked, "subresource"),
                namespace: text(asked, "namespace"),
                name: text(asked, "name"),
            },
        }),
        (None, Some(asked)) => Ok(Attributes {
            verb: text(asked, "verb"),
            target: Target::Path(text(asked, "path")),
        }),
        (Some(_), Some(asked)) => {
            let (path, verb) = (text(asked, "path"), text(asked, "verb"));
            let value =
                format!("authorization.NonResourceAttributes{{Path:{path:?}, Verb:{verb:?}}}");
            let why = "cannot be specified in combination with resourceAttributes";
            Err(invalid(
                "spec.nonResourceAttributes",
                &format!("Invalid value: {value}: {why}"),
            ))
        }
        (None, None) => {
            let why =
                "exactly one of nonResourceAttributes or resourceAttributes must be specified";
            Err(invalid(
                "spec.resourceAttributes",
                &format!("Invalid value: \"null\": {why}"),
            ))
        }
    }
}

/// Whom a question is about; `None` for nobody.
fn subject(spec: &Value) -> Option<User> {
    let name = text(spec, "user");
    let groups = spec.get("groups").and_then(Value::as_array);
    let groups = groups.into_iter().flatten().filter_map(Value::as_str);
    let groups: Vec<String> = groups.map(str::to_owned).collect();
    if name.is_empty() && groups.is_empty() {
        return None;
    }
    Some(User {
        name: name.to_owned(),
        uid: text(spec, "uid").to_owned(),
        groups,
        ..User::default()
    })
}

fn token(state: &State, request: &Request) -> Result<Value, ApiError> {
    let spec = spec(request);
    let token = text(&spec, "token");
    if token.is_empty() {
        let message = "token is required for TokenReview in authentication";
        return Err(ApiError::bad_request(message));
    }
    let status = match state.auth.tokens.user(token, &state.store) {
        Some(user) => {
            json!({ "authenticated": true, "user": described(&user), "audiences": [ISSUER] })
        }
        None => json!({ "user": {}, "error": "invalid bearer token" }),
    };
    Ok(answered(request, spec, status))
}

fn own(request: &Request) -> Value {
    let status = json!({ "userInfo": described(&request.user) });
    let mut answer = answered(request, Value::Null, status);
    if let Some(answer) = answer.as_object_mut() {
        answer.remove("spec");
    }
    answer
}

/// A user, as reviews and audit logs tell of them.
pub(super) fn described(user: &User) -> Value {
    let mut described = Map::new();
    described.insert("username".to_owned(), user.name.as_str().into());
    if !user.uid.is_empty() {
        described.insert("uid".to_owned(), user.uid.as_str().into());
    }
    if !user.groups.is_empty() {
        described.insert("groups".to_owned(), user.groups.clone().into());
    }
    if !user.extra.is_empty() {
        described.insert("extra".to_owned(), json!(user.extra));
    }
    described.into()
}

pub(super) fn spec(request: &Request) -> Value {
    let spec = request.body.get("spec").filter(|spec| spec.is_object());
    spec.cloned().unwrap_or_else(|| json!({}))
}

pub(super) fn text<'a>(object: &'a Value, key: &str) -> &'a str {
    object.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// The refusal of a review. The API server knows neither kind nor name there.
fn invalid(field: &str, message: &str) -> ApiError {
    let cause = Cause {
        reason: "FieldValueInvalid",
        message: message.to_owned(),
        field: field.to_owned(),
    };
    ApiError::invalid("authorization.k8s.io", "", "", vec![cause])
}
