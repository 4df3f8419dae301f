//! The end of a Sync that `covergence run` looks after: its members go with it or are let go, and it holds nobody up.

use serde_json::{Value, json};

use crate::support::api::path;
use crate::support::audit::{Audit, Event};
use crate::support::controller::{Controller, Setup, directory_sync};
use crate::support::kubectl::kubectl;
use crate::support::lab::{OwnLab, api, eventually};
use crate::support::manifest::{
    Change, claim, config_map, definition, deployment, namespace, own_agent, secret,
};
use crate::support::namespace::{Namespace, condition_of, unique};
use crate::support::source::Source;

const WAVE: &str = "argocd.argoproj.io/sync-wave";

fn is_ready(ns: &Namespace, name: &str) {
    eventually(&format!("Sync {name} is ready"), || {
        let sync = ns.find("syncs", name)?;
        (condition_of(&sync, "Ready")["status"] == "True").then_some(())
    });
}

/// A Sync that somebody made in the cluster, applied.
fn applied(ns: &Namespace, source: &Source, spec: Value) {
    ns.create("syncs", &directory_sync(&ns.name, "it", source, spec));
    is_ready(ns, "it");
}

fn gone(ns: &Namespace, resource: &str, name: &str) {
    eventually(&format!("{resource} {name} is gone"), || {
        (!ns.exists(resource, name)).then_some(())
    });
}

/// Checks that nothing of ours is left on an object, and gives its data.
fn is_nobodys(object: &Value) {
    let metadata = &object["metadata"];
    let marks = metadata.to_string();
    assert!(!marks.contains("applyset"), "{metadata}");
    assert!(!marks.contains("closurejvm.io"), "{metadata}");
    assert!(!marks.contains("\"covergence"), "{metadata}");
}

fn is_released(ns: &Namespace, resource: &str, name: &str) -> Value {
    eventually(&format!("{resource} {name} is released"), || {
        let object = ns.get(resource, name);
        object["metadata"]["labels"]
            .get("applyset.kubernetes.io/part-of")
            .is_none()
            .then_some(())
    });
    let object = ns.get(resource, name);
    is_nobodys(&object);
    object
}

#[test]
fn members_go_in_reverse_order_and_what_they_clean_up_is_waited_for() {
    let ns = Namespace::new("reverse");
    let audit = Audit::new("reverse");
    let group = format!("{}.example.com", ns.name);
    let (crd, plural) = (format!("pets.{group}"), format!("pets.{group}/v1"));
    let pet = json!({
        "apiVersion": format!("{group}/v1"), "kind": "Pet",
        "metadata": { "name": "rex", "finalizers": ["example.com/tidy"] },
    });
    let source = Source::new().with(
        "all.yaml",
        &[
            config_map("base", "1").annotated(WAVE, "-1"),
            definition(&group, "Pet"),
            deployment("operator"),
            pet,
            config_map("last", "1").annotated(WAVE, "2"),
        ],
    );
    let _controller = Setup {
        user: Some(&audit.user),
        ..Setup::new(&[&ns.name])
    }
    .start();
    applied(&ns, &source, json!({ "deletionPolicy": "Delete" }));
    assert!(ns.exists(&plural, "rex"));

    // The definition goes only with that.
    ns.approve("it", "deletion");
    ns.delete_at_once("syncs", "it");
    let going = eventually("the custom resource is asked to go", || {
        let pet = ns.get(&plural, "rex");
        pet["metadata"]["deletionTimestamp"]
            .is_string()
            .then_some(pet)
    });
    assert_eq!(going["metadata"]["finalizers"], json!(["example.com/tidy"]));
    // Who tidies up is still there, and so is the Sync.
    assert!(ns.exists("deployments", "operator") && ns.exists("syncs", "it"));
    assert!(!ns.exists("configmaps", "last"));
    assert_eq!(ns.members(), ["base"]);
    ns.edit(&plural, "rex", &json!({ "metadata": { "finalizers": [] } }));
    gone(&ns, "syncs", "it");
    assert!(ns.members().is_empty());
    assert!(!ns.exists("deployments", "operator"));
    assert!(
        api()
            .find(&path("customresourcedefinitions", None, Some(&crd)))
            .is_none()
    );

    let deletes: Vec<String> = audit
        .writes()
        .into_iter()
        .filter(|event| event.verb == "delete")
        .map(|event| event.name)
        .collect();
    let place = |name: &str| {
        deletes
            .iter()
            .position(|it| it == name)
            .unwrap_or_else(|| panic!("{name}: {deletes:?}"))
    };
    assert!(place("last") < place("rex"), "{deletes:?}");
    assert!(
        place("rex") < place("operator") && place("rex") < place(&crd),
        "{deletes:?}"
    );
    assert!(
        place("operator") < place("base") && place(&crd) < place("base"),
        "{deletes:?}"
    );
}

