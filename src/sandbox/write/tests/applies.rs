//! Server-side apply: what the requests around the merge are answered with.

use serde_json::{Value, json};

use super::super::{finish, merge};
use super::Api;

const MAPS: &str = "/api/v1/namespaces/shop/configmaps";

fn map(data: &Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "s" }, "data": data })
}

#[test]
fn refuses_what_is_no_apply() {
    let mut api = Api::new();
    for (query, body, code, reason, message) in [
        (
            "",
            json!({}),
            422,
            "Invalid",
            "PatchOptions.meta.k8s.io \"\" is invalid: fieldManager: Required value: is required for apply patch",
        ),
        (
            "?fieldManager=m",
            json!({ "kind": "ConfigMap" }),
            400,
            "BadRequest",
            "Incorrect version specified in apply patch. Specified patch version: , expected: v1",
        ),
        (
            "?fieldManager=m",
            json!({ "apiVersion": "v2", "kind": "ConfigMap" }),
            400,
            "BadRequest",
            "Incorrect version specified in apply patch. Specified patch version: v2, expected: v1",
        ),
        (
            "?fieldManager=m",
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "x" } }),
            400,
            "BadRequest",
            "the name of the object (x) does not match the name on the URL (s)",
        ),
        (
            "?fieldManager=m",
            json!({ "apiVersion": "v1", "kind": "ConfigMap" }),
            400,
            "BadRequest",
            "the name of the object (s based on URL) was undeterminable: name must be provided",
        ),
        (
            "?fieldManager=m",
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "s", "managedFields": [] } }),
            400,
            "BadRequest",
            "metadata.managedFields must be nil",
        ),
        (
            "?fieldManager=m",
            json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "s", "uid": "1" } }),
            409,
            "Conflict",
            "Operation cannot be fulfilled on configmaps \"s\": uid mismatch: the provided object specified uid 1, and no existing object was found",
        ),
    ] {
        let refused = api.refused(&format!("APPLY {MAPS}/s{query}"), body);
        assert_eq!(refused, (code, reason, message.to_owned()));
    }
    let path = "APPLY /api/v1/namespaces/none/configmaps/s?fieldManager=m";
    let refused = api.refused(path, map(&json!({})));
    assert_eq!(
        refused,
        (404, "NotFound", "namespaces \"none\" not found".to_owned())
    );
}

#[test]
fn makes_what_is_not_there_and_stores_only_changes() {
    let mut api = Api::new();
    let line = format!("APPLY {MAPS}/s?fieldManager=m");
    let (code, _) = api.done(&format!("{line}&dryRun=All"), map(&json!({ "a": "1" })));
    assert_eq!((code, api.get("configmaps", "shop", "s")), (201, None));
    let (code, made) = api.done(&line, map(&json!({ "a": "1" })));
    assert_eq!(code, 201);
    let (code, same) = api.done(&line, map(&json!({ "a": "1" })));
    assert_eq!((code, &same), (200, &made));
    let (code, dry) = api.done(&format!("{line}&dryRun=All"), map(&json!({ "b": "1" })));
    assert_eq!((code, &dry["data"]), (200, &json!({ "b": "1" })));
    assert_eq!(api.get("configmaps", "shop", "s").as_deref(), Some(&made));
}

#[test]
fn names_the_managers_of_fields_that_would_change() {
    let mut api = Api::new();
    let line = |manager| format!("APPLY {MAPS}/s?fieldManager={manager}");
    api.done(&line("m"), map(&json!({ "a": "1", "b": "2", "c": "3" })));
    let one = api.send(&line("m2"), map(&json!({ "a": "2" })));
    let one = one.expect_err("a conflict");
    assert_eq!(
        (one.code, one.reason, one.message.as_str()),
        (
            409,
            "Conflict",
            "Apply failed with 1 conflict: conflict with \"m\": .data.a"
        )
    );
    api.done(
        &format!("{}&force=true", line("m3")),
        map(&json!({ "c": "9" })),
    );
    api.done(
        &format!("MERGE {MAPS}/s?fieldManager=u"),
        json!({ "data": { "b": "9" } }),
    );
    let three = api.send(&line("m4"), map(&json!({ "a": "2", "b": "3", "c": "5" })));
    let three = three.expect_err("conflicts");
    assert_eq!(
        three.message,
        "Apply failed with 3 conflicts: conflicts with \"m\":\n- .data.a\nconflicts with \"m3\":\n- .data.c\nconflicts with \"u\" using v1:\n- .data.b"
    );
    let mut causes: Vec<_> = three.details.expect("details").causes;
    causes.sort_by(|left, right| left.field.cmp(&right.field));
    let causes: Vec<_> = causes
        .iter()
        .map(|cause| (cause.reason, cause.field.as_str(), cause.message.as_str()))
        .collect();
    assert_eq!(
        causes,
        [
            ("FieldManagerConflict", ".data.a", "conflict with \"m\""),
            (
                "FieldManagerConflict",
                ".data.b",
                "conflict with \"u\" using v1"
            ),
            ("FieldManagerConflict", ".data.c", "conflict with \"m3\""),
        ]
    );
}

