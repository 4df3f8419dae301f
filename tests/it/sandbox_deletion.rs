//! Deletion at a sandbox goes as it does at a real API server.

use serde_json::json;

use crate::support::differential::{CONFIG_MAPS, Pair, Story};
use crate::support::lab::api;
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
