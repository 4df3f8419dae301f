//! Objects that their schema would refuse, written before it was there.

use serde_json::{Value, json};

use crate::support::api::{Api, path};
use crate::support::controller::{Setup, directory_sync};
use crate::support::lab::{OwnLab, eventually};
use crate::support::manifest::{Change, config_map, definition, deployment, own_agent};
use crate::support::outcome::is_ready;
use crate::support::source::Source;

/// Our kind without any limits.
fn lenient(kind: &str) -> Value {
    let anything = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    definition("closurejvm.io", kind)
        .set("/spec/versions/0/name", "v1alpha1")
        .set("/spec/versions/0/schema/openAPIV3Schema", anything)
        .set("/spec/versions/0/subresources", json!({ "status": {} }))
}

/// Specs that no Target can have.
fn poison() -> Vec<(&'static str, Value)> {
    let huge = "x".repeat(300_000);
    // Not deeper: this API server's work doubles with every level that no schema knows.
    let deep = (0..12).fold(json!(1), |inner, _| json!({ "a": inner }));
    vec![
        ("no-spec", Value::Null),
        ("text", json!("all of it")),
        ("endless", json!(huge)),
        ("list", json!([1, 2, 3])),
        (
            "wrong-types",
            json!({ "deploymentRef": 7, "coverageService": "yes", "agents": [] }),
        ),
        (
            "huge",
            json!({ "deploymentRef": { "name": huge }, "coverageService": true, "agents": { "coverage": { "enabled": true, "port": 6300 } } }),
        ),
        (
            "ports",
            json!({ "deploymentRef": { "name": "pet" }, "coverageService": true, "agents": { "coverage": { "enabled": true, "port": 1e300 } } }),
        ),
        (
            "steers",
            json!({ "deploymentRef": { "name": "\u{1b}[2J\u{0}../../x" }, "coverageService": true, "agents": { "coverage": { "enabled": true, "port": -1 } } }),
        ),
        ("deep", json!({ "deploymentRef": deep })),
    ]
}

fn create_poison(api: &Api) {
    let list = path("closurejvmtargets", Some("default"), None);
    for (name, spec) in poison() {
        let object = json!({
            "apiVersion": "closurejvm.io/v1alpha1", "kind": "ClosureJVMTarget",
            "metadata": { "name": name }, "spec": spec,
            "status": { "phase": 1, "conditions": "none" },
        });
        let object = if object["spec"].is_null() {
            object.unset("/spec")
        } else {
            object
        };
        let created = api.create(&list, &object);
        assert_eq!(created["spec"], object["spec"], "{name} is not poisoned");
    }
    for (name, spec) in [
        ("text", json!("all of it".repeat(30_000))),
        ("types", json!({ "source": 1, "interval": [] })),
    ] {
        let object = json!({
            "apiVersion": "closurejvm.io/v1alpha1", "kind": "Sync",
            "metadata": { "name": name }, "spec": spec,
        });
        api.create(&path("syncs", Some("default"), None), &object);
    }
}

#[test]
fn a_poisoned_target_does_not_stop_the_others() {
    let lab = OwnLab::new();
    let api = lab.api();
    let definitions = path("customresourcedefinitions", None, None);
    for kind in ["ClosureJVMTarget", "Sync"] {
        let crd = lenient(kind);
        api.create(&definitions, &crd);
        let name = crd["metadata"]["name"].as_str().unwrap();
        let (resource, _) = name.split_once('.').unwrap();
        let list = path(resource, Some("default"), None);
        eventually(&format!("{name} is served"), || api.find(&list));
    }
    create_poison(&api);
    lab.install_kinds();
    let schema = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    let crd = api.get(&format!("{definitions}/closurejvmtargets.closurejvm.io"));
    assert!(
        crd.pointer(schema).is_some(),
        "the schema is still lenient: {crd}"
    );

    let objects = [deployment("pet"), own_agent("pet"), config_map("a", "1")];
    let source = Source::new().with("all.yaml", &objects);
    let syncs = [directory_sync("default", "it", &source, json!({}))];
    let mut controller = Setup {
        lab: lab.dir(),
        syncs: &syncs,
        ..Setup::new(&["default"])
    }
    .start();
    let service = path("services", Some("default"), Some("pet-coverage"));
    eventually("the good Target has its Service", || api.find(&service));
    is_ready(&api, "default", "it");
    for (name, _) in poison() {
        eventually(&format!("the log tells of {name}"), || {
            let told = controller.logged(&format!("\"default/{name}\""));
            told.iter()
                .any(|line| line.contains("\"level\":\"warn\""))
                .then_some(())
        });
    }
    // It serves whoever comes later, and repairs.
    api.create(
        &path("deployments", Some("default"), None),
        &deployment("late"),
    );
    api.create(
        &path("closurejvmtargets", Some("default"), None),
        &own_agent("late"),
    );
    let late = path("services", Some("default"), Some("late-coverage"));
    eventually("a later Target has its Service", || api.find(&late));
    api.delete(&service);
    eventually("the Service is back", || api.find(&service));
    assert_eq!(controller.ended(), None);
    assert_eq!(controller.logged("panicked"), [""; 0]);
    let longest = controller.logged("").iter().map(String::len).max();
    assert!(longest < Some(5_000), "a line of {longest:?} bytes");
    // No Service came of nonsense, which the API server would have refused anyway.
    let services = api.list(&path("services", Some("default"), None));
    let ours = services
        .iter()
        .filter_map(|it| it["metadata"]["name"].as_str());
    let mut ours: Vec<&str> = ours.filter(|name| name.ends_with("-coverage")).collect();
    ours.sort_unstable();
    assert_eq!(ours, ["late-coverage", "pet-coverage"]);
}
