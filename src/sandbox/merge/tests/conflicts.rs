use serde_json::json;

use super::support::Cluster;
use crate::error::ApiError;

#[test]
fn one_conflict_is_told_in_one_line() {
    let mut cluster = Cluster::new();
    cluster.put("editor", json!({"spec": {"replicas": 1}}));
    let error = cluster.refused("a", json!({"spec": {"replicas": 2}}));
    assert_eq!(
        error.to_string(),
        r#"Apply failed with 1 conflict: conflict with "editor" using v1: .spec.replicas"#
    );
}

#[test]
fn many_conflicts_are_listed_by_manager_and_told_to_programs() {
    let mut cluster = Cluster::new();
    cluster.put("editor", json!({"spec": {"replicas": 1, "ports": [{"port": 443, "targetPort": 1}, {"port": 80, "targetPort": 1}]}}));
    cluster.apply("b", json!({"data": {"x": "1"}}));
    let error = cluster.refused(
        "a",
        json!({"data": {"x": "2"}, "spec": {"replicas": 2, "ports": [{"port": 443, "targetPort": 2}, {"port": 80, "targetPort": 2}]}}),
    );
    let refusal = ApiError::from(error).body();
    assert_eq!(
        refusal["message"],
        "Apply failed with 4 conflicts: conflicts with \"b\":\n\
         - .data.x\n\
         conflicts with \"editor\" using v1:\n\
         - .spec.replicas\n\
         - .spec.ports[port=80,protocol=\"TCP\"].targetPort\n\
         - .spec.ports[port=443,protocol=\"TCP\"].targetPort"
    );
    assert_eq!(refusal["code"], 409);
    assert_eq!(refusal["reason"], "Conflict");
    assert_eq!(
        refusal["details"]["causes"][1],
        json!({
            "reason": "FieldManagerConflict",
            "message": "conflict with \"editor\" using v1",
            "field": ".spec.replicas",
        })
    );
}

#[test]
fn force_takes_the_field_from_its_manager() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"spec": {"replicas": 1}}));
    cluster.force("b", json!({"spec": {"replicas": 2}}));
    assert_eq!(cluster.fields(), json!({"spec": {"replicas": 2}}));
    assert_eq!(
        cluster.managed(),
        json!([["b", "Apply", 2, {"f:spec": {"f:replicas": {}}}]])
    );
}

#[test]
fn one_that_manages_a_field_alone_may_change_it_but_not_one_that_shares_it() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"data": {"x": "1", "y": "1"}}));
    cluster.apply("b", json!({"data": {"x": "1"}}));
    cluster.apply("a", json!({"data": {"x": "1", "y": "2"}}));
    let error = cluster.refused("a", json!({"data": {"x": "2", "y": "2"}}));
    assert_eq!(
        error.to_string(),
        r#"Apply failed with 1 conflict: conflict with "b": .data.x"#
    );
}

#[test]
fn whole_maps_and_lists_conflict_as_one() {
    let mut cluster = Cluster::new();
    cluster.apply(
        "a",
        json!({"spec": {"selector": {"x": "1"}, "containers": [{"name": "c", "args": ["1"]}]}}),
    );
    let error = cluster.refused(
        "b",
        json!({"spec": {"selector": {"y": "1"}, "containers": [{"name": "c", "args": ["1", "2"]}]}}),
    );
    assert_eq!(
        error.to_string(),
        "Apply failed with 2 conflicts: conflicts with \"a\":\n\
         - .spec.selector\n\
         - .spec.containers[name=\"c\"].args"
    );
}

#[test]
fn another_ones_port_is_no_conflict() {
    let mut cluster = Cluster::new();
    cluster.apply("a", json!({"spec": {"ports": [{"port": 80}]}}));
    cluster.apply("b", json!({"spec": {"ports": [{"port": 81}]}}));
    assert_eq!(
        cluster.fields(),
        json!({"spec": {"ports": [{"port": 80}, {"port": 81}]}})
    );
}
