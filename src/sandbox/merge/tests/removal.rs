use serde_json::json;

use super::support::Cluster;

#[test]
fn what_is_not_applied_any_more_goes() {
    let mut cluster = Cluster::new();
    cluster.apply(
        "a",
        json!({"data": {"x": "1", "y": "1"}, "spec": {"replicas": 1, "type": "t"}}),
    );
    cluster.apply("a", json!({"data": {"x": "1"}, "spec": {"type": "t"}}));
    assert_eq!(
        cluster.fields(),
        json!({"data": {"x": "1"}, "spec": {"type": "t"}})
    );
    assert_eq!(
        cluster.managed(),
        json!([["a", "Apply", 2, {"f:data": {"f:x": {}}, "f:spec": {"f:type": {}}}]])
    );
}

#[test]
fn what_somebody_else_applies_stays() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"data": {"x": "1", "y": "1"}}));
    cluster.apply("b", json!({"data": {"y": "1"}}));
    cluster.apply("a", json!({}));
    assert_eq!(cluster.fields(), json!({"data": {"y": "1"}}));
}

#[test]
fn what_was_updated_stays() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"data": {"x": "1", "y": "1"}}));
    cluster.put("editor", json!({"data": {"x": "1", "y": "2"}}));
    cluster.apply("a", json!({"data": {"x": "1"}}));
    assert_eq!(cluster.fields(), json!({"data": {"x": "1", "y": "2"}}));
}

#[test]
fn what_nobody_manages_stays_beside_what_goes() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"spec": {"replicas": 1, "paused": true}}));
    // A default, which nobody manages.
    cluster.object.as_mut().unwrap()["spec"]["type"] = "t".into();
    cluster.apply("a", json!({"spec": {"paused": true}}));
    assert_eq!(
        cluster.fields(),
        json!({"spec": {"type": "t", "paused": true}})
    );
}

#[test]
fn a_struct_goes_with_the_last_managed_field() {
    let mut cluster = Cluster::new();
    cluster.apply(
        "a",
        json!({"spec": {"paused": true, "strategy": {"rollingUpdate": {"maxSurge": 1}}}}),
    );
    // A default, which nobody manages.
    cluster.object.as_mut().unwrap()["spec"]["strategy"]["type"] = "RollingUpdate".into();
    cluster.apply("a", json!({"spec": {"paused": true}}));
    assert_eq!(cluster.fields(), json!({"spec": {"paused": true}}));
}

#[test]
fn items_of_lists_go_by_their_keys() {
    let mut cluster = Cluster::new();
    cluster.apply(
        "a",
        json!({"spec": {"ports": [{"port": 80}, {"port": 80, "protocol": "UDP"}, {"port": 81}]}}),
    );
    cluster.apply("b", json!({"spec": {"ports": [{"port": 82}]}}));
    cluster.apply(
        "a",
        json!({"spec": {"ports": [{"port": 80, "protocol": "UDP"}]}}),
    );
    assert_eq!(
        cluster.fields(),
        json!({"spec": {"ports": [{"port": 80, "protocol": "UDP"}, {"port": 82}]}})
    );
}

#[test]
fn an_item_stays_with_the_fields_of_those_who_still_apply_it() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"spec": {"containers": [{"name": "c", "image": "i", "env": [{"name": "e", "value": "1"}]}]}}));
    cluster.apply(
        "b",
        json!({"spec": {"containers": [{"name": "c", "image": "i"}]}}),
    );
    cluster.apply("a", json!({"spec": {"paused": true}}));
    assert_eq!(
        cluster.fields(),
        json!({"spec": {"paused": true, "containers": [{"name": "c", "image": "i"}]}})
    );
}

#[test]
fn finalizers_are_a_set() {
    let mut cluster = Cluster::new();
    cluster.apply(
        "a",
        json!({"metadata": {"finalizers": ["x.io/1", "x.io/2"]}}),
    );
    cluster.apply("b", json!({"metadata": {"finalizers": ["x.io/3"]}}));
    cluster.apply("a", json!({"metadata": {"finalizers": ["x.io/2"]}}));
    assert_eq!(
        cluster.fields(),
        json!({"metadata": {"finalizers": ["x.io/2", "x.io/3"]}})
    );
    assert_eq!(
        cluster.managed(),
        json!([
            ["b", "Apply", 2, {"f:metadata": {"f:finalizers": {"v:\"x.io/3\"": {}}}}],
            ["a", "Apply", 3, {"f:metadata": {"f:finalizers": {"v:\"x.io/2\"": {}}}}],
        ])
    );
}

#[test]
fn fields_of_anything_go_one_by_one_and_leave_null() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"spec": {"free": {"x": {"y": 1, "z": [1, 2]}}}}));
    assert_eq!(
        cluster.managed(),
        json!([["a", "Apply", 1, {"f:spec": {"f:free": {"f:x": {".": {}, "f:y": {}, "f:z": {}}}}}]])
    );
    cluster.apply("a", json!({"spec": {"free": {"x": {"z": [1, 2]}}}}));
    assert_eq!(
        cluster.fields(),
        json!({"spec": {"free": {"x": {"z": [1, 2]}}}})
    );
    cluster.apply("a", json!({"spec": {"free": {"x": {}}}}));
    assert_eq!(cluster.fields(), json!({"spec": {"free": {"x": null}}}));
}