#[test]
fn without_a_policy_members_stay_and_are_anybodys() {
    let ns = Namespace::new("orphan");
    let source = Source::new().with(
        "all.yaml",
        &[
            config_map("a", "1"),
            config_map("b", "1"),
            secret("s", "hidden"),
            deployment("pet"),
        ],
    );
    let _controller = Setup::new(&[&ns.name]).start();
    applied(&ns, &source, json!({}));
    let essence = |object: Value| {
        (
            object["data"].clone(),
            object["spec"].clone(),
            object["metadata"]["uid"].clone(),
        )
    };
    let all = [
        ("configmaps", "a"),
        ("configmaps", "b"),
        ("secrets", "s"),
        ("deployments", "pet"),
    ];
    let before = all.map(|(resource, name)| essence(ns.get(resource, name)));
    ns.delete("syncs", "it");
    let after = all.map(|(resource, name)| essence(is_released(&ns, resource, name)));
    assert_eq!(before, after);

    // kubectl takes one over, another Sync the rest: nobody's fields stand in the way.
    let apply = ["-n", &ns.name, "apply", "-f", "-"];
    kubectl(
        &[&apply[..], &["--server-side"]].concat(),
        &[config_map("a", "1")],
    );
    kubectl(&apply, &[config_map("a", "2")]);
    source.write(
        "all.yaml",
        &[
            config_map("b", "2"),
            secret("s", "other"),
            deployment("pet"),
        ],
    );
    let other = directory_sync(&ns.name, "other", &source, json!({}));
    ns.create("syncs", &other);
    is_ready(&ns, "other");
    let value = |name: &str| ns.get("configmaps", name)["data"]["key"].clone();
    assert_eq!((value("a"), value("b")), (json!("2"), json!("2")));
}

#[test]
fn members_that_say_keep_stay_and_are_released() {
    let ns = Namespace::new("keep");
    let source = Source::new().with(
        "all.yaml",
        &[
            config_map("kept", "1").annotated("helm.sh/resource-policy", "keep"),
            config_map("goes", "1"),
        ],
    );
    let _controller = Setup::new(&[&ns.name]).start();
    applied(&ns, &source, json!({ "deletionPolicy": "Delete" }));
    ns.delete("syncs", "it");
    assert_eq!(ns.members(), ["kept"]);
    let kept = is_released(&ns, "configmaps", "kept");
    assert_eq!(
        kept["metadata"]["annotations"]["helm.sh/resource-policy"],
        "keep"
    );
}

/// A claim, an object that asks for it, and one that may go at once.
fn to_confirm() -> Source {
    let marked = config_map("marked", "1").annotated("closurejvm.io/prune", "confirm");
    let all = [claim("data"), marked, config_map("goes", "1")];
    Source::new().with("all.yaml", &all)
}

