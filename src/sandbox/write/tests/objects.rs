//! Creations and updates.

use serde_json::{Value, json};

use super::Api;

const MAPS: &str = "/api/v1/namespaces/shop/configmaps";

#[test]
fn refuses_creations_as_the_api_server_does() {
    let mut api = Api::new();
    api.done(
        &format!("POST {MAPS}"),
        json!({ "metadata": { "name": "a" } }),
    );
    let subdomain = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    let cases: Vec<(&str, Value, u16, &str, String)> = vec![
        (
            MAPS,
            json!({ "metadata": { "name": "a" } }),
            409,
            "AlreadyExists",
            "configmaps \"a\" already exists".to_owned(),
        ),
        (
            MAPS,
            json!({}),
            422,
            "Invalid",
            "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is required".to_owned(),
        ),
        (
            MAPS,
            json!({ "metadata": { "name": "A_b", "generateName": "G_" } }),
            422,
            "Invalid",
            format!(
                "ConfigMap \"A_b\" is invalid: [metadata.generateName: Invalid value: \"G_\": {subdomain}, metadata.name: Invalid value: \"A_b\": {subdomain}]"
            ),
        ),
        (
            MAPS,
            json!({ "metadata": { "name": "b", "namespace": "other" } }),
            400,
            "BadRequest",
            "the namespace of the provided object does not match the namespace sent on the request".to_owned(),
        ),
        (
            MAPS,
            json!({ "kind": "Secret", "apiVersion": "v1", "metadata": { "name": "b" } }),
            400,
            "BadRequest",
            "Secret in version \"v1\" cannot be handled as a ConfigMap: converting (v1.Secret) to (core.ConfigMap): unknown conversion".to_owned(),
        ),
        (
            MAPS,
            json!({ "metadata": { "name": "b", "resourceVersion": "5" } }),
            500,
            "",
            "resourceVersion should not be set on objects to be created".to_owned(),
        ),
        (
            "/api/v1/namespaces/none/configmaps",
            json!({ "metadata": { "name": "b" } }),
            404,
            "NotFound",
            "namespaces \"none\" not found".to_owned(),
        ),
        (
            MAPS,
            json!({ "metadata": { "name": "d", "finalizers": ["x"] } }),
            422,
            "Invalid",
            "ConfigMap \"d\" is invalid: metadata.finalizers[0]: Invalid value: \"x\": name is neither a standard finalizer name nor is it fully qualified".to_owned(),
        ),
    ];
    for (path, body, code, reason, message) in cases {
        let refused = api.refused(&format!("POST {path}"), body);
        assert_eq!(refused, (code, reason, message));
    }
}

#[test]
fn sets_what_the_api_server_sets_in_new_objects() {
    let mut api = Api::new();
    let sent = json!({ "metadata": {
        "name": "d", "uid": "5", "generation": 7, "creationTimestamp": "2001-01-01T00:00:00Z",
        "deletionTimestamp": "2001-01-01T00:00:00Z", "selfLink": "/x", "deletionGracePeriodSeconds": 5,
    } });
    let (code, object) = api.done(&format!("POST {MAPS}"), sent);
    assert_eq!(code, 201);
    let metadata = object["metadata"].as_object().expect("metadata");
    let mut fields: Vec<&str> = metadata.keys().map(String::as_str).collect();
    fields.retain(|&field| field != "managedFields");
    assert_eq!(
        fields,
        [
            "creationTimestamp",
            "generation",
            "name",
            "namespace",
            "resourceVersion",
            "uid"
        ]
    );
    // Kinds without generations keep what they are sent.
    assert_eq!(metadata["generation"], 7);
    assert_ne!(metadata["uid"], "5");
    assert_ne!(metadata["creationTimestamp"], "2001-01-01T00:00:00Z");
    assert_eq!(
        (&object["kind"], &object["apiVersion"]),
        (&json!("ConfigMap"), &json!("v1"))
    );
}

#[test]
fn makes_names() {
    let mut api = Api::new();
    let long = "g".repeat(70);
    for (beginning, kept) in [("g-", "g-"), (long.as_str(), &long[..58])] {
        let sent = json!({ "metadata": { "generateName": beginning } });
        let (_, object) = api.done(&format!("POST {MAPS}"), sent);
        let name = object["metadata"]["name"].as_str().expect("a name");
        assert_eq!(name.strip_prefix(kept).map(str::len), Some(5), "{name}");
    }
}

