//! JSON, merge and strategic merge patches.

use serde_json::{Value, json};

use super::Api;

const MAPS: &str = "/api/v1/namespaces/shop/configmaps";
const DEPLOYMENTS: &str = "/apis/apps/v1/namespaces/shop/deployments";

/// What an operation that does not fit is answered with, whatever is wrong with it.
const UNFIT: &str = "the server rejected our request due to an error in our request";

fn with_map() -> Api {
    let mut api = Api::new();
    let sent = json!({ "metadata": { "name": "p" }, "data": { "a": "1", "b": "2" } });
    api.done(&format!("POST {MAPS}"), sent);
    api
}

#[test]
fn refuses_json_patches_that_do_not_fit() {
    for patch in [
        json!([{ "op": "test", "path": "/data/a", "value": "9" }]),
        json!([{ "op": "test", "path": "/data/a", "value": null }]),
        json!([{ "op": "test", "path": "/data/zz", "value": "9" }]),
        json!([{ "op": "test", "path": "/metadata/resourceVersion", "value": "0" }]),
        json!([{ "op": "remove", "path": "/data/zz" }]),
        json!([{ "op": "add", "path": "/zz/y", "value": "1" }]),
        json!([{ "op": "add", "path": "data", "value": "x" }]),
        json!([{ "op": "bogus", "path": "/data/c" }]),
        json!([{ "op": "remove" }]),
        json!([{ "path": "/data/a" }]),
        json!([{ "op": "replace", "path": "", "value": {} }]),
        // v1.20 takes this one for an addition; later versions do not.
        json!([{ "op": "replace", "path": "/data/zz", "value": "1" }]),
    ] {
        let refused = with_map().refused(&format!("JSON {MAPS}/p"), patch.clone());
        assert_eq!(refused, (422, "Invalid", UNFIT.to_owned()), "{patch}");
    }
    assert_eq!(
        with_map().refused(&format!("JSON {MAPS}/p"), json!({ "op": "x" })),
        (
            400,
            "BadRequest",
            "json: cannot unmarshal object into Go value of type jsonpatch.Patch".to_owned()
        )
    );
}

#[test]
fn applies_json_patches() {
    let operations = [
        (
            json!([
                { "op": "copy", "from": "/data/a", "path": "/data/c" },
                { "op": "move", "from": "/data/b", "path": "/data/d" },
            ]),
            "/data",
            json!({ "a": "1", "c": "1", "d": "2" }),
        ),
        (
            json!([
                { "op": "add", "path": "/metadata/finalizers", "value": ["a.b/c"] },
                { "op": "add", "path": "/metadata/finalizers/-", "value": "d.e/f" },
                { "op": "add", "path": "/metadata/finalizers/0", "value": "g.h/i" },
            ]),
            "/metadata/finalizers",
            json!(["g.h/i", "a.b/c", "d.e/f"]),
        ),
        (
            json!([
                { "op": "add", "path": "/metadata/annotations", "value": { "x/y": "1" } },
                { "op": "replace", "path": "/metadata/annotations/x~1y", "value": "2" },
            ]),
            "/metadata/annotations",
            json!({ "x/y": "2" }),
        ),
        (
            json!([{ "op": "test", "path": "/data/zz", "value": null }]),
            "/data",
            json!({ "a": "1", "b": "2" }),
        ),
    ];
    for (patch, path, value) in operations {
        let (code, object) = with_map().done(&format!("JSON {MAPS}/p"), patch);
        assert_eq!((code, object.pointer(path)), (200, Some(&value)));
    }
}

#[test]
fn refuses_merge_patches_as_the_api_server_does() {
    for (patch, code, reason, message) in [
        (
            json!({ "metadata": { "name": "z" } }),
            400,
            "BadRequest",
            "the name of the object (z) does not match the name on the URL (p)",
        ),
        (
            json!({ "metadata": { "namespace": "z" } }),
            400,
            "BadRequest",
            "the namespace of the object (z) does not match the namespace on the request (shop)",
        ),
        (
            json!({ "metadata": { "resourceVersion": "1" } }),
            409,
            "Conflict",
            "Operation cannot be fulfilled on configmaps \"p\": the object has been modified; please apply your changes to the latest version and try again",
        ),
        (
            json!({ "metadata": { "uid": "1" } }),
            422,
            "Invalid",
            "ConfigMap \"p\" is invalid: metadata.uid: Invalid value: \"1\": field is immutable",
        ),
        (
            json!({ "metadata": { "deletionTimestamp": "2001-01-01T00:00:00Z" } }),
            422,
            "Invalid",
            "ConfigMap \"p\" is invalid: metadata.deletionTimestamp: Invalid value: 2001-01-01 00:00:00 +0000 UTC: field is immutable",
        ),
        (json!("x"), 500, "", "Invalid JSON Patch"),
    ] {
        let refused = with_map().refused(&format!("MERGE {MAPS}/p"), patch);
        assert_eq!(refused, (code, reason, message.to_owned()));
    }
    let refused = with_map().refused(&format!("MERGE {MAPS}/none"), json!({}));
    assert_eq!(
        refused,
        (404, "NotFound", "configmaps \"none\" not found".to_owned())
    );
    let refused = with_map().refused(&format!("MERGE {MAPS}/p?force=true"), json!({}));
    assert_eq!(
        refused,
        (
            422,
            "Invalid",
            "PatchOptions.meta.k8s.io \"\" is invalid: force: Forbidden: may not be specified for non-apply patch".to_owned()
        )
    );
}

