use serde_json::json;

use super::support::Cluster;

#[test]
fn the_first_apply_makes_the_object_and_takes_what_it_says() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"metadata": {"labels": {"x": "y"}}, "spec": {"replicas": 1, "selector": {"a": "b"}}}));
    assert_eq!(
        cluster.managed(),
        json!([["a", "Apply", 1, {
            "f:metadata": {"f:labels": {"f:x": {}}},
            "f:spec": {"f:replicas": {}, "f:selector": {}},
        }]])
    );
}

#[test]
fn an_apply_that_changes_nothing_leaves_the_entry_and_its_time() {
    let mut cluster = Cluster::new();
    let fields = json!({"spec": {"replicas": 1, "ports": [{"port": 80}]}});
    cluster.apply("a", fields.clone());
    let before = cluster.object.clone();
    cluster.apply("a", fields);
    assert_eq!(cluster.object, before);
}

#[test]
fn who_applies_the_same_value_shares_the_field() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"spec": {"replicas": 1}}));
    cluster.apply("b", json!({"spec": {"replicas": 1}}));
    assert_eq!(
        cluster.managed(),
        json!([
            ["a", "Apply", 1, {"f:spec": {"f:replicas": {}}}],
            ["b", "Apply", 2, {"f:spec": {"f:replicas": {}}}],
        ])
    );
}

#[test]
fn an_empty_map_or_list_is_not_taken() {
    let mut cluster = Cluster::new();
    cluster.apply(
        "a",
        json!({"data": {}, "spec": {"ports": [], "strategy": {}, "replicas": 1}}),
    );
    assert_eq!(
        cluster.managed(),
        json!([["a", "Apply", 1, {"f:spec": {"f:replicas": {}}}]])
    );
    assert_eq!(
        cluster.fields(),
        json!({"data": {}, "spec": {"ports": [], "strategy": {}, "replicas": 1}})
    );
}

#[test]
fn a_null_is_taken() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"spec": {"type": null}}));
    assert_eq!(
        cluster.managed(),
        json!([["a", "Apply", 1, {"f:spec": {"f:type": {}}}]])
    );
}

#[test]
fn who_has_nothing_any_more_has_no_entry() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"data": {"x": "1"}}));
    cluster.apply("b", json!({"data": {"y": "1"}}));
    cluster.apply("b", json!({}));
    assert_eq!(
        cluster.managed(),
        json!([["a", "Apply", 1, {"f:data": {"f:x": {}}}]])
    );
}

#[test]
fn entries_are_in_the_order_of_operation_and_time() {
    let mut cluster = Cluster::new();
    cluster.put("z", json!({"data": {"x": "1"}}));
    cluster.apply("c", json!({"data": {"y": "1"}}));
    cluster.apply("b", json!({"data": {"z": "1"}}));
    cluster.apply("c", json!({"data": {"y": "2"}}));
    let managed = cluster.managed();
    let order: Vec<_> = managed
        .as_array()
        .unwrap()
        .iter()
        .map(|entry| &entry[0])
        .collect();
    assert_eq!(order, ["b", "c", "z"]);
}

#[test]
fn what_nobody_tracked_was_there_before_the_first_apply() {
    let mut cluster = Cluster::new();
    cluster.put("z", json!({"data": {"x": "1"}, "spec": {"replicas": 1}}));
    cluster.put(
        "z",
        json!({"metadata": {"managedFields": [{}]}, "data": {"x": "1"}, "spec": {"replicas": 2}}),
    );
    assert_eq!(cluster.managed(), json!([]));
    cluster.put("z", json!({"data": {"x": "2"}, "spec": {"replicas": 2}}));
    assert_eq!(cluster.managed(), json!([]));
    cluster.apply("a", json!({"data": {"x": "2"}}));
    assert_eq!(
        cluster.managed(),
        json!([
            ["a", "Apply", 4, {"f:data": {"f:x": {}}}],
            ["before-first-apply", "Update", 4, {
                "f:data": {".": {}, "f:x": {}}, "f:spec": {".": {}, "f:replicas": {}},
            }],
        ])
    );
}