#[test]
fn holds_the_version_and_the_uid_that_it_was_sent() {
    let mut api = Api::new();
    let line = format!("APPLY {MAPS}/s?fieldManager=m");
    let (_, made) = api.done(&line, map(&json!({ "a": "1" })));
    for (field, value, code, message) in [
        (
            "resourceVersion",
            "1",
            409,
            "Operation cannot be fulfilled on configmaps \"s\": the object has been modified; please apply your changes to the latest version and try again",
        ),
        (
            "uid",
            "1",
            422,
            "ConfigMap \"s\" is invalid: metadata.uid: Invalid value: \"1\": field is immutable",
        ),
    ] {
        let mut body = map(&json!({ "a": "2" }));
        body["metadata"][field] = value.into();
        let refused = api.refused(&line, body);
        assert_eq!((refused.0, refused.2.as_str()), (code, message));
    }
    let mut body = map(&json!({ "a": "2" }));
    for field in ["resourceVersion", "uid"] {
        body["metadata"][field] = made["metadata"][field].clone();
    }
    assert_eq!(api.done(&line, body).1["data"]["a"], "2");
}

#[test]
fn leaves_the_status_to_its_own_endpoint() {
    let mut api = Api::new();
    let path = "/apis/apps/v1/namespaces/shop/deployments/d";
    let body = |spec: Value| {
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "d" },
            "spec": spec, "status": { "replicas": 5 },
        })
    };
    let spec = json!({
        "replicas": 1, "selector": { "matchLabels": { "a": "b" } },
        "template": {
            "metadata": { "labels": { "a": "b" } },
            "spec": { "containers": [{ "name": "a", "image": "a" }] },
        },
    });
    let status = format!("APPLY {path}/status?fieldManager=s");
    let refused = api.refused(&status, body(spec.clone()));
    assert_eq!(refused.0, 404);
    let (_, made) = api.done(&format!("APPLY {path}?fieldManager=m"), body(spec.clone()));
    assert_eq!(made["status"], json!({}));
    let (_, told) = api.done(&status, body(json!({ "replicas": 7 })));
    assert_eq!(
        (&told["status"]["replicas"], &told["spec"]["replicas"]),
        (&json!(5), &json!(1))
    );
    assert_eq!(told["metadata"]["generation"], 1);
    let entries = told["metadata"]["managedFields"]
        .as_array()
        .expect("entries");
    let entry = entries
        .iter()
        .find(|entry| entry["manager"] == "s")
        .expect("an entry");
    assert_eq!(entry["subresource"], "status");
    assert_eq!(
        entry["fieldsV1"],
        json!({ "f:status": { "f:replicas": {} } }).to_string()
    );
}

#[test]
fn an_object_that_changed_while_it_was_merged_is_merged_again() {
    let mut api = Api::new();
    let path = format!("{MAPS}/s");
    api.done(
        &format!("APPLY {path}?fieldManager=m"),
        map(&json!({ "a": "1" })),
    );
    let apply = api.request(
        &format!("APPLY {path}?fieldManager=m"),
        map(&json!({ "a": "2" })),
    );
    let merged = |api: &Api| merge(&apply, api.get("configmaps", "shop", "s")).unwrap();

    let first = merged(&api);
    api.done(
        &format!("MERGE {path}"),
        json!({ "data": { "b": "theirs" } }),
    );
    let written = finish(&mut api.state, first).unwrap();
    assert_eq!(written.object["data"], json!({ "a": "2", "b": "theirs" }));

    let second = merged(&api);
    api.done(&format!("DELETE {path}"), Value::Null);
    let made = finish(&mut api.state, second).unwrap();
    assert_eq!(
        (made.code, &made.object["data"]),
        (201, &json!({ "a": "2" }))
    );
}
