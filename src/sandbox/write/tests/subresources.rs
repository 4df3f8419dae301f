//! What is below objects: scales, bindings, evictions, and what Namespaces wait for.

use serde_json::{Value, json};

use super::Api;

const PODS: &str = "/api/v1/namespaces/shop/pods";
const DEPLOYMENT: &str = "/apis/apps/v1/namespaces/shop/deployments/d";

fn with_deployment() -> Api {
    let mut api = Api::new();
    let sent = json!({
        "metadata": { "name": "d" },
        "spec": {
            "replicas": 1, "selector": { "matchLabels": { "a": "b" } },
            "template": {
                "metadata": { "labels": { "a": "b" } },
                "spec": { "containers": [{ "name": "a", "image": "a" }] },
            },
        },
    });
    api.done("POST /apis/apps/v1/namespaces/shop/deployments", sent);
    api
}

#[test]
fn scales_by_all_kinds_of_writes() {
    let mut api = with_deployment();
    let scale = |replicas: u8| {
        json!({
            "apiVersion": "autoscaling/v1", "kind": "Scale",
            "metadata": { "name": "d", "namespace": "shop" }, "spec": { "replicas": replicas },
        })
    };
    for (generation, (line, body)) in (2..).zip([
        (format!("PUT {DEPLOYMENT}/scale"), scale(2)),
        (
            format!("MERGE {DEPLOYMENT}/scale"),
            json!({ "spec": { "replicas": 3 } }),
        ),
        (
            format!("STRATEGIC {DEPLOYMENT}/scale"),
            json!({ "spec": { "replicas": 4 } }),
        ),
        (
            format!("JSON {DEPLOYMENT}/scale"),
            json!([{ "op": "replace", "path": "/spec/replicas", "value": 5 }]),
        ),
        (
            format!("APPLY {DEPLOYMENT}/scale?fieldManager=m&force=true"),
            scale(6),
        ),
    ]) {
        let (code, answer) = api.done(&line, body);
        assert_eq!((code, &answer["kind"]), (200, &json!("Scale")), "{line}");
        assert_eq!(answer["spec"]["replicas"], generation);
        assert_eq!(
            answer["status"],
            json!({ "replicas": 0, "selector": "a=b" })
        );
        let object = api
            .get("deployments.apps", "shop", "d")
            .expect("it is there");
        assert_eq!(object["spec"]["replicas"], generation);
        assert_eq!(object["metadata"]["generation"], generation);
    }
    let object = api
        .get("deployments.apps", "shop", "d")
        .expect("it is there");
    let entries = object["metadata"]["managedFields"]
        .as_array()
        .expect("entries");
    let entry = entries
        .iter()
        .find(|entry| entry["manager"] == "m")
        .expect("an entry");
    assert_eq!(
        (&entry["subresource"], &entry["operation"]),
        (&json!("scale"), &json!("Apply"))
    );
    let fields = json!({ "f:spec": { "f:replicas": {} } });
    assert_eq!(entry["fieldsV1"], fields.to_string());
}

#[test]
fn refuses_scales_as_the_api_server_does() {
    let mut api = with_deployment();
    let missing = DEPLOYMENT
        .replace("/d", "/zz")
        .replace("/zzeployments", "/deployments");
    for (line, body, code, reason, message) in [
        (
            format!("PUT {DEPLOYMENT}/scale"),
            json!({ "metadata": { "name": "e", "namespace": "shop" } }),
            400,
            "BadRequest",
            "the name of the object (e) does not match the name on the URL (d)",
        ),
        (
            format!("PUT {DEPLOYMENT}/scale"),
            json!({ "kind": "Deployment", "apiVersion": "apps/v1", "metadata": { "name": "d" } }),
            400,
            "BadRequest",
            "Deployment in version \"v1\" cannot be handled as a Scale: converting (v1.Deployment) to (autoscaling.Scale): unknown conversion",
        ),
        (
            format!("MERGE {DEPLOYMENT}/scale"),
            json!({ "spec": { "replicas": -1 } }),
            422,
            "Invalid",
            "Scale.autoscaling \"d\" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0",
        ),
        (
            format!("MERGE {missing}/scale"),
            json!({ "spec": { "replicas": 1 } }),
            404,
            "NotFound",
            "deployments.apps \"zz\" not found",
        ),
    ] {
        assert_eq!(api.refused(&line, body), (code, reason, message.to_owned()));
    }
}

fn with_pod(node: bool) -> Api {
    let mut api = Api::new();
    let sent = json!({
        "metadata": { "name": "p" }, "spec": { "containers": [{ "name": "a", "image": "a" }] },
    });
    api.done(&format!("POST {PODS}"), sent);
    if node {
        let binding =
            json!({ "metadata": { "name": "p" }, "target": { "kind": "Node", "name": "n1" } });
        let (code, answer) = api.done(&format!("POST {PODS}/p/binding"), binding);
        assert_eq!(
            (code, &answer["status"], &answer["code"]),
            (201, &json!("Success"), &json!(201))
        );
    }
    api
}

