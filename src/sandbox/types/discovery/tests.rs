use serde_json::{Value, json};

use super::{aggregated, group, groups, ordered_versions, resources};
use crate::types::{Registry, assumed, built_in};

fn names(list: &Value, of: &str) -> Vec<String> {
    let list = list.as_array().unwrap().iter();
    list.map(|it| it[of].as_str().unwrap().to_owned()).collect()
}

#[test]
fn versions_of_a_group_come_in_the_order_of_their_worth() {
    let mut kinds = Registry::default();
    for version in ["v1alpha1", "v1", "v10", "v2beta1", "foo", "v2", "v1beta2"] {
        kinds.add(assumed(&format!("x.io/{version}"), "X"));
    }
    assert_eq!(
        ordered_versions(&kinds, "x.io"),
        ["v10", "v2", "v1", "v2beta1", "v1beta2", "v1alpha1", "foo"]
    );
    let found = group(&kinds, "x.io").unwrap();
    assert_eq!(
        found["preferredVersion"],
        json!({ "groupVersion": "x.io/v10", "version": "v10" })
    );
    assert_eq!(group(&kinds, "y.io"), None);
}

#[test]
fn the_core_is_no_group_in_the_list_of_groups() {
    let groups = groups(&built_in());
    let names = names(&groups["groups"], "name");
    assert!(
        names.contains(&"apps".to_owned()) && !names.contains(&String::new()),
        "{names:?}"
    );
}

#[test]
fn a_list_of_resources_names_parts_beside_kinds() {
    let kinds = built_in();
    let apps = resources(&kinds, "apps", "v1").unwrap();
    let found = names(&apps["resources"], "name");
    let deployments: Vec<&String> = found
        .iter()
        .filter(|it| it.starts_with("deployments"))
        .collect();
    assert_eq!(
        deployments,
        ["deployments", "deployments/scale", "deployments/status"]
    );
    let scale = apps["resources"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["name"] == "deployments/scale");
    let expected = json!({
        "name": "deployments/scale", "singularName": "", "namespaced": true, "group": "autoscaling", "version": "v1",
        "kind": "Scale", "verbs": ["get", "patch", "update"],
    });
    assert_eq!(scale, Some(&expected));
    assert_eq!(resources(&kinds, "apps", "v9"), None);
    let reviews = resources(&kinds, "authorization.k8s.io", "v1").unwrap();
    assert_eq!(reviews["resources"][0]["verbs"], json!(["create"]));
}

#[test]
fn the_aggregated_document_holds_the_same() {
    let kinds = built_in();
    let core = aggregated(&kinds, true, "v2");
    assert_eq!(core["apiVersion"], "apidiscovery.k8s.io/v2");
    assert_eq!(names(&core["items"][0]["versions"], "version"), ["v1"]);
    let all = aggregated(&kinds, false, "v2beta1");
    let apps = all["items"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["metadata"]["name"] == "apps")
        .unwrap();
    let resources = apps["versions"][0]["resources"].as_array().unwrap();
    let deployments = resources
        .iter()
        .find(|it| it["resource"] == "deployments")
        .unwrap();
    let expected = json!({
        "resource": "deployments", "scope": "Namespaced", "singularResource": "deployment",
        "responseKind": { "group": "apps", "version": "v1", "kind": "Deployment" },
        "verbs": ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"],
        "shortNames": ["deploy"], "categories": ["all"],
        "subresources": [
            {
                "subresource": "scale", "responseKind": { "group": "autoscaling", "version": "v1", "kind": "Scale" },
                "verbs": ["get", "patch", "update"],
            },
            {
                "subresource": "status", "responseKind": { "group": "apps", "version": "v1", "kind": "Deployment" },
                "verbs": ["get", "patch", "update"],
            },
        ],
    });
    assert_eq!(deployments, &expected);
}
