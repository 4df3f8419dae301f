//! Definitions, the kinds they make, and their ends.

use serde_json::{Value, json};

use super::Api;

const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const OBJECTS: &str = "/apis/x.example.com/v1/namespaces/shop/things";

fn define(api: &mut Api) {
    let spec = json!({
        "group": "x.example.com", "scope": "Namespaced", "names": { "plural": "things", "kind": "Thing" },
        "versions": [{
            "name": "v1", "served": true, "storage": true,
            "schema": { "openAPIV3Schema": { "type": "object" } },
        }],
    });
    let object = json!({ "metadata": { "name": "things.x.example.com" }, "spec": spec });
    let (code, _) = api.done(&format!("POST {DEFINITIONS}"), object);
    assert_eq!(code, 201);
}

fn made(api: &mut Api, metadata: Value) {
    let object = json!({ "apiVersion": "x.example.com/v1", "kind": "Thing", "metadata": metadata });
    api.done(&format!("POST {OBJECTS}"), object);
}

#[test]
fn a_definition_takes_its_objects_along() {
    let mut api = Api::new();
    define(&mut api);
    made(&mut api, json!({ "name": "a" }));
    let line = format!("DELETE {DEFINITIONS}/things.x.example.com");
    let (code, answer) = api.done(&line, Value::Null);
    assert_eq!(code, 200);
    let finalizers = &answer["metadata"]["finalizers"];
    assert_eq!(
        finalizers,
        &json!(["customresourcecleanup.apiextensions.k8s.io"])
    );
    assert!(api.state.kinds.of("x.example.com/v1", "Thing").is_none());
    assert_eq!(
        api.state
            .store
            .list(&"things.x.example.com".into(), None)
            .count(),
        0
    );
    define(&mut api);
}

#[test]
fn a_definition_waits_for_objects_with_finalizers() {
    let mut api = Api::new();
    define(&mut api);
    made(
        &mut api,
        json!({ "name": "a", "finalizers": ["x.io/wait"] }),
    );
    let line = format!("DELETE {DEFINITIONS}/things.x.example.com");
    api.done(&line, Value::Null);
    let object =
        json!({ "apiVersion": "x.example.com/v1", "kind": "Thing", "metadata": { "name": "b" } });
    let refused = api.send(&format!("POST {OBJECTS}"), object).unwrap_err();
    assert_eq!((refused.code, refused.reason), (405, "MethodNotAllowed"));
    assert_eq!(
        refused.message,
        "create not allowed while custom resource definition is terminating"
    );
    let released = json!({ "metadata": { "finalizers": null } });
    api.done(&format!("MERGE {OBJECTS}/a"), released);
    assert!(api.state.kinds.of("x.example.com/v1", "Thing").is_none());
    assert_eq!(
        api.state
            .store
            .list(
                &"customresourcedefinitions.apiextensions.k8s.io".into(),
                None
            )
            .count(),
        0
    );
}
