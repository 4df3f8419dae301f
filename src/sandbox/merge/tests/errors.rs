use serde_json::{Value, json};

use super::super::MergeError;
use super::support::Cluster;

fn why(fields: Value) -> String {
    match Cluster::new().refused("a", fields) {
        MergeError::Invalid(why) => why,
        MergeError::Conflicts(conflicts) => panic!("{conflicts:?}"),
    }
}

fn typed(fields: Value) -> String {
    let prefix = "failed to create typed patch object (/a; v1, Kind=Thing): ";
    let why = why(fields);
    why.strip_prefix(prefix).unwrap_or(&why).to_owned()
}

#[test]
fn managed_fields_cannot_be_applied() {
    let fields = json!({"metadata": {"managedFields": []}});
    assert_eq!(why(fields), "metadata.managedFields must be nil");
}

#[test]
fn unknown_fields_and_wrong_types_are_named_with_their_place() {
    assert_eq!(
        typed(json!({"spec": {"bogus": 1}})),
        ".spec.bogus: field not declared in schema"
    );
    assert_eq!(
        typed(json!({"spec": {"replicas": "1"}})),
        ".spec.replicas: expected numeric (int or float), got string"
    );
    assert_eq!(
        typed(json!({"spec": {"containers": [{"name": "c", "env": [{"name": "e", "value": 3}]}]}})),
        r#".spec.containers[name="c"].env[name="e"].value: expected string, got &value.valueUnstructured{Value:3}"#
    );
    assert_eq!(
        typed(json!({"spec": {"ports": "x"}, "data": [1, "y"]})),
        "errors:\n  .data: expected map, got &{[1 y]}\n  .spec.ports: expected list, got &{x}"
    );
    assert_eq!(
        typed(json!({"spec": {"paused": "yes"}})),
        ".spec.paused: expected boolean, got &{yes}"
    );
}

#[test]
fn items_need_their_keys_and_one_item_for_each() {
    assert_eq!(
        typed(json!({"spec": {"ports": [{"name": "http"}]}})),
        ".spec.ports: element 0: associative list with keys has an element that omits key field \"port\" \
         (and doesn't have default value)"
    );
    assert_eq!(
        typed(json!({"spec": {"ports": [{"port": 1}, {"port": 1, "protocol": "TCP"}]}})),
        r#".spec.ports: duplicate entries for key [port=1,protocol="TCP"]"#
    );
    assert_eq!(
        typed(json!({"metadata": {"finalizers": ["x", "x"]}})),
        r#".metadata.finalizers: duplicate entries for key [="x"]"#
    );
}

#[test]
fn a_quantity_may_be_a_number() {
    let mut cluster = Cluster::new();
    cluster.apply(
        "a",
        json!({"spec": {"containers": [{"name": "c", "limits": {"cpu": 1}}]}}),
    );
    assert_eq!(
        cluster.fields(),
        json!({"spec": {"containers": [{"name": "c", "limits": {"cpu": 1}}]}})
    );
}
