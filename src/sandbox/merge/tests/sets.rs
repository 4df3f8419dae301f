use serde_json::json;

use super::super::{FieldSet, expand};

#[test]
fn fields_v1_is_read_and_written_in_one_form() {
    let written = json!({
        "f:metadata": {"f:finalizers": {".": {}, "v:\"x\"": {}}},
        "f:spec": {"f:ports": {"k:{\"protocol\": \"TCP\", \"port\": 80}": {".": {}, "f:port": {}}}, "f:args": {"i:1": {}}},
    });
    let set = FieldSet::decode(&written).unwrap();
    let ports = set.field("spec").unwrap().field("ports").unwrap();
    assert!(ports.item("k:{\"port\":80,\"protocol\":\"TCP\"}").is_some());

    for (read, written) in [
        (json!({}), "{}"),
        (
            json!({ "f:b": {}, "f:a": { "f:\"c": {}, ".": {} } }),
            r#"{"f:a":{".":{},"f:\"c":{}},"f:b":{}}"#,
        ),
        (
            json!({ "v:\"x\"": {}, "i:07": {}, "k:{ \"n\": 1, \"a\": \"x\" }": {} }),
            r#"{"i:7":{},"k:{\"a\":\"x\",\"n\":1}":{},"v:\"x\"":{}}"#,
        ),
    ] {
        let set = FieldSet::decode(&read).unwrap();
        assert_eq!(set.encode(), written);
        assert_eq!(FieldSet::decode(&written.into()), Some(set));
    }
}

#[test]
fn what_is_no_fields_v1_is_none() {
    for wrong in [
        json!(null),
        json!([]),
        json!("f:a"),
        json!("{"),
        json!({"x": {}}),
        json!({"k:{": {}}),
        json!({"f:a": 1}),
        json!({"i:x": {}}),
    ] {
        assert_eq!(FieldSet::decode(&wrong), None, "{wrong}");
    }
}

#[test]
fn texts_are_expanded() {
    let fields = json!({ "f:data": { "f:a": {} } });
    let mut object = json!({ "metadata": { "managedFields": [
        { "fieldsV1": fields.to_string() }, { "fieldsV1": fields }, {}, { "fieldsV1": "no" },
    ] } });
    expand(&mut object);
    let whole = json!([{ "fieldsV1": fields }, { "fieldsV1": fields }, {}, { "fieldsV1": "no" }]);
    assert_eq!(object["metadata"]["managedFields"], whole);
}
