//! Which object a manifest means: what cannot be told is an error at its place, and everything else goes on.

use serde_json::json;

use crate::support::api::path;
use crate::support::audit::Audit;
use crate::support::controller::{Setup, directory_sync};
use crate::support::lab::{OwnLab, api, eventually};
use crate::support::manifest::{Change, config_map, namespace};
use crate::support::namespace::{Namespace, unique};
use crate::support::outcome::{is_not_ready, is_ready};
use crate::support::source::Source;

/// argo-cd#1639, argo-cd#19112: in one source with objects that are sound.
#[test]
fn c13_each_identity_that_cannot_be_is_an_error_at_its_place_and_the_rest_goes_on() {
    let ns = Namespace::new("identity");
    let map =
        |metadata: &str| format!("---\napiVersion: v1\nkind: ConfigMap\nmetadata: {metadata}\n");
    let long = "n".repeat(254);
    let maps: String = [
        "{generateName: a-}",
        "{}",
        "{name: 12}",
        "{name: [a]}",
        "{name: ../a}",
        "{name: a/b}",
        &format!("{{name: {long}}}"),
        "{name: a, namespace: 7}",
        "{name: a, namespace: A_B}",
        "{name: first}",
    ]
    .map(map)
    .concat();
    let role = |metadata: &str| {
        format!(
            "---\napiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\nmetadata: {metadata}\nrules: []\n"
        )
    };
    let cluster = unique("identity");
    let others = [
        role("{name: scoped, namespace: shop}"),
        role(&format!("{{name: {cluster}}}")),
        "---\napiVersion: example.com/v1\nkind: Pet\nmetadata: {name: a}\n".to_owned(),
        "---\napiVersion: v1\nkind: ConfigMapp\nmetadata: {name: a}\n".to_owned(),
        "---\napiVersion: apps/v7\nkind: Deployment\nmetadata: {name: a}\n".to_owned(),
        "---\napiVersion: /v1\nkind: ConfigMap\nmetadata: {name: a}\n".to_owned(),
        "---\napiVersion: v1\nkind: Config/Map\nmetadata: {name: a}\n".to_owned(),
        "---\nkind: ConfigMap\nmetadata: {name: a}\n".to_owned(),
        map("{name: second}"),
    ]
    .concat();
    let source = Source::new()
        .file("maps.yaml", &maps)
        .file("others.yaml", &others);
    let audit = Audit::new("identity");
    let output = ns.text("sync", &source).admin(&audit.user).code(2);
    insta::with_settings!({ filters => vec![(r"identity-[0-9a-f]{6}", "IDENTITY"), (r"n{254}", "LONG")] }, {
        insta::assert_snapshot!(output.stderr);
    });
    assert_eq!(ns.members(), ["first", "second"]);
    // A cluster-scoped object is nowhere else for being synced into a namespace.
    let role = path("clusterroles", None, Some(&cluster));
    let live = api().find(&role).unwrap();
    assert_eq!(live["metadata"].get("namespace"), None);
    api().delete(&role);
    // Of what is refused here nothing was asked there.
    let resources = ["pets", "configmapps"];
    let asked: Vec<_> = audit
        .events()
        .into_iter()
        .filter(|it| resources.contains(&&*it.resource))
        .collect();
    assert!(asked.is_empty(), "{asked:?}");
}

/// What only the API server knows of names it says itself, of that object alone.
#[test]
fn names_that_only_the_server_refuses_fail_alone_in_its_words() {
    let ns = Namespace::new("names");
    let source = Source::new().with(
        "a.yaml",
        &[config_map("Upper_Case", "1"), config_map("good", "1")],
    );
    let output = ns.sync(&source).code(2);
    assert_eq!(output.outcome("ConfigMap", "Upper_Case"), "failed");
    assert!(
        output
            .message("ConfigMap", "Upper_Case")
            .contains("lowercase RFC 1123"),
        "{output:?}"
    );
    assert_eq!(ns.members(), ["good"]);
}

