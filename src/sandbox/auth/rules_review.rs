//! What somebody may do in a namespace (`kubectl auth can-i --list`).

use serde_json::{Value, json};

use super::MASTERS;
use super::rbac::{ALL, Rule};
use super::review::{answered, spec, text};
use crate::error::ApiError;
use crate::request::Request;
use crate::state::State;

/// Answers a SelfSubjectRulesReview.
///
/// # Errors
/// 400 without a namespace.
pub fn rules_review(state: &State, request: &Request) -> Result<Value, ApiError> {
    let spec = spec(request);
    let namespace = text(&spec, "namespace");
    if namespace.is_empty() {
        return Err(ApiError::bad_request("no namespace on request"));
    }
    let policy = state.auth.policy.current(&state.store);
    let mut rules: Vec<Rule> = policy.rules(&request.user, namespace).cloned().collect();
    if request.user.groups.iter().any(|group| group == MASTERS) {
        rules.extend(everything());
    }
    let (paths, resources): (Vec<_>, Vec<_>) =
        rules.iter().partition(|rule| rule.groups.is_empty());
    let resources = resources.into_iter().map(|rule| {
        let mut told =
            json!({ "verbs": rule.verbs, "apiGroups": rule.groups, "resources": rule.resources });
        if let (Some(told), false) = (told.as_object_mut(), rule.names.is_empty()) {
            told.insert("resourceNames".to_owned(), rule.names.clone().into());
        }
        told
    });
    let paths = paths
        .into_iter()
        .map(|rule| json!({ "verbs": rule.verbs, "nonResourceURLs": rule.paths }));
    let status = json!({
        "resourceRules": resources.collect::<Vec<_>>(),
        "nonResourceRules": paths.collect::<Vec<_>>(),
        "incomplete": false,
    });
    // The API server tells what it found, and forgets what was asked.
    Ok(answered(request, json!({}), status))
}

/// The rules of those who need none.
fn everything() -> [Rule; 2] {
    let all = || vec![ALL.to_owned()];
    let resources = Rule {
        verbs: all(),
        groups: all(),
        resources: all(),
        ..Rule::default()
    };
    let paths = Rule {
        verbs: all(),
        paths: all(),
        ..Rule::default()
    };
    [resources, paths]
}
