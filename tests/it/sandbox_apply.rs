//! Server-side apply does to an object of a sandbox what it does to one of a real API server.

use serde_json::{Value, json};

use crate::support::differential::{CONFIG_MAPS, POD_TEMPLATES, Pair, Story};
use crate::support::lab::api;
use crate::support::namespace::unique;

fn pair() -> Pair<'static> {
    Pair::new(api(), &unique("apply"), false)
}

fn data(data: Value) -> Value {
    json!({ "data": data })
}

/// A pod that has these fields in its one container.
fn container(fields: Value) -> Value {
    let mut container = json!({ "name": "app", "image": "shop/app:1" });
    container
        .as_object_mut()
        .unwrap()
        .extend(fields.as_object().unwrap().clone());
    json!({ "template": { "metadata": { "labels": { "app": "shop" } }, "spec": { "containers": [container] } } })
}

#[test]
fn what_is_applied_belongs_to_the_manager_and_goes_with_it() {
    let pair = pair();
    Story::of(CONFIG_MAPS)
        .apply("a", data(json!({ "x": "1", "y": "1" })))
        .apply("a", data(json!({ "x": "1", "y": "1" })))
        .apply("a", data(json!({ "x": "2" })))
        .apply("b", data(json!({ "z": "1" })))
        .apply("b", json!({}))
        .get()
        .agree(&pair);
}

#[test]
fn one_conflict_is_refused_in_the_same_words_and_force_takes_the_field() {
    let pair = pair();
    Story::of(CONFIG_MAPS)
        .create("editor", data(json!({ "x": "1", "y": "1" })))
        .apply("a", data(json!({ "x": "2" })))
        .force("a", data(json!({ "x": "2" })))
        .apply("b", data(json!({ "x": "3" })))
        .force("b", data(json!({ "x": "3" })))
        .get()
        .agree(&pair);
}

#[test]
fn who_applies_the_same_shares_it_and_the_last_one_takes_it_along() {
    let pair = pair();
    Story::of(CONFIG_MAPS)
        .apply("a", data(json!({ "x": "1", "y": "1" })))
        .apply("b", data(json!({ "x": "1" })))
        .apply("a", data(json!({ "y": "1" })))
        .apply("b", json!({ "metadata": { "labels": { "l": "1" } } }))
        .agree(&pair);
}

#[test]
fn a_change_by_other_means_takes_the_field_and_keeps_it_when_it_is_not_applied_any_more() {
    let pair = pair();
    Story::of(CONFIG_MAPS)
        .apply("a", data(json!({ "x": "1", "y": "1", "z": "1" })))
        .merge("kubectl-edit", json!({ "data": { "x": "2" } }))
        .json(
            "kubectl-edit",
            json!([{ "op": "remove", "path": "/data/z" }]),
        )
        .apply("a", data(json!({ "y": "1" })))
        .put("editor", data(json!({ "w": "1" })))
        .get()
        .agree(&pair);
}

#[test]
fn a_dry_run_leaves_everything_as_it_is() {
    let pair = pair();
    Story::of(CONFIG_MAPS)
        .apply("a", data(json!({ "x": "1" })))
        .dry()
        .get()
        .apply("a", data(json!({ "x": "1" })))
        .apply("a", data(json!({ "x": "2" })))
        .dry()
        .apply("b", data(json!({ "x": "2" })))
        .dry()
        .get()
        .agree(&pair);
}

#[test]
fn empty_maps_and_lists_are_not_taken_but_finalizers_and_labels_are() {
    let pair = pair();
    Story::of(CONFIG_MAPS)
        .apply(
            "a",
            json!({ "data": {}, "metadata": { "annotations": {}, "labels": { "l": "1" } } }),
        )
        .apply(
            "b",
            json!({ "metadata": { "finalizers": ["x.io/f", "x.io/g"] } }),
        )
        .apply("b", json!({ "metadata": { "finalizers": ["x.io/g"] } }))
        .apply("b", json!({}))
        .agree(&pair);
    Story::of(POD_TEMPLATES)
        .apply(
            "a",
            container(json!({ "args": [], "resources": {}, "env": [] })),
        )
        .agree(&pair);
}

#[test]
fn entries_that_were_taken_away_come_back_with_the_first_apply() {
    let pair = pair();
    Story::of(CONFIG_MAPS)
        .create("editor", data(json!({ "x": "1" })))
        .json(
            "editor",
            json!([{ "op": "replace", "path": "/metadata/managedFields", "value": [{}] }]),
        )
        .merge("editor", data(json!({ "y": "1" })))
        .apply("a", data(json!({ "x": "1" })))
        .get()
        .agree(&pair);
}

#[test]
fn applied_objects_must_not_tell_of_managers_nor_have_another_version() {
    let pair = pair();
    Story::of(CONFIG_MAPS)
        .apply("a", json!({ "metadata": { "managedFields": [] } }))
        .apply("a", json!({ "apiVersion": "v2" }))
        .apply("a", json!({ "metadata": { "resourceVersion": "$STALE" } }))
        .apply("a", data(json!({ "x": "1" })))
        .merge("editor", data(json!({ "y": "1" })))
        .apply(
            "a",
            json!({ "metadata": { "resourceVersion": "$STALE" }, "data": { "x": "2" } }),
        )
        .apply(
            "a",
            json!({ "metadata": { "uid": "other" }, "data": { "x": "2" } }),
        )
        .agree(&pair);
}

#[test]
fn items_of_env_ports_and_mounts_are_matched_by_their_keys() {
    let pair = pair();
    let variables = |list: Value| container(json!({ "env": list }));
    Story::of(POD_TEMPLATES)
        .apply("a", variables(json!([{ "name": "A", "value": "1" }])))
        .strategic(
            "injector",
            json!({ "template": { "spec": { "containers": [
            { "name": "app", "env": [{ "name": "JAVA_TOOL_OPTIONS", "value": "-javaagent:x" }] },
            { "name": "proxy", "image": "mesh/proxy" },
        ] } } }),
        )
        .apply("a", variables(json!([{ "name": "A", "value": "2" }])))
        .apply("b", variables(json!([{ "name": "A", "value": "3" }])))
        .apply("a", variables(json!([])))
        .get()
        .agree(&pair);
    let port = |port: u32, protocol: &str| json!({ "containerPort": port, "protocol": protocol });
    let ports = |list: Value| container(json!({ "ports": list }));
    Story::of(POD_TEMPLATES)
        .apply("a", ports(json!([port(80, "TCP"), port(80, "UDP")])))
        .apply("a", ports(json!([port(80, "UDP")])))
        .apply("b", ports(json!([port(81, "TCP")])))
        .agree(&pair);
}

#[test]
fn a_value_and_a_source_of_two_managers_do_not_go_together() {
    let pair = pair();
    let variables = |variable: Value| container(json!({ "env": [variable] }));
    Story::of(POD_TEMPLATES)
        .create("editor", variables(json!({ "name": "A", "valueFrom": { "fieldRef": { "fieldPath": "metadata.name" } } })))
        .apply("a", variables(json!({ "name": "A", "value": "1" })))
        .get()
        .agree(&pair);
}

#[test]
fn more_than_ten_updaters_are_put_together() {
    let pair = pair();
    let mut story = Story::of(CONFIG_MAPS).create("m0", data(json!({ "k0": "v" })));
    for number in 1..13 {
        let key = format!("k{number}");
        story = story.merge(&format!("m{number}"), data(json!({ key: "v" })));
    }
    // Who is oldest within one second is a matter of names, and the test takes less.
    story.agree(&pair);
}
