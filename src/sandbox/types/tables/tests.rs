use std::sync::Arc;

use serde_json::{Value, json};

use super::{Include, table};
use crate::types::{Column, Origin, assumed, built_in};

fn row(api_version: &str, kind: &str, object: Value) -> Vec<(String, Value)> {
    let kinds = built_in();
    let kind = kinds.of(api_version, kind).unwrap();
    let table = table(kind, &[Arc::new(object)], Include::Nothing, json!({}));
    let heads = table["columnDefinitions"].as_array().unwrap().iter();
    let heads = heads.map(|it| it["name"].as_str().unwrap().to_owned());
    heads
        .zip(table["rows"][0]["cells"].as_array().unwrap().clone())
        .collect()
}

#[test]
fn each_row_has_a_cell_for_each_column() {
    let kinds = built_in();
    for kind in kinds.all() {
        let table = table(kind, &[Arc::new(json!({}))], Include::Nothing, json!({}));
        let count = |list: &Value| list.as_array().unwrap().len();
        assert_eq!(
            count(&table["columnDefinitions"]),
            count(&table["rows"][0]["cells"]),
            "{}",
            kind.kind
        );
    }
}

#[test]
fn pods_say_in_one_word_how_they_are() {
    let state = |status: Value| {
        let pod = json!({
            "metadata": { "name": "a" }, "spec": { "containers": [{}, {}], "initContainers": [{}] }, "status": status,
        });
        let row = row("v1", "Pod", pod);
        let cell = |name: &str| row.iter().find(|(head, _)| head == name).unwrap().1.clone();
        (cell("Ready"), cell("Status"), cell("Restarts"))
    };
    let running = json!({ "ready": true, "restartCount": 2, "state": { "running": {} } });
    let ended = json!({ "restartCount": 1, "state": { "terminated": { "reason": "Completed" } } });
    for (status, expected) in [
        (
            json!({ "phase": "Pending" }),
            (json!("0/2"), json!("Pending"), json!(0)),
        ),
        (
            json!({ "phase": "Running", "containerStatuses": [running, running] }),
            (json!("2/2"), json!("Running"), json!(4)),
        ),
        (
            json!({ "phase": "Running", "containerStatuses": [ended, running] }),
            (json!("1/2"), json!("NotReady"), json!(3)),
        ),
        (
            json!({ "phase": "Pending", "initContainerStatuses": [{ "restartCount": 1, "state": { "running": {} } }] }),
            (json!("0/2"), json!("Init:0/1"), json!(1)),
        ),
        (
            json!({ "containerStatuses": [{ "restartCount": 0, "state": { "waiting": { "reason": "CrashLoopBackOff" } } }] }),
            (json!("0/2"), json!("CrashLoopBackOff"), json!(0)),
        ),
    ] {
        assert_eq!(state(status), expected);
    }
}

#[test]
fn custom_objects_show_what_their_definition_says() {
    let mut kind = assumed("x.io/v1", "Gadget");
    kind.origin = Origin::Custom("gadgets.x.io".to_owned());
    let show = |kind: &_| {
        let object = json!({
            "metadata": { "name": "a", "annotations": { "x.io/a": "b" } }, "spec": { "size": 3, "tags": ["x", "y"] },
            "status": { "conditions": [{ "type": "Other", "status": "False" }, { "type": "Ready", "status": "True" }] },
        });
        table(kind, &[Arc::new(object)], Include::Nothing, json!({}))["rows"][0]["cells"].clone()
    };
    assert_eq!(show(&kind), json!(["a", null]));
    let column = |r#type: &str, path: &str| Column {
        name: "X".to_owned(),
        r#type: r#type.to_owned(),
        path: path.to_owned(),
        priority: 0,
    };
    kind.columns = vec![
        column("integer", ".spec.size"),
        column("string", ".spec.size"),
        column("integer", ".spec.tags"),
        column("string", ".spec.tags"),
        column("string", ".spec.tags[1]"),
        column("string", ".status.conditions[?(@.type==\"Ready\")].status"),
        column("string", ".metadata.annotations.x\\.io/a"),
        column("string", ".metadata.annotations['x.io/a']"),
        column("date", ".spec.none"),
    ];
    let expected = json!([
        "a",
        3,
        "3",
        null,
        "[\"x\",\"y\"]",
        "y",
        "True",
        "b",
        "b",
        null
    ]);
    assert_eq!(show(&kind), expected);
}