#[test]
fn a_patch_that_changes_nothing_is_not_stored() {
    let mut api = with_map();
    let before = api.get("configmaps", "shop", "p");
    for patch in [
        json!({}),
        json!({ "data": { "a": "1" } }),
        json!({ "bogus": 1 }),
        json!({ "metadata": { "generation": 5, "creationTimestamp": null, "uid": null } }),
    ] {
        api.done(&format!("MERGE {MAPS}/p"), patch);
        assert_eq!(api.get("configmaps", "shop", "p"), before);
    }
}

fn deployment() -> Value {
    json!({
        "metadata": { "name": "d", "labels": { "a": "b" }, "finalizers": ["k.k/1", "k.k/2"] },
        "spec": {
            "replicas": 0,
            "selector": { "matchLabels": { "a": "b" } },
            "template": {
                "metadata": { "labels": { "a": "b" } },
                "spec": {
                    "containers": [
                        {
                            "name": "a", "image": "a", "args": ["x", "y"],
                            "env": [{ "name": "X", "value": "1" }, { "name": "Y", "value": "2" }],
                            "ports": [{ "containerPort": 80 }, { "containerPort": 81 }],
                        },
                        { "name": "b", "image": "b" },
                    ],
                    "volumes": [{ "name": "v", "emptyDir": {} }],
                    "tolerations": [{ "key": "z", "operator": "Exists" }],
                },
            },
        },
    })
}

fn strategic(patch: Value) -> Value {
    let mut api = Api::new();
    api.done(&format!("POST {DEPLOYMENTS}"), deployment());
    api.done(&format!("STRATEGIC {DEPLOYMENTS}/d"), patch).1
}

fn pod(patch: Value) -> Value {
    let patch = json!({ "spec": { "template": { "spec": patch } } });
    strategic(patch)["spec"]["template"]["spec"].take()
}

/// The values of a field of all items.
fn all(items: &Value, field: &str) -> Vec<Value> {
    let items = items.as_array().expect("a list");
    items.iter().map(|item| item[field].clone()).collect()
}

#[test]
fn merges_keyed_lists_in_the_api_servers_order() {
    for (patch, names, images) in [
        (
            json!({ "containers": [{ "name": "a", "image": "new" }] }),
            ["a", "b"].as_slice(),
            ["new", "b"].as_slice(),
        ),
        (
            json!({ "containers": [{ "name": "c", "image": "new" }] }),
            &["c", "a", "b"],
            &["new", "a", "b"],
        ),
        (
            json!({ "containers": [{ "$patch": "delete", "name": "a" }] }),
            &["b"],
            &["b"],
        ),
        (
            json!({ "containers": [{ "$patch": "replace" }, { "name": "n", "image": "n" }] }),
            &["n"],
            &["n"],
        ),
        (
            json!({
                "$setElementOrder/containers": [{ "name": "b" }, { "name": "a" }],
                "containers": [{ "name": "a", "image": "new" }],
            }),
            &["b", "a"],
            &["b", "new"],
        ),
        (
            json!({
                "$setElementOrder/containers": [{ "name": "c" }, { "name": "b" }, { "name": "a" }],
                "containers": [{ "name": "c", "image": "new" }],
            }),
            &["c", "b", "a"],
            &["new", "b", "a"],
        ),
        (
            json!({ "$setElementOrder/containers": [{ "name": "b" }, { "name": "a" }] }),
            &["b", "a"],
            &["b", "a"],
        ),
        (
            json!({ "$setElementOrder/containers": [{ "name": "a" }, { "name": "zz" }] }),
            &["a", "b"],
            &["a", "b"],
        ),
    ] {
        let spec = pod(patch.clone());
        assert_eq!(all(&spec["containers"], "name"), names, "{patch}");
        assert_eq!(all(&spec["containers"], "image"), images, "{patch}");
    }
}