#[test]
fn what_goes_only_when_that_is_approved_stays_and_holds_nobody_up() {
    let (ns, source) = (Namespace::new("unapproved"), to_confirm());
    let controller = Setup::new(&[&ns.name]).start();
    applied(&ns, &source, json!({ "deletionPolicy": "Delete" }));
    // Who approves what leaves the source has not approved that all of it goes.
    let revision = &ns.get("syncs", "it")["status"]["lastAttemptedRevision"];
    controller.kill();
    ns.approve("it", revision.as_str().unwrap());
    ns.delete_at_once("syncs", "it");
    let controller = Setup::new(&[&ns.name]).start();
    gone(&ns, "syncs", "it");
    assert_eq!(ns.members(), ["marked"]);
    let kept = ns.get("configmaps", "marked");
    assert_eq!(
        kept["metadata"]["annotations"],
        json!({ "closurejvm.io/prune": "confirm" })
    );
    let data = is_released(&ns, "persistentvolumeclaims", "data");
    assert!(data["metadata"]["deletionTimestamp"].is_null(), "{data}");
    let told = eventually("an event tells of it", || {
        let mut events = ns.list("events").into_iter();
        events.find(|event| event["reason"] == "PruneNotApproved")
    });
    let message = told["message"].as_str().or(told["note"].as_str()).unwrap();
    for part in ["/data", "/marked", "closurejvm.io/approve-prune=deletion"] {
        assert!(message.contains(part), "{message}");
    }
    assert!(!controller.logged("PersistentVolumeClaim").is_empty());
}

#[test]
fn a_namespace_with_strangers_in_it_holds_no_deletion_up() {
    let (ns, other) = (Namespace::new("strange-home"), Namespace::unborn("strange"));
    let source = Source::new().with(
        "all.yaml",
        &[
            namespace(&other.name),
            config_map("goes", "1").within(&other.name),
        ],
    );
    let _controller = Setup {
        admin: true,
        ..Setup::new(&[&ns.name])
    }
    .start();
    applied(&ns, &source, json!({ "deletionPolicy": "Delete" }));
    other.create("configmaps", &config_map("stranger", "1"));
    ns.delete_at_once("syncs", "it");
    gone(&ns, "syncs", "it");
    assert_eq!(other.members(), ["stranger"]);
    let left = api().get(&path("namespaces", None, Some(&other.name)));
    assert!(left["metadata"]["deletionTimestamp"].is_null());
    is_nobodys(&left);
}

#[test]
fn a_deletion_that_is_approved_takes_everything_along() {
    let (ns, source) = (Namespace::new("approved"), to_confirm());
    let _controller = Setup::new(&[&ns.name]).start();
    applied(&ns, &source, json!({ "deletionPolicy": "Delete" }));
    ns.approve("it", "deletion");
    // That approves no prune of the source.
    source.write("all.yaml", &[config_map("goes", "1")]);
    ns.wait_until_prune_waits("it", &["/data", "/marked", "deletion"]);
    ns.delete_at_once("syncs", "it");
    gone(&ns, "syncs", "it");
    assert!(ns.members().is_empty());
    gone(&ns, "persistentvolumeclaims", "data");
}

#[test]
fn a_sync_that_orphans_after_all_has_no_finalizer() {
    let ns = Namespace::new("policy");
    let source = Source::new().with("all.yaml", &[config_map("a", "1")]);
    let _controller = Setup::new(&[&ns.name]).start();
    applied(&ns, &source, json!({ "deletionPolicy": "Delete" }));
    let finalizers = || ns.get("syncs", "it")["metadata"]["finalizers"].clone();
    assert_eq!(finalizers(), json!(["closurejvm.io/members"]));
    ns.edit(
        "syncs",
        "it",
        &json!({ "spec": { "deletionPolicy": "Orphan" } }),
    );
    eventually("the finalizer is gone", || {
        finalizers().is_null().then_some(())
    });
    ns.delete("syncs", "it");
    is_released(&ns, "configmaps", "a");
}

#[test]
fn a_controller_that_was_away_goes_on_where_it_must() {
    let ns = Namespace::new("away");
    let source = Source::new().with("all.yaml", &[config_map("a", "1"), config_map("b", "1")]);
    let controller = Setup::new(&[&ns.name]).start();
    applied(&ns, &source, json!({ "deletionPolicy": "Delete" }));
    controller.kill();
    ns.delete_at_once("syncs", "it");
    assert!(ns.exists("syncs", "it"));
    let _controller = Setup::new(&[&ns.name]).start();
    gone(&ns, "syncs", "it");
    assert!(ns.members().is_empty());
}

