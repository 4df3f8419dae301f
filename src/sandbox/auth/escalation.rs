//! Nobody gives away rights that they do not have.

use std::collections::BTreeMap;

use serde_json::Value;

use super::attributes::{Attributes, Target};
use super::decide;
use super::rbac::{ALL, GROUP, Rule, covers_path};
use crate::error::ApiError;
use crate::request::{Request, User};
use crate::state::State;
use crate::store::Key;

/// Checks a role or binding that is to be written, `before` being what is there.
///
/// # Errors
/// 403 when it gives rights that its writer does not have, unless they may `escalate` roles or `bind` this one; 404 for a
/// binding of a role that is not there.
pub fn check(
    state: &State,
    request: &Request,
    object: &Value,
    before: Option<&Value>,
) -> Result<(), ApiError> {
    let user = &request.user;
    if request.kind.group != GROUP {
        return Ok(());
    }
    let same = |key: &str| before.is_some_and(|before| before.get(key) == object.get(key));
    let plural = request.kind.plural.as_str();
    let namespace = request.namespace.as_deref().unwrap_or_default();
    let (rules, right) = match plural {
        "roles" | "clusterroles" => {
            if same("rules") && same("aggregationRule") {
                return Ok(());
            }
            let right = (
                "escalate",
                plural,
                request.name.as_deref().unwrap_or_default(),
            );
            let mut rules = Rule::all_of(object);
            if object.get("aggregationRule").is_some() {
                rules.push(everything());
            }
            (rules, right)
        }
        "rolebindings" | "clusterrolebindings" => {
            if same("roleRef") && same("subjects") {
                return Ok(());
            }
            let text = |pointer: &str| object.pointer(pointer).and_then(Value::as_str);
            let role = text("/roleRef/name").unwrap_or_default();
            let (plural, place) = match text("/roleRef/kind") {
                Some("Role") => ("roles", namespace),
                _ => ("clusterroles", ""),
            };
            let right = ("bind", plural, role);
            if may(state, user, right, namespace) {
                return Ok(());
            }
            let role = state.store.get(&Key {
                resource: format!("{plural}.{GROUP}").into(),
                namespace: place.to_owned(),
                name: role.to_owned(),
            });
            let role = role.ok_or_else(|| ApiError::not_found(GROUP, plural, right.2))?;
            (Rule::all_of(role), right)
        }
        _ => return Ok(()),
    };
    if may(state, user, right, namespace) {
        return Ok(());
    }

    let policy = state.auth.policy.current(&state.store);
    let held: Vec<&Rule> = policy.rules(user, namespace).collect();
    let missing = missing(&rules, &held);
    if missing.is_empty() {
        return Ok(());
    }
    let said: String = missing
        .iter()
        .map(|rule| format!("\n{}", worded(rule)))
        .collect();
    let groups = quoted(&user.groups);
    let why = format!(
        "user {:?} (groups={groups}) is attempting to grant RBAC permissions not currently held:{said}",
        user.name
    );
    let name = object.pointer("/metadata/name").and_then(Value::as_str);
    Err(ApiError::forbidden(
        GROUP,
        plural,
        name.unwrap_or_default(),
        &why,
    ))
}

fn may(
    state: &State,
    user: &User,
    (verb, resource, name): (&str, &str, &str),
    namespace: &str,
) -> bool {
    let target = Target::Resource {
        group: GROUP,
        resource,
        subresource: "",
        namespace,
        name,
    };
    decide(state, user, &Attributes { verb, target }).allowed
}

fn everything() -> Rule {
    let all = || vec![ALL.to_owned()];
    Rule {
        verbs: all(),
        groups: all(),
        resources: all(),
        ..Rule::default()
    }
}

/// What rules give beyond those that are held: a rule for each resource or path, in order.
fn missing(given: &[Rule], held: &[&Rule]) -> Vec<Rule> {
    let mut verbs: BTreeMap<[&str; 4], Vec<String>> = BTreeMap::new();
    for rule in given {
        let names = match rule.names.as_slice() {
            [] => vec![""],
            names => names.iter().map(String::as_str).collect(),
        };
        let mut places: Vec<[&str; 4]> = Vec::new();
        for group in &rule.groups {
            for resource in &rule.resources {
                places.extend(
                    names
                        .iter()
                        .map(|name| [group.as_str(), resource, name, ""]),
                );
            }
        }
        places.extend(rule.paths.iter().map(|path| ["", "", "", path.as_str()]));
        for place in places {
            for verb in &rule.verbs {
                let list = verbs.entry(place).or_default();
                if !held.iter().any(|held| covers(held, place, verb)) && !list.contains(verb) {
                    list.push(verb.clone());
                }
            }
        }
    }
    let missing = verbs.into_iter().filter(|(_, verbs)| !verbs.is_empty());
    let rules = missing.map(|([group, resource, name, path], verbs)| {
        let some = |text: &str| match text {
            "" => Vec::new(),
            text => vec![text.to_owned()],
        };
        Rule {
            verbs,
            groups: if path.is_empty() {
                vec![group.to_owned()]
            } else {
                Vec::new()
            },
            resources: some(resource),
            names: some(name),
            paths: some(path),
        }
    });
    rules.collect()
}

/// Tells whether a rule gives a verb for a place, which is a group, a resource and a name, or a path.
fn covers(held: &Rule, [group, resource, name, path]: [&str; 4], verb: &str) -> bool {
    let has = |list: &[String], wanted: &str| list.iter().any(|it| it == ALL || it == wanted);
    if !has(&held.verbs, verb) {
        return false;
    }
    if !path.is_empty() {
        return held.paths.iter().any(|held| covers_path(held, path));
    }
    let subresource = resource.split_once('/').map(|(_, subresource)| subresource);
    let any_of_it = |held: &String| {
        held.strip_prefix("*/")
            .is_some_and(|it| Some(it) == subresource)
    };
    (has(&held.resources, resource) || held.resources.iter().any(any_of_it))
        && has(&held.groups, group)
        && (held.names.is_empty() || held.names.iter().any(|held| held == name))
}

/// A rule as the API server writes it in refusals.
fn worded(rule: &Rule) -> String {
    let lists = [
        ("APIGroups", &rule.groups),
        ("Resources", &rule.resources),
        ("ResourceNames", &rule.names),
        ("NonResourceURLs", &rule.paths),
        ("Verbs", &rule.verbs),
    ];
    let said = lists.into_iter().filter(|(_, list)| !list.is_empty());
    let said: Vec<String> = said
        .map(|(name, list)| format!("{name}:{}", quoted(list)))
        .collect();
    format!("{{{}}}", said.join(", "))
}

fn quoted(list: &[String]) -> String {
    let list: Vec<String> = list.iter().map(|item| format!("{item:?}")).collect();
    format!("[{}]", list.join(" "))
}