#[test]
fn merges_what_is_in_the_items() {
    let spec = pod(json!({ "containers": [{
        "name": "a", "args": ["q"],
        "env": [{ "name": "Y", "value": "9" }, { "name": "Z", "value": "9" }, { "name": "X", "$patch": "delete" }],
        "ports": [{ "containerPort": 81, "name": "p" }, { "containerPort": 82 }],
    }] }));
    let container = &spec["containers"][0];
    assert_eq!(
        container["env"],
        json!([{ "name": "Y", "value": "9" }, { "name": "Z", "value": "9" }])
    );
    assert_eq!(container["args"], json!(["q"]));
    assert_eq!(all(&container["ports"], "containerPort"), [80, 81, 82]);
    assert_eq!(container["ports"][1]["name"], "p");

    let spec = pod(json!({ "containers": [{ "name": "a", "args": null, "env": null }] }));
    assert_eq!(spec["containers"][0].get("args"), None);
    assert_eq!(spec["containers"][0].get("env"), None);

    let spec = pod(json!({ "tolerations": [{ "key": "q" }], "nodeSelector": { "a": "b" } }));
    assert_eq!(spec["tolerations"], json!([{ "key": "q" }]));
    assert_eq!(spec["nodeSelector"], json!({ "a": "b" }));
}

#[test]
fn keeps_only_the_keys_that_are_named() {
    let volumes = json!([{
        "name": "v", "$retainKeys": ["name", "configMap"], "configMap": { "name": "x" },
    }]);
    let spec = pod(json!({ "volumes": volumes }));
    assert_eq!(
        spec["volumes"],
        json!([{ "name": "v", "configMap": { "name": "x", "defaultMode": 420 } }])
    );
    let strategy = json!({ "$retainKeys": ["type"], "type": "Recreate" });
    let object = strategic(json!({ "spec": { "strategy": strategy } }));
    assert_eq!(object["spec"]["strategy"], json!({ "type": "Recreate" }));
    let strategy = json!({ "$patch": "replace", "type": "Recreate" });
    let object = strategic(json!({ "spec": { "strategy": strategy } }));
    assert_eq!(object["spec"]["strategy"], json!({ "type": "Recreate" }));
}

#[test]
fn merges_plain_lists_and_maps() {
    for (metadata, finalizers, labels) in [
        (
            json!({ "finalizers": ["a.b/c", "d.e/f"], "labels": { "x": "y", "a": null } }),
            json!(["a.b/c", "d.e/f", "k.k/1", "k.k/2"]),
            json!({ "x": "y" }),
        ),
        (
            json!({
                "$deleteFromPrimitiveList/finalizers": ["k.k/1"], "$setElementOrder/finalizers": ["k.k/2"],
                "labels": { "$patch": "replace", "q": "r" },
            }),
            json!(["k.k/2"]),
            json!({ "q": "r" }),
        ),
        (
            json!({ "$setElementOrder/finalizers": ["d.e/f", "a.b/c"], "finalizers": ["d.e/f"] }),
            json!(["d.e/f", "k.k/1", "k.k/2"]),
            json!({ "a": "b" }),
        ),
    ] {
        let object = strategic(json!({ "metadata": metadata }));
        assert_eq!(object["metadata"]["finalizers"], finalizers);
        assert_eq!(object["metadata"]["labels"], labels);
    }
}

#[test]
fn refuses_directives_that_make_no_sense() {
    for (patch, code, message) in [
        (
            json!({ "containers": [{ "image": "new" }] }),
            500,
            "map: map[image:new] does not contain declared merge key: name",
        ),
        (
            json!({ "containers": [{ "$patch": "merge", "name": "a" }] }),
            500,
            "merging lists cannot yet be specified in the patch",
        ),
        (
            json!({ "containers": [{ "$patch": "bogus", "image": "q", "name": "a" }] }),
            500,
            "unknown patch type: bogus in map: map[$patch:bogus image:q name:a]",
        ),
        (
            json!({
                "$setElementOrder/containers": [{ "name": "b" }],
                "containers": [{ "name": "a", "image": "new" }],
            }),
            500,
            "The order in patch list:\n[map[image:new name:a]]\n doesn't match $setElementOrder list:\n[map[name:b]]\n",
        ),
        (
            json!({ "volumes": [{ "name": "v", "$retainKeys": ["bogus"] }] }),
            400,
            "invalid patch format of retainKeys",
        ),
    ] {
        let mut api = Api::new();
        api.done(&format!("POST {DEPLOYMENTS}"), deployment());
        let patch = json!({ "spec": { "template": { "spec": patch } } });
        let refused = api.refused(&format!("STRATEGIC {DEPLOYMENTS}/d"), patch);
        assert_eq!((refused.0, refused.2.as_str()), (code, message));
    }
}