#[test]
fn what_cannot_be_deleted_in_time_is_given_up() {
    let ns = Namespace::new("stuck");
    let stuck = config_map("stuck", "1").set("/metadata/finalizers", json!(["example.com/never"]));
    let source = Source::new().with("all.yaml", &[stuck, config_map("a", "1")]);
    let controller = Setup::new(&[&ns.name]).start();
    applied(
        &ns,
        &source,
        json!({ "deletionPolicy": "Delete", "timeout": "3s" }),
    );
    ns.delete_at_once("syncs", "it");
    gone(&ns, "syncs", "it");
    assert_eq!(ns.members(), ["stuck"]);
    assert!(ns.get("configmaps", "stuck")["metadata"]["deletionTimestamp"].is_string());
    let told = controller.logged("left behind");
    assert!(told.iter().any(|line| line.contains("stuck")), "{told:#?}");
    eventually("an event tells of it", || {
        let events = ns.list("events");
        let tells = |event: &Value| {
            let message = event["message"]
                .as_str()
                .or(event["note"].as_str())
                .unwrap_or_default();
            event["type"] == "Warning" && message.contains("stuck")
        };
        events.iter().any(tells).then_some(())
    });
    ns.edit(
        "configmaps",
        "stuck",
        &json!({ "metadata": { "finalizers": [] } }),
    );
}

#[test]
fn c36_members_whose_definition_is_gone_count_as_deleted() {
    let ns = Namespace::new("no-kind");
    let group = format!("{}.example.com", ns.name);
    let crd = definition(&group, "Pet");
    api().create(&path("customresourcedefinitions", None, None), &crd);
    let pet = json!({ "apiVersion": format!("{group}/v1"), "kind": "Pet", "metadata": { "name": "rex" } });
    let source = Source::new().with("all.yaml", &[pet, config_map("a", "1")]);
    let _controller = Setup::new(&[&ns.name]).start();
    applied(&ns, &source, json!({ "deletionPolicy": "Delete" }));
    let crd = path(
        "customresourcedefinitions",
        None,
        Some(&format!("pets.{group}")),
    );
    assert!(api().delete(&crd));
    eventually("the definition is gone", || {
        api().find(&crd).is_none().then_some(())
    });
    ns.delete_at_once("syncs", "it");
    gone(&ns, "syncs", "it");
    assert!(ns.members().is_empty());
}

#[test]
fn a_target_without_its_deployment_can_be_deleted() {
    let ns = Namespace::new("bereft");
    let _controller = Setup::new(&[&ns.name]).start();
    ns.create("deployments", &deployment("pet"));
    ns.create("closurejvmtargets", &own_agent("pet"));
    eventually("it is served", || {
        ns.exists("services", "pet-coverage").then_some(())
    });
    ns.delete("deployments", "pet");
    ns.delete("closurejvmtargets", "pet");
    gone(&ns, "services", "pet-coverage");
}

/// A namespace with all that is ours in it, and a Sync that wants to take its members along.
fn furnished(ns: &Namespace, source: &Source, controller: Setup<'_>) -> Controller {
    let controller = controller.start();
    ns.create(
        "syncs",
        &directory_sync(&ns.name, "orphans", source, json!({})),
    );
    is_ready(ns, "orphans");
    let own = Source::new().with("own.yaml", &[config_map("own", "1")]);
    ns.create(
        "syncs",
        &directory_sync(&ns.name, "it", &own, json!({ "deletionPolicy": "Delete" })),
    );
    is_ready(ns, "it");
    eventually("the Target is served", || {
        ns.exists("services", "pet-coverage").then_some(())
    });
    controller
}

fn namespace_ends(ns: &Namespace) {
    eventually("the namespace is gone", || {
        api()
            .find(&path("namespaces", None, Some(&ns.name)))
            .is_none()
            .then_some(())
    });
}

fn delete_namespace(ns: &Namespace) {
    assert!(api().delete(&path("namespaces", None, Some(&ns.name))));
}

