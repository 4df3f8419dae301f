//! Deletion at a sandbox goes as it does at a real API server.

use serde_json::{Value, json};

use crate::support::api::Api;
use crate::support::differential::{CONFIG_MAPS, Pair, Story};
use crate::support::lab::{api, eventually};
use crate::support::namespace::unique;

fn pair() -> Pair<'static> {
    Pair::new(api(), &unique("deletion"), false)
}

#[test]
fn what_is_deleted_is_gone_and_can_be_made_again() {
    let pair = pair();
    Story::of(CONFIG_MAPS)
        .create("a", json!({ "data": { "x": "1" } }))
        .delete(json!({ "dryRun": ["All"] }))
        .get()
        .delete(json!(null))
        .get()
        .delete(json!(null))
        .create("a", json!({ "data": { "x": "1" } }))
        .get()
        .agree(&pair);
}

#[test]
fn preconditions_are_looked_at() {
    let pair = pair();
    Story::of(CONFIG_MAPS)
        .create("a", json!({ "data": { "x": "1" } }))
        .merge("a", json!({ "data": { "x": "2" } }))
        .delete(json!({ "preconditions": { "uid": "other" } }))
        .delete(json!({ "preconditions": { "resourceVersion": "$STALE" } }))
        .delete(json!({ "preconditions": { "uid": "$UID", "resourceVersion": "$VERSION" } }))
        .get()
        .agree(&pair);
}

#[test]
fn an_object_with_finalizers_waits_for_them() {
    let pair = pair();
    Story::of(CONFIG_MAPS)
        .create(
            "a",
            json!({ "metadata": { "finalizers": ["x.io/f", "x.io/g"] } }),
        )
        .delete(json!(null))
        .delete(json!(null))
        .merge(
            "a",
            json!({ "metadata": { "finalizers": ["x.io/f", "x.io/h"] } }),
        )
        .merge(
            "a",
            json!({ "metadata": { "finalizers": ["x.io/f"] }, "data": { "x": "1" } }),
        )
        .merge("a", json!({ "metadata": { "finalizers": null } }))
        .get()
        .agree(&pair);
}

#[test]
fn who_waits_for_its_dependents_says_so() {
    let pair = pair();
    // The finalizers are taken away at once: on the server there is a garbage collector.
    Story::of(CONFIG_MAPS)
        .create("a", json!({ "metadata": { "finalizers": ["x.io/f"] } }))
        .delete(json!({ "propagationPolicy": "Background" }))
        .merge("a", json!({ "metadata": { "finalizers": null } }))
        .get()
        .agree(&pair);
}

#[test]
fn dependents_go_with_their_owner_or_are_let_go() {
    let pair = Pair::new(api(), &unique("owners"), true);
    for policy in ["Background", "Foreground", "Orphan"] {
        let [sandbox, server] =
            [&pair.sandbox, pair.server].map(|api| left(api, &pair.namespace, policy));
        assert_eq!(sandbox, server, "{policy}");
        assert_eq!(sandbox.is_null(), policy != "Orphan", "{policy}");
    }
}

/// What is left of a dependent once its owner is deleted.
fn left(api: &Api, namespace: &str, policy: &str) -> Value {
    let maps = format!("/api/v1/namespaces/{namespace}/configmaps");
    let name = policy.to_lowercase();
    let owner = api.create(&maps, &json!({ "metadata": { "name": name } }));
    let reference = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": owner["metadata"]["uid"],
        "blockOwnerDeletion": true,
    });
    let metadata = json!({ "name": format!("{name}-dependent"), "ownerReferences": [reference] });
    api.create(&maps, &json!({ "metadata": metadata }));
    let options = json!({ "propagationPolicy": policy });
    let (own, dependent) = (format!("{maps}/{name}"), format!("{maps}/{name}-dependent"));
    api.send("DELETE", &own, "application/json", &options)
        .unwrap();
    eventually("the owner is gone", || {
        api.find(&own).is_none().then_some(())
    });
    if policy != "Orphan" {
        eventually("the dependent is gone", || {
            api.find(&dependent).is_none().then_some(())
        });
    }
    let left = api.find(&dependent).unwrap_or_default();
    match left["metadata"].get("ownerReferences") {
        None if left.is_null() => Value::Null,
        references => json!({ "ownerReferences": references }),
    }
}

#[test]
fn nothing_can_be_made_in_a_namespace_that_goes() {
    let pair = Pair::new(api(), &unique("around"), true);
    let name = unique("going");
    let [sandbox, server] = [&pair.sandbox, pair.server].map(|api| refused(api, &name));
    assert_eq!(sandbox, server);
    assert_eq!(sandbox.0, 403);
}

/// How a creation is refused in a namespace that waits for a finalizer.
fn refused(api: &Api, name: &str) -> (u16, Value) {
    let namespace = format!("/api/v1/namespaces/{name}");
    let maps = format!("{namespace}/configmaps");
    api.create(
        "/api/v1/namespaces",
        &json!({ "metadata": { "name": name } }),
    );
    let metadata = json!({ "name": "held", "finalizers": ["x.io/f"] });
    api.create(&maps, &json!({ "metadata": metadata }));
    assert!(api.delete(&namespace));
    eventually("it is about to go", || {
        (api.get(&namespace)["status"]["phase"] == "Terminating").then_some(())
    });
    let object = json!({ "metadata": { "name": "late" } });
    let refused = api.raw("POST", &maps, "application/json", &object);
    api.edit(
        &format!("{maps}/held"),
        &json!({ "metadata": { "finalizers": null } }),
    );
    eventually("it is gone", || {
        api.find(&namespace).is_none().then_some(())
    });
    refused
}