#[test]
fn refuses_updates_as_the_api_server_does() {
    let mut api = Api::new();
    api.done(
        &format!("POST {MAPS}"),
        json!({ "metadata": { "name": "a" } }),
    );
    for (line, body, code, reason, message) in [
        (
            "a",
            json!({ "metadata": { "name": "b" } }),
            400,
            "BadRequest",
            "the name of the object (b) does not match the name on the URL (a)",
        ),
        (
            "a",
            json!({ "metadata": {} }),
            400,
            "BadRequest",
            "the name of the object (a based on URL) was undeterminable: name must be provided",
        ),
        (
            "a",
            json!({ "metadata": { "name": "a", "namespace": "x" } }),
            400,
            "BadRequest",
            "the namespace of the object (x) does not match the namespace on the request (shop)",
        ),
        (
            "zz",
            json!({ "metadata": { "name": "zz" } }),
            404,
            "NotFound",
            "configmaps \"zz\" not found",
        ),
        (
            "a",
            json!({ "metadata": { "name": "a", "resourceVersion": "1" } }),
            409,
            "Conflict",
            "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please apply your changes to the latest version and try again",
        ),
        (
            "a",
            json!({ "metadata": { "name": "a", "resourceVersion": "x" } }),
            500,
            "",
            "strconv.ParseUint: parsing \"x\": invalid syntax",
        ),
    ] {
        let refused = api.refused(&format!("PUT {MAPS}/{line}"), body);
        assert_eq!(refused, (code, reason, message.to_owned()));
    }
}

#[test]
fn leaves_what_does_not_change_at_its_version() {
    let mut api = Api::new();
    let sent = json!({ "metadata": { "name": "a" }, "data": { "x": "1" } });
    let (_, first) = api.done(&format!("POST {MAPS}"), sent.clone());
    let (code, second) = api.done(&format!("PUT {MAPS}/a"), sent);
    assert_eq!((code, &second), (200, &first));
    let sent = json!({ "metadata": { "name": "a" }, "data": { "x": "2" } });
    let (_, third) = api.done(&format!("PUT {MAPS}/a?dryRun=All"), sent.clone());
    assert_eq!(third["data"]["x"], "2");
    assert_eq!(api.get("configmaps", "shop", "a").as_deref(), Some(&first));
    let (_, fourth) = api.done(&format!("PUT {MAPS}/a"), sent);
    assert_ne!(
        fourth["metadata"]["resourceVersion"],
        first["metadata"]["resourceVersion"]
    );
    assert_eq!(fourth["metadata"]["uid"], first["metadata"]["uid"]);
}

#[test]
fn counts_generations_of_specs_and_of_annotations_of_deployments() {
    let mut api = Api::new();
    let path = "/apis/apps/v1/namespaces/shop/deployments";
    let object = |spec: u8, annotation: &str, label: &str, status: u8| {
        json!({
            "metadata": { "name": "d", "annotations": { "a": annotation }, "labels": { "l": label } },
            "spec": {
                "replicas": spec, "selector": { "matchLabels": { "a": "b" } },
                "template": {
                    "metadata": { "labels": { "a": "b" } },
                    "spec": { "containers": [{ "name": "a", "image": "a" }] },
                },
            },
            "status": { "replicas": status },
        })
    };
    let (_, made) = api.done(&format!("POST {path}"), object(1, "a", "a", 1));
    assert_eq!(made["metadata"]["generation"], 1);
    assert_eq!(made["status"], json!({}));
    for (line, sent, generation, status) in [
        ("d", object(1, "a", "b", 2), 1, None),
        ("d", object(2, "a", "b", 2), 2, None),
        ("d/status", object(3, "a", "b", 2), 2, Some(2)),
        ("d", object(2, "b", "b", 3), 3, Some(2)),
    ] {
        let (_, object) = api.done(&format!("PUT {path}/{line}"), sent);
        assert_eq!(object["metadata"]["generation"], generation);
        assert_eq!(object["status"]["replicas"].as_u64(), status);
        assert_ne!(object["spec"]["replicas"], 3);
    }
}

#[test]
fn tells_of_unknown_fields_or_refuses_them() {
    // As of v1.27: v1.20 drops them without a word.
    let sent = |name: &str| json!({ "metadata": { "name": name }, "bogus": 1 });
    for (directive, warnings) in [
        ("", ["unknown field \"bogus\""].as_slice()),
        ("?fieldValidation=Warn", &["unknown field \"bogus\""]),
        ("?fieldValidation=Ignore", &[]),
    ] {
        let written = Api::new().send(&format!("POST {MAPS}{directive}"), sent("a"));
        let written = written.expect("it is made");
        assert_eq!(written.object.get("bogus"), None);
        assert_eq!(written.warnings, warnings);
    }
    let strict = format!("POST {MAPS}?fieldValidation=Strict");
    assert_eq!(
        Api::new().refused(&strict, sent("a")),
        (
            400,
            "BadRequest",
            "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: strict decoding error: unknown field \"bogus\"".to_owned()
        )
    );
}