#[test]
fn c38_a_namespace_deleted_while_the_controller_is_away_is_not_held_up() {
    let (ns, leases) = (Namespace::new("c38-away"), Namespace::new("c38-leases"));
    let source = Source::new().with(
        "all.yaml",
        &[config_map("a", "1"), deployment("pet"), own_agent("pet")],
    );
    let namespaces = [leases.name.as_str(), ns.name.as_str()];
    furnished(&ns, &source, Setup::new(&namespaces)).kill();
    delete_namespace(&ns);
    // All but what waits for the controller goes without it.
    eventually("the rest is gone", || {
        let targets = ns.list("closurejvmtargets").is_empty();
        (targets && ns.members().is_empty() && ns.list("syncs").len() == 1).then_some(())
    });
    let audit = Audit::new("less-c38-away");
    let _controller = Setup {
        user: Some(&audit.user),
        ..Setup::new(&namespaces)
    }
    .start();
    namespace_ends(&ns);
    no_writes_into(&audit, &ns);
}

#[test]
fn c38_a_namespace_deleted_while_the_controller_runs_ends_and_stays_empty() {
    let (ns, leases) = (Namespace::new("c38-runs"), Namespace::new("c38-leases"));
    let source = Source::new().with(
        "all.yaml",
        &[config_map("a", "1"), deployment("pet"), own_agent("pet")],
    );
    let namespaces = [leases.name.as_str(), ns.name.as_str()];
    let audit = Audit::new("less-c38-runs");
    let setup = Setup {
        user: Some(&audit.user),
        ..Setup::new(&namespaces)
    };
    let _controller = furnished(&ns, &source, setup);
    delete_namespace(&ns);
    namespace_ends(&ns);
    // The API server lets nothing be made in it: who tries again and again shows here.
    let writes = audit.writes();
    let refused = |event: &&Event| event.namespace == ns.name && event.code == 403;
    let refused: Vec<_> = writes.iter().filter(refused).collect();
    assert!(refused.len() <= 5, "{refused:#?}");
}

/// But for the finalizer that is taken off, and members that the Sync takes along.
fn no_writes_into(audit: &Audit<'_>, ns: &Namespace) {
    let writes = audit.writes();
    let into = writes
        .into_iter()
        .filter(|event| event.namespace == ns.name && event.resource != "events");
    let others: Vec<_> = into
        .filter(|event| {
            event.verb != "delete"
                && !(event.name == "it"
                    && event.resource == "syncs"
                    && event.subresource.is_empty())
        })
        .collect();
    assert!(others.is_empty(), "{others:#?}");
}

#[test]
fn our_own_kinds_may_go_and_come_back_while_it_runs() {
    let lab = OwnLab::new();
    let api = lab.api();
    let name = unique("kinds");
    api.create(
        "/api/v1/namespaces",
        &json!({ "metadata": { "name": name } }),
    );
    let _controller = Setup {
        lab: lab.dir(),
        ..Setup::new(&[&name])
    }
    .start();
    let at = |resource, object: Option<&str>| path(resource, Some(&name), object);
    let target = own_agent("pet").within(&name);
    let serve = || {
        // Of a new kind, the server knows one verb before another.
        eventually("the kind is served", || {
            let path = at("closurejvmtargets", None);
            let made = api.send("POST", &path, "application/json", &target);
            made.ok().map(drop)
        });
        eventually("it is served", || {
            let live = api.find(&at("closurejvmtargets", Some("pet")))?;
            live["status"]["coverageEndpoint"].is_string().then_some(())
        });
    };
    api.create(&at("deployments", None), &deployment("pet"));
    serve();
    let crd = path(
        "customresourcedefinitions",
        None,
        Some("closurejvmtargets.closurejvm.io"),
    );
    let definition = api.get(&crd);
    assert!(api.delete(&crd));
    eventually("the kind is gone", || {
        api.find(&crd).is_none().then_some(())
    });
    let metadata = json!({ "name": "closurejvmtargets.closurejvm.io" });
    let definition = definition.set("/metadata", metadata).unset("/status");
    api.create(&path("customresourcedefinitions", None, None), &definition);
    serve();
    let owner =
        api.get(&at("services", Some("pet-coverage")))["metadata"]["ownerReferences"][0]["uid"]
            .clone();
    let uid = || api.get(&at("closurejvmtargets", Some("pet")))["metadata"]["uid"].clone();
    assert_eq!(owner, uid());
}
