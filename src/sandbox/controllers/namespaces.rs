//! Namespaces: what each of them has, and how they end.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Value, json};

use super::client;
use super::object::{condition, is_leaving, items, now, set, set_list, text};
use crate::state::State;
use crate::store::Key;

/// The finalizer that is this controller's.
const FINALIZER: &str = "kubernetes";

/// Fills a Namespace, or empties one that is to go.
pub(super) fn sync(state: &mut State, key: &Key) {
    let Some(namespace) = state.store.get(key).cloned() else {
        return;
    };
    if is_leaving(&namespace) {
        empty(state, key, &namespace);
    } else {
        fill(state, key);
    }
}

fn fill(state: &mut State, key: &Key) {
    let own = |resource: &str, name: &str| Key {
        resource: resource.into(),
        namespace: key.name.clone(),
        name: name.to_owned(),
    };
    let account = own("serviceaccounts", "default");
    if state.store.get(&account).is_none() {
        let object = json!({
            "apiVersion": "v1", "kind": "ServiceAccount",
            "metadata": { "name": "default", "namespace": key.name },
        });
        client::create(state, &account, object);
    }
    let root = own("configmaps", "kube-root-ca.crt");
    if state.store.get(&root).is_none() {
        let certificate = state.controllers.root_certificate.clone();
        let object = json!({
            "apiVersion": "v1", "kind": "ConfigMap", "data": { "ca.crt": certificate },
            "metadata": { "name": "kube-root-ca.crt", "namespace": key.name },
        });
        client::create(state, &root, object);
    }
}

/// Deletes what is in a Namespace, then its finalizer; what stays because of finalizers is told in its conditions.
fn empty(state: &mut State, key: &Key, namespace: &Value) {
    if !items(namespace, "/spec/finalizers").any(|finalizer| finalizer == FINALIZER) {
        return;
    }
    let resources: BTreeSet<String> = state
        .kinds
        .all()
        .filter(|kind| kind.namespaced)
        .map(|kind| kind.resource())
        .collect();
    for resource in &resources {
        for (key, object) in contents(state, resource, &key.name) {
            if !is_leaving(&object) {
                let options = json!({ "propagationPolicy": "Background" });
                client::delete(state, &key, &object, options);
            }
        }
    }
    let mut left: BTreeMap<&str, usize> = BTreeMap::new();
    let mut held: BTreeMap<String, usize> = BTreeMap::new();
    for resource in &resources {
        for (_, object) in contents(state, resource, &key.name) {
            *left.entry(resource).or_default() += 1;
            for finalizer in items(&object, "/metadata/finalizers").filter_map(Value::as_str) {
                *held.entry(finalizer.to_owned()).or_default() += 1;
            }
        }
    }
    if left.is_empty() {
        finish(state, key);
    } else {
        tell(state, key, namespace, &left, &held);
    }
}

fn contents(state: &State, resource: &str, namespace: &str) -> Vec<(Key, Arc<Value>)> {
    let all = state.store.list(&resource.into(), Some(namespace));
    all.map(|(key, object)| (key.clone(), object.clone()))
        .collect()
}

fn finish(state: &mut State, key: &Key) {
    let Some(namespace) = state.store.get(key) else {
        return;
    };
    let mut namespace = (**namespace).clone();
    let others: Vec<Value> = items(&namespace, "/spec/finalizers")
        .filter(|finalizer| *finalizer != FINALIZER)
        .cloned()
        .collect();
    set_list(&mut namespace, "spec", "finalizers", others);
    client::update_part(state, key, "finalize", namespace, "kube-controller-manager");
}

fn tell(
    state: &mut State,
    key: &Key,
    namespace: &Value,
    left: &BTreeMap<&str, usize>,
    held: &BTreeMap<String, usize>,
) {
    let remaining: Vec<String> = left
        .iter()
        .map(|(resource, count)| {
            let (plural, group) = resource.split_once('.').unwrap_or((resource, ""));
            format!("{plural}.{group} has {count} resource instances")
        })
        .collect();
    let remaining = format!("Some resources are remaining: {}", remaining.join(", "));
    let finalizers: Vec<String> = held
        .iter()
        .map(|(finalizer, count)| format!("{finalizer} in {count} resource instances"))
        .collect();
    let finalizers = match finalizers.is_empty() {
        true => (
            "False",
            "ContentHasNoFinalizers",
            "All content-preserving finalizers finished".to_owned(),
        ),
        false => (
            "True",
            "SomeFinalizersRemain",
            format!(
                "Some content in the namespace has finalizers remaining: {}",
                finalizers.join(", ")
            ),
        ),
    };
    let wanted = [
        (
            "NamespaceDeletionDiscoveryFailure",
            "False",
            "ResourcesDiscovered",
            "All resources successfully discovered",
        ),
        (
            "NamespaceDeletionGroupVersionParsingFailure",
            "False",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        (
            "NamespaceDeletionContentFailure",
            "False",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        (
            "NamespaceContentRemaining",
            "True",
            "SomeResourcesRemain",
            &remaining,
        ),
        (
            "NamespaceFinalizersRemaining",
            finalizers.0,
            finalizers.1,
            &finalizers.2,
        ),
    ];
    let conditions: Vec<Value> = wanted
        .into_iter()
        .map(|(r#type, status, reason, message)| {
            let known = condition(namespace, r#type);
            let since = known
                .filter(|known| text(known, "/status") == status)
                .map_or_else(now, |known| text(known, "/lastTransitionTime").to_owned());
            json!({
                "type": r#type, "status": status, "lastTransitionTime": since,
                "reason": reason, "message": message,
            })
        })
        .collect();
    if items(namespace, "/status/conditions").eq(conditions.iter()) {
        return;
    }
    let mut new = namespace.clone();
    set(&mut new, &["status", "conditions"], conditions.into());
    client::update_status(state, key, new);
}