/// argo-cd#15467: any number of times, and each place names some of the others.
#[test]
fn c14_an_object_in_many_places_names_some_of_them_and_is_applied_from_none() {
    let ns = Namespace::new("many");
    let source = Source::new().with("z.yaml", &[config_map("other", "1")]);
    for file in 'a'..='g' {
        source.write(&format!("{file}.yaml"), &[config_map("same", "1")]);
    }
    let output = ns.sync(&source).code(2);
    let first = &output.json()["diagnostics"][0];
    let expected = format!(
        "ConfigMap {}/same is also defined at b.yaml:2:1, c.yaml:2:1, d.yaml:2:1 and 3 more; none of them is applied",
        ns.name
    );
    assert_eq!(first["message"], *expected);
    assert_eq!(output.json()["diagnostics"].as_array().unwrap().len(), 7);
    assert_eq!(ns.members(), ["other"]);
}

/// flux2#3949: a namespace for objects that name none is not one for objects that can have none.
#[test]
fn c35_a_target_namespace_moves_neither_cluster_scoped_objects_nor_those_that_say_theirs() {
    let lab = OwnLab::new();
    let api = lab.api();
    for name in ["syncs", "first", "second", "said"] {
        api.create(
            "/api/v1/namespaces",
            &json!({ "metadata": { "name": name } }),
        );
    }
    let role = json!({ "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": { "name": "it" }, "rules": [] });
    let source = Source::new().with(
        "all.yaml",
        &[
            config_map("free", "1"),
            config_map("bound", "1").within("said"),
            role,
            namespace("own"),
        ],
    );
    let sync =
        |target: &str| directory_sync("syncs", "it", &source, json!({ "targetNamespace": target }));
    let controller = Setup {
        lab: lab.dir(),
        admin: true,
        syncs: &[sync("first")],
        ..Setup::new(&["syncs"])
    }
    .start();
    is_ready(&api, "syncs", "it");
    let uid = |resource: &str, namespace: Option<&str>, name: &str| {
        let found = api.find(&path(resource, namespace, Some(name)));
        found.map(|it| it["metadata"]["uid"].as_str().unwrap().to_owned())
    };
    let fixed = || {
        [
            uid("clusterroles", None, "it"),
            uid("namespaces", None, "own"),
            uid("configmaps", Some("said"), "bound"),
        ]
    };
    let before = fixed();
    assert!(before.iter().all(Option::is_some), "{before:?}");
    assert!(uid("configmaps", Some("first"), "free").is_some());

    controller.write_syncs(&[sync("second")]);
    eventually("the one without a namespace has moved", || {
        let moved = uid("configmaps", Some("second"), "free").is_some();
        (moved && uid("configmaps", Some("first"), "free").is_none()).then_some(())
    });
    assert_eq!(fixed(), before);

    // A namespace that cannot be one does not even become part of a URL.
    let wrong = sync("a/../../b").set("/metadata/name", "wrong");
    controller.write_syncs(&[sync("second"), wrong]);
    eventually("it is told", || {
        let lines = controller.logged("targetNamespace");
        (!lines.is_empty()).then_some(())
    });
    assert_eq!(fixed(), before);
}

/// An error that goes is news as well: nothing else about the source has changed.
#[test]
fn what_cannot_be_read_is_told_when_it_comes_and_forgotten_when_it_goes() {
    let ns = Namespace::new("faults");
    let source = Source::new().with("a.yaml", &[config_map("a", "1")]);
    let syncs = [directory_sync(&ns.name, "it", &source, json!({}))];
    let _controller = Setup {
        syncs: &syncs,
        ..Setup::new(&[&ns.name])
    }
    .start();
    is_ready(api(), &ns.name, "it");
    let link = source.path().join("b.yaml");
    std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
    let message = is_not_ready(api(), &ns.name, "it", "ReconciliationFailed");
    assert!(
        message.contains("b.yaml") && message.contains("leads out of the source"),
        "{message}"
    );
    std::fs::remove_file(link).unwrap();
    is_ready(api(), &ns.name, "it");
}