#[test]
fn binds_pods_once() {
    let mut api = with_pod(true);
    let pod = api.get("pods", "shop", "p").expect("a pod");
    assert_eq!(pod["spec"]["nodeName"], "n1");
    assert_eq!(pod["status"]["conditions"][0]["type"], "PodScheduled");
    for (name, body, code, message) in [
        (
            "p",
            json!({ "metadata": { "name": "p" }, "target": { "kind": "Node", "name": "n2" } }),
            409,
            "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node \"n1\"",
        ),
        (
            "zz",
            json!({ "target": { "kind": "Node", "name": "n2" } }),
            404,
            "pods \"zz\" not found",
        ),
        (
            "p",
            json!({ "metadata": { "name": "q" }, "target": { "kind": "Node", "name": "n2" } }),
            400,
            "name in URL does not match name in Binding object",
        ),
        (
            "p",
            json!({ "target": { "kind": "Bogus", "name": "" } }),
            500,
            "[target.kind: Unsupported value: \"Bogus\": supported values: \"Node\", \"<empty>\", target.name: Required value]",
        ),
    ] {
        let refused = api.refused(&format!("POST {PODS}/{name}/binding"), body);
        assert_eq!((refused.0, refused.2.as_str()), (code, message));
    }
}

#[test]
fn pods_without_a_node_go_at_once_and_others_take_their_time() {
    let mut api = with_pod(false);
    let (_, gone) = api.done(&format!("DELETE {PODS}/p"), Value::Null);
    assert_eq!(
        (
            &gone["kind"],
            &gone["metadata"]["deletionGracePeriodSeconds"]
        ),
        (&json!("Pod"), &json!(0))
    );
    assert_eq!(api.get("pods", "shop", "p"), None);

    let mut api = with_pod(true);
    for (options, seconds) in [
        (Value::Null, 30),
        (json!({ "gracePeriodSeconds": 100 }), 30),
        (json!({ "gracePeriodSeconds": 5 }), 5),
        (Value::Null, 5),
    ] {
        let (_, going) = api.done(&format!("DELETE {PODS}/p"), options);
        assert_eq!(going["metadata"]["deletionGracePeriodSeconds"], seconds);
        assert!(api.get("pods", "shop", "p").is_some());
    }
    let (_, gone) = api.done(
        &format!("DELETE {PODS}/p"),
        json!({ "gracePeriodSeconds": 0 }),
    );
    assert_eq!(gone["metadata"]["deletionGracePeriodSeconds"], 0);
    assert_eq!(api.get("pods", "shop", "p"), None);
}

#[test]
fn evicts_pods() {
    let mut api = with_pod(false);
    let line = format!("POST {PODS}/p/eviction");
    let refused = api.refused(&line, json!({ "metadata": { "name": "q" } }));
    assert_eq!(
        refused.2,
        "name in URL does not match name in Eviction object"
    );
    let dry = json!({ "metadata": { "name": "p" }, "deleteOptions": { "dryRun": ["All"] } });
    assert_eq!(api.done(&line, dry).0, 201);
    assert!(api.get("pods", "shop", "p").is_some());
    assert_eq!(
        api.done(&line, json!({ "metadata": { "name": "p" } })).0,
        201
    );
    assert_eq!(
        api.refused(&line, json!({ "metadata": { "name": "p" } })).0,
        404
    );
}

#[test]
fn a_namespace_goes_when_its_controller_lets_it() {
    let mut api = Api::new();
    let path = "/api/v1/namespaces/shop";
    let finalizers =
        |of: &[&str]| json!({ "metadata": { "name": "shop" }, "spec": { "finalizers": of } });
    let (_, kept) = api.done(&format!("PUT {path}"), finalizers(&[]));
    assert_eq!(kept["spec"]["finalizers"], json!(["kubernetes"]));
    let (_, more) = api.done(
        &format!("PUT {path}/finalize"),
        finalizers(&["kubernetes", "x.y/z"]),
    );
    assert_eq!(more["spec"]["finalizers"], json!(["kubernetes", "x.y/z"]));
    api.done(&format!("DELETE {path}"), Value::Null);
    let (_, less) = api.done(&format!("PUT {path}/finalize"), finalizers(&["x.y/z"]));
    assert_eq!(less["status"]["phase"], "Terminating");
    api.done(
        &format!("PUT {path}/finalize"),
        json!({ "metadata": { "name": "shop" }, "spec": {} }),
    );
    assert_eq!(api.get("namespaces", "", "shop"), None);
}

#[test]
fn deletes_many_by_their_labels() {
    let mut api = Api::new();
    let path = "/api/v1/namespaces/shop/configmaps";
    for (name, group) in [("a", "1"), ("b", "1"), ("c", "2")] {
        let sent = json!({ "metadata": { "name": name, "labels": { "g": group } } });
        api.done(&format!("POST {path}"), sent);
    }
    let line = format!("DELETE {path}?labelSelector=g=1");
    let (_, dry) = api.done(&format!("{line}&dryRun=All"), Value::Null);
    let (code, gone) = api.done(&line, Value::Null);
    assert_eq!(
        (code, &gone["kind"], gone["items"].as_array().map(Vec::len)),
        (200, &json!("ConfigMapList"), Some(2))
    );
    assert_eq!(dry["items"], gone["items"]);
    assert_eq!(gone["items"][0].get("kind"), None);
    assert_eq!(api.get("configmaps", "shop", "a"), None);
    assert!(api.get("configmaps", "shop", "c").is_some());
}
