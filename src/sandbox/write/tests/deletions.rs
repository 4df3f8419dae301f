//! Deletions and what keeps objects from going.

use serde_json::{Value, json};

use super::Api;

const MAPS: &str = "/api/v1/namespaces/shop/configmaps";

fn made(api: &mut Api, metadata: Value) -> Value {
    api.done(&format!("POST {MAPS}"), json!({ "metadata": metadata }))
        .1
}

#[test]
fn holds_preconditions_and_options() {
    let mut api = Api::new();
    let object = made(&mut api, json!({ "name": "d" }));
    let (uid, version) = (
        &object["metadata"]["uid"],
        &object["metadata"]["resourceVersion"],
    );
    let said = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for (options, code, reason, message) in [
        (
            json!({ "preconditions": { "uid": "x" } }),
            409,
            "Conflict",
            format!(
                "Operation cannot be fulfilled on ConfigMap \"d\": the UID in the precondition (x) does not match the UID in record ({}). The object might have been deleted and then recreated",
                said(uid)
            ),
        ),
        (
            json!({ "preconditions": { "resourceVersion": "1" } }),
            409,
            "Conflict",
            format!(
                "Operation cannot be fulfilled on ConfigMap \"d\": the ResourceVersion in the precondition (1) does not match the ResourceVersion in record ({}). The object might have been modified",
                said(version)
            ),
        ),
        (
            json!({ "propagationPolicy": "x" }),
            422,
            "Invalid",
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported value: \"x\": supported values: \"Foreground\", \"Background\", \"Orphan\", \"nil\"".to_owned(),
        ),
        (
            json!({ "propagationPolicy": "Orphan", "orphanDependents": true }),
            422,
            "Invalid",
            "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Invalid value: \"Orphan\": orphanDependents and deletionPropagation cannot be both set".to_owned(),
        ),
    ] {
        let refused = api.refused(&format!("DELETE {MAPS}/d"), options);
        assert_eq!(refused, (code, reason, message));
    }
    let options = json!({ "preconditions": { "uid": uid, "resourceVersion": version } });
    let (code, answer) = api.done(&format!("DELETE {MAPS}/d"), options);
    let details = json!({ "name": "d", "kind": "configmaps", "uid": uid });
    assert_eq!(
        (code, &answer["status"], &answer["details"]),
        (200, &json!("Success"), &details)
    );
    let refused = api.refused(&format!("DELETE {MAPS}/d"), Value::Null);
    assert_eq!(
        refused,
        (404, "NotFound", "configmaps \"d\" not found".to_owned())
    );
}

#[test]
fn keeps_objects_until_the_last_finalizer_goes() {
    let mut api = Api::new();
    let before = made(&mut api, json!({ "name": "d", "finalizers": ["x.io/a"] }));
    let (code, going) = api.done(&format!("DELETE {MAPS}/d"), Value::Null);
    assert_eq!((code, &going["kind"]), (200, &json!("ConfigMap")));
    assert!(going["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(going["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_ne!(
        going["metadata"]["resourceVersion"],
        before["metadata"]["resourceVersion"]
    );
    let (_, again) = api.done(&format!("DELETE {MAPS}/d"), Value::Null);
    assert_eq!(again, going);
    let refused = api.refused(
        &format!("PUT {MAPS}/d"),
        json!({ "metadata": { "name": "d", "finalizers": ["x.io/a", "x.io/b"] } }),
    );
    assert_eq!(
        refused,
        (
            422,
            "Invalid",
            "ConfigMap \"d\" is invalid: metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"x.io/b\"}".to_owned()
        )
    );
    let (code, gone) = api.done(
        &format!("PUT {MAPS}/d"),
        json!({ "metadata": { "name": "d" } }),
    );
    assert_eq!(code, 200);
    assert_eq!(
        gone["metadata"]["resourceVersion"],
        going["metadata"]["resourceVersion"]
    );
    assert_eq!(api.get("configmaps", "shop", "d"), None);
}

#[test]
fn marks_what_waits_for_its_dependents() {
    let mut api = Api::new();
    for (policy, finalizer) in [("Foreground", "foregroundDeletion"), ("Orphan", "orphan")] {
        made(&mut api, json!({ "name": "d" }));
        let line = format!("DELETE {MAPS}/d?propagationPolicy={policy}");
        let (_, going) = api.done(&line, Value::Null);
        assert_eq!(going["metadata"]["finalizers"], json!([finalizer]));
        let (_, gone) = api.done(
            &format!("DELETE {MAPS}/d?propagationPolicy=Background"),
            Value::Null,
        );
        assert_eq!(gone["status"], "Success");
    }
}

#[test]
fn keeps_namespaces_for_their_controller_and_some_for_ever() {
    let mut api = Api::new();
    let (_, going) = api.done("DELETE /api/v1/namespaces/shop", Value::Null);
    assert_eq!(going["status"]["phase"], "Terminating");
    assert!(going["metadata"]["deletionTimestamp"].is_string());
    assert_eq!(going["metadata"].get("deletionGracePeriodSeconds"), None);
    let error = api
        .send(
            &format!("POST {MAPS}"),
            json!({ "metadata": { "name": "new" } }),
        )
        .expect_err("a refusal");
    assert_eq!(
        (error.code, error.message.as_str()),
        (
            403,
            "configmaps \"new\" is forbidden: unable to create new content in namespace shop because it is being terminated"
        )
    );
    let details = error.details.expect("details");
    assert_eq!(details.causes[0].reason, "NamespaceTerminating");
    assert_eq!(
        details.causes[0].message,
        "namespace shop is being terminated"
    );
    assert_eq!(details.causes[0].field, "metadata.namespace");
    assert_eq!(
        api.refused("DELETE /api/v1/namespaces/default", Value::Null),
        (
            403,
            "Forbidden",
            "namespaces \"default\" is forbidden: this namespace may not be deleted".to_owned()
        )
    );
}
