use serde_json::json;

use super::super::FieldSet;

#[test]
fn fields_v1_is_read_and_written_in_one_form() {
    let written = json!({
        "f:metadata": {"f:finalizers": {".": {}, "v:\"x\"": {}}},
        "f:spec": {"f:ports": {"k:{\"protocol\": \"TCP\", \"port\": 80}": {".": {}, "f:port": {}}}, "f:args": {"i:1": {}}},
    });
    let set = FieldSet::decode(&written).unwrap();
    let ports = set.field("spec").unwrap().field("ports").unwrap();
    assert!(ports.item("k:{\"port\":80,\"protocol\":\"TCP\"}").is_some());
    assert_eq!(
        set.encode()["f:spec"]["f:ports"],
        json!({"k:{\"port\":80,\"protocol\":\"TCP\"}": {".": {}, "f:port": {}}})
    );
}

#[test]
fn what_is_no_fields_v1_is_none() {
    for wrong in [
        json!([]),
        json!({"x": {}}),
        json!({"k:{": {}}),
        json!({"f:a": 1}),
        json!({"i:x": {}}),
    ] {
        assert_eq!(FieldSet::decode(&wrong), None, "{wrong}");
    }
}
