//! Custom objects of a sandbox are treated as those of a real API server.

use serde_json::{Value, json};

use crate::support::differential::definition::{THINGS, things};
use crate::support::differential::{Pair, Story};
use crate::support::lab::api;
use crate::support::namespace::unique;

fn pair() -> Pair<'static> {
    let pair = Pair::new(api(), &unique("things"), false);
    pair.define(&things());
    pair
}

fn spec(spec: Value) -> Value {
    json!({ "spec": spec })
}

#[test]
fn lists_maps_and_sets_are_merged_as_the_definition_says() {
    let pair = pair();
    let port = |port: u32, name: &str| json!({ "port": port, "protocol": "TCP", "name": name });
    Story::of(THINGS)
        .apply("a", spec(json!({
            "text": "x", "ports": [port(80, "p"), port(81, "q")], "members": ["p", "q"], "whole": ["p"],
            "map": { "a": "x" }, "wholeMap": { "a": "x" }, "structs": { "k": { "a": "x", "b": 1 } },
            "nested": { "a": "x", "deep": { "x": 1 } },
        })))
        .apply("b", spec(json!({
            "ports": [port(82, "r")], "members": ["r"], "map": { "b": "x" }, "structs": { "l": { "a": "x" } },
            "nested": { "deep": { "y": 1 } },
        })))
        .apply("b", spec(json!({ "whole": ["q"] })))
        .apply("a", spec(json!({ "text": "x", "ports": [port(81, "q")], "members": ["q"], "nested": { "a": "x" } })))
        .get()
        .agree(&pair);
}

#[test]
fn unknown_fields_are_pruned_and_defaults_are_filled_in() {
    let pair = pair();
    Story::of(THINGS)
        .create(
            "a",
            spec(json!({ "bogus": 1, "ports": [{ "port": 80 }], "free": { "kept": "x" } })),
        )
        .get()
        .agree(&pair);
}

#[test]
fn what_breaks_a_rule_is_refused() {
    let pair = pair();
    Story::of(THINGS)
        .create("a", spec(json!({ "replicas": 10 })))
        .create("a", spec(json!({ "replicas": "x" })))
        .create("a", spec(json!({ "text": "UPPER" })))
        .create("a", spec(json!({ "mode": "c" })))
        .create("a", spec(json!({ "members": ["p", "p"] })))
        .create(
            "a",
            spec(json!({ "ports": [{ "port": 80 }, { "port": 80 }] })),
        )
        .agree(&pair);
}

#[test]
fn the_status_is_written_at_its_own_endpoint_alone() {
    let pair = pair();
    let status = json!({ "status": { "phase": "x", "conditions": [{ "type": "Ready", "status": "True" }] } });
    Story::of(THINGS)
        .create("a", spec(json!({ "text": "x" })))
        .apply("controller", status.clone())
        .at("status")
        .apply("controller", status)
        .at("status")
        .merge(
            "a",
            json!({ "status": { "phase": "z" }, "spec": { "text": "y" } }),
        )
        .get()
        .agree(&pair);
}

#[test]
fn replacing_one_needs_its_version_and_counts_generations() {
    let pair = pair();
    Story::of(THINGS)
        .create("a", spec(json!({ "text": "x" })))
        .put("a", spec(json!({ "text": "y" })))
        .put("a", json!({ "metadata": { "resourceVersion": "$VERSION" }, "spec": { "text": "y" } }))
        .put("a", json!({ "metadata": { "resourceVersion": "$VERSION", "labels": { "l": "1" } }, "spec": { "text": "y" } }))
        .put("a", json!({ "metadata": { "resourceVersion": "$STALE" }, "spec": { "text": "z" } }))
        .strategic("a", spec(json!({ "text": "z" })))
        .agree(&pair);
}
