//! ClusterRoles that are made of others.

use std::sync::Arc;

use serde_json::Value;

use super::GROUP;
use crate::state::State;
use crate::store::{Key, Store};

/// Gives ClusterRoles with an `aggregationRule` the rules of those that it selects; tells whether any changed.
pub fn aggregate(state: &mut State) -> bool {
    let resource: Arc<str> = format!("clusterroles.{GROUP}").into();
    let changed: Vec<(Key, Value)> = state
        .store
        .list(&resource, None)
        .filter_map(|(key, role)| {
            let rules = aggregated(&state.store, &resource, &key.name, role)?;
            let known = role.get("rules").and_then(Value::as_array);
            let same = known.map_or(rules.is_empty(), |known| *known == rules);
            if same {
                return None;
            }
            let mut role = (**role).clone();
            role.as_object_mut()?
                .insert("rules".to_owned(), rules.into());
            Some((key.clone(), role))
        })
        .collect();
    let any = !changed.is_empty();
    for (key, role) in changed {
        state.store.put(key, role);
    }
    any
}

/// The rules that a role is to have; `None` when it is made of no others.
fn aggregated(store: &Store, resource: &Arc<str>, name: &str, role: &Value) -> Option<Vec<Value>> {
    let mut rules = Vec::new();
    let mut seen = vec![name];
    collect(store, resource, selectors(role)?, &mut seen, &mut rules);
    Some(rules)
}

/// Adds the rules of all roles that are selected. Those that are made of others are looked through, so that an order of
/// roles that select each other is no matter.
fn collect<'a>(
    store: &'a Store,
    resource: &Arc<str>,
    selectors: &Value,
    seen: &mut Vec<&'a str>,
    rules: &mut Vec<Value>,
) {
    for (key, other) in store.list(resource, None) {
        let labels = other.pointer("/metadata/labels");
        let mut all = selectors.as_array().into_iter().flatten();
        if seen.contains(&key.name.as_str()) || !all.any(|selector| selects(selector, labels)) {
            continue;
        }
        seen.push(&key.name);
        if let Some(selectors) = self::selectors(other) {
            collect(store, resource, selectors, seen, rules);
            continue;
        }
        let theirs = other.get("rules").and_then(Value::as_array);
        for rule in theirs.into_iter().flatten() {
            if !rules.contains(rule) {
                rules.push(rule.clone());
            }
        }
    }
}

fn selectors(role: &Value) -> Option<&Value> {
    role.pointer("/aggregationRule/clusterRoleSelectors")
}

/// Tells whether a label selector, in the form of objects, selects labels.
fn selects(selector: &Value, labels: Option<&Value>) -> bool {
    let label = |key: &str| labels?.get(key)?.as_str();
    let exact = selector.get("matchLabels").and_then(Value::as_object);
    let exact = exact.into_iter().flatten();
    let expressions = selector.get("matchExpressions").and_then(Value::as_array);
    let expressions = expressions.into_iter().flatten();
    exact
        .into_iter()
        .all(|(key, value)| label(key) == value.as_str())
        && expressions.into_iter().all(|expression| {
            let text = |key: &str| expression.get(key).and_then(Value::as_str);
            let values = expression.get("values").and_then(Value::as_array);
            let value = label(text("key").unwrap_or_default());
            let listed = value.is_some_and(|value| {
                let mut values = values.into_iter().flatten();
                values.any(|listed| listed == value)
            });
            match text("operator") {
                Some("In") => listed,
                Some("NotIn") => !listed,
                Some("Exists") => value.is_some(),
                Some("DoesNotExist") => value.is_none(),
                _ => false,
            }
        })
}
