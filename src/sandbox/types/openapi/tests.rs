use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::{v2, v3, v3_index};
use crate::types::{Origin, Registry, assumed, built_in, capture, discovery, table};

fn references<'a>(value: &'a Value, found: &mut BTreeSet<&'a str>) {
    match value {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|it| references(it, found));
        }
        Value::Array(list) => list.iter().for_each(|it| references(it, found)),
        _ => {}
    }
}

#[test]
fn documents_lack_nothing_that_they_refer_to() {
    let kinds = built_in();
    let index = v3_index(&kinds);
    let apps = &index["paths"]["apis/apps/v1"]["serverRelativeURL"];
    assert_eq!(apps, "/openapi/v3/apis/apps/v1");
    for kind in kinds.all() {
        let document = v3(&kinds, &kind.group, &kind.version).unwrap();
        let mut found = BTreeSet::new();
        references(&document, &mut found);
        for reference in found {
            let place = reference.strip_prefix('#').unwrap();
            assert!(
                document.pointer(place).is_some_and(Value::is_object),
                "{reference}"
            );
        }
    }
    assert_eq!(v3(&kinds, "apps", "v9"), None);
}

#[test]
fn fields_say_how_they_are_merged() {
    let document = v3(&built_in(), "apps", "v1").unwrap();
    let schemas = &document["components"]["schemas"];
    let pod = &schemas["io.k8s.api.core.v1.PodSpec"];
    let expected = json!({
        "type": "array", "items": { "$ref": "#/components/schemas/io.k8s.api.core.v1.Container" },
        "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
        "x-kubernetes-patch-strategy": "merge", "x-kubernetes-patch-merge-key": "name",
    });
    assert_eq!(pod["properties"]["containers"], expected);
    assert_eq!(pod["required"], json!(["containers"]));
    let strategy = &schemas["io.k8s.api.apps.v1.DeploymentSpec"]["properties"]["strategy"];
    let expected = json!({
        "allOf": [{ "$ref": "#/components/schemas/io.k8s.api.apps.v1.DeploymentStrategy" }],
        "x-kubernetes-patch-strategy": "retainKeys",
    });
    assert_eq!(strategy, &expected);
    let patch =
        &document["paths"]["/apis/apps/v1/namespaces/{namespace}/deployments/{name}"]["patch"];
    let names: Vec<&Value> = patch["parameters"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["name"])
        .collect();
    assert_eq!(
        names,
        ["dryRun", "fieldManager", "fieldValidation", "force"]
    );
    let strategic = patch.pointer("/requestBody/content/application~1strategic-merge-patch+json");
    assert!(strategic.is_some());
}

#[test]
fn custom_kinds_are_described_by_their_own_schema() {
    let mut kinds = built_in();
    let mut gadget = assumed("example.org/v1", "Gadget");
    gadget.origin = Origin::Custom("gadgets.example.org".to_owned());
    let schema = json!({ "type": "object", "properties": { "spec": { "type": "object" } }, "required": ["spec"] });
    gadget.validation = Some(Arc::new(schema));
    kinds.add(gadget);
    let document = v3(&kinds, "example.org", "v1").unwrap();
    let gadget = &document["components"]["schemas"]["org.example.v1.Gadget"];
    let expected = json!({
        "type": "object", "required": ["spec"],
        "properties": {
            "apiVersion": { "type": "string" }, "kind": { "type": "string" }, "spec": { "type": "object" },
            "metadata": { "$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta" },
        },
        "x-kubernetes-group-version-kind": [{ "group": "example.org", "version": "v1", "kind": "Gadget" }],
    });
    assert_eq!(gadget, &expected);
}

#[test]
fn what_is_served_can_be_captured_again() {
    let kinds = built_in();
    let mut versions: Vec<(&str, &str)> = kinds
        .all()
        .map(|kind| (&*kind.group, &*kind.version))
        .collect();
    versions.dedup();
    let lists: Vec<Value> = versions
        .into_iter()
        .map(|(group, version)| discovery::resources(&kinds, group, version).unwrap())
        .collect();
    let again = capture::registry(&v2(&kinds), &lists);
    let text = |kinds| String::from_utf8(table::to_bytes(kinds)).unwrap();
    for (before, after) in text(&kinds).lines().zip(text(&again).lines()) {
        assert_eq!(before, after);
    }
}

#[test]
fn an_older_server_is_captured_without_what_has_come_since() {
    let kinds = built_in();
    let lists = [discovery::resources(&kinds, "batch", "v1").unwrap()];
    let mut document = v2(&kinds);
    let spec = "/definitions/io.k8s.api.batch.v1.JobSpec/properties";
    let spec = document.pointer_mut(spec).and_then(Value::as_object_mut);
    assert!(spec.unwrap().remove("completionMode").is_some());
    let read = |kinds: &Registry| {
        let kind = kinds.of("batch/v1", "Job").unwrap();
        let mut job = json!({
            "apiVersion": "batch/v1", "kind": "Job", "metadata": { "name": "a" },
            "spec": { "completionMode": "Indexed", "template": {} },
        });
        let unknown = crate::types::read(kind, &mut job).unwrap().unknown;
        // What Go never leaves out is known all the same.
        assert_eq!(job["status"], json!({}));
        unknown
    };
    assert_eq!(read(&capture::registry(&document, &lists)), [""; 0]);
    assert_eq!(
        read(&capture::exact(&document, &lists)),
        ["spec.completionMode"]
    );
}
