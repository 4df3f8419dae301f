//! `covergence run`: a change touches what has changed, and nothing happens while nothing changes.

use serde_json::{Value, json};

use crate::support::audit::{Audit, Event};
use crate::support::controller::{Controller, Setup, directory_sync};
use crate::support::lab::eventually;
use crate::support::manifest::{config_map, deployment, own_agent};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

/// A controller whose requests can be told from all others.
fn start(ns: &Namespace, source: &Source, audit: &Audit<'_>) -> Controller {
    Setup {
        user: Some(&audit.user),
        syncs: &[directory_sync(&ns.name, "it", source, json!({}))],
        ..Setup::new(&[&ns.name])
    }
    .start()
}

/// What was asked since `from`, but for Leases, Events and watches: `<verb> <resource> <name>`.
fn asked(audit: &Audit<'_>, from: usize) -> Vec<String> {
    let events = audit.events().split_off(from);
    let counts = |event: &&Event| {
        event.verb != "watch" && event.resource != "leases" && event.resource != "events"
    };
    let line = |event: &Event| {
        let part = if event.subresource.is_empty() {
            ""
        } else {
            "/"
        };
        let Event {
            verb,
            resource,
            subresource,
            name,
            ..
        } = event;
        format!("{verb} {resource}{part}{subresource} {name}")
    };
    events.iter().filter(counts).map(line).collect()
}

#[test]
fn one_changed_file_among_many_touches_one_object() {
    let ns = Namespace::new("onefile");
    let source = Source::new();
    for i in 0..100 {
        source.write(&format!("{i}.yaml"), &[config_map(&format!("m{i}"), "1")]);
    }
    let audit = Audit::new("onefile");
    let _controller = start(&ns, &source, &audit);
    ns.wait_until_ready("it");
    ns.ask_for_a_run("it", "begin");

    let applied = || ns.get("syncs", "it")["status"]["lastAppliedRevision"].clone();
    let (revision, before) = (applied(), audit.events().len());
    source.write("7.yaml", &[config_map("m7", "2")]);
    eventually("it is applied", || (applied() != revision).then_some(()));
    assert_eq!(ns.get("configmaps", "m7")["data"]["key"], "2");
    assert_eq!(
        asked(&audit, before),
        ["patch configmaps m7", "patch syncs/status it"]
    );
}

#[test]
fn c50_nothing_is_asked_while_nothing_changes() {
    let ns = Namespace::new("idle");
    let source = Source::new().with(
        "a.yaml",
        &[config_map("a", "1"), deployment("pet"), own_agent("pet")],
    );
    let audit = Audit::new("idle");
    let _controller = start(&ns, &source, &audit);
    ns.wait_until_ready("it");
    eventually("the Target has its endpoint", || {
        ns.status("pet").get("coverageEndpoint").map(|_| ())
    });
    eventually("the Deployment's controller has done its part", || {
        let deployment = ns.get("deployments", "pet");
        (deployment["status"]["replicas"] == 2).then_some(())
    });
    ns.ask_for_a_run("it", "begin");
    eventually("it comes to rest", || {
        let before = audit.events().len();
        std::thread::sleep(std::time::Duration::from_secs(1));
        asked(&audit, before).is_empty().then_some(())
    });
    let version = |resource, name| ns.get(resource, name)["metadata"]["resourceVersion"].clone();
    let versions = || -> Vec<Value> {
        [
            ("syncs", "it"),
            ("closurejvmtargets", "pet"),
            ("services", "pet-coverage"),
        ]
        .map(|(resource, name)| version(resource, name))
        .into()
    };
    let (quiet, before) = (versions(), audit.events().len());
    // The same text is written again, and others write what is nobody's business.
    source.write(
        "a.yaml",
        &[config_map("a", "1"), deployment("pet"), own_agent("pet")],
    );
    ns.edit(
        "configmaps",
        "a",
        &json!({ "metadata": { "annotations": { "shop.example/note": "1" } } }),
    );
    ns.create("configmaps", &config_map("stranger", "1"));
    std::thread::sleep(std::time::Duration::from_secs(3));
    assert_eq!(asked(&audit, before), Vec::<String>::new());
    assert_eq!(versions(), quiet);
}

#[test]
fn a_target_made_by_hand_is_served() {
    let ns = Namespace::new("live");
    let _controller = Setup::new(&[&ns.name]).start();
    ns.create("deployments", &deployment("pet"));
    ns.create("closurejvmtargets", &own_agent("pet"));
    let service = "pet-coverage";
    eventually("it has a Service", || ns.find("services", service));
    eventually("its endpoint is published", || {
        let endpoint = ns.status("pet")["coverageEndpoint"].clone();
        (endpoint == format!("{service}.{}.svc.cluster.local:6300", ns.name)).then_some(())
    });
    let uid = ns.get("services", service)["metadata"]["uid"].clone();
    ns.delete_at_once("services", service);
    eventually("the Service is back", || {
        let found = ns.find("services", service)?;
        (found["metadata"]["uid"] != uid).then_some(())
    });

    ns.delete("deployments", "pet");
    eventually("without a Deployment there is no Service", || {
        (!ns.exists("services", service)).then_some(())
    });
    eventually("and no endpoint", || {
        let status = ns.status("pet");
        status.get("coverageEndpoint").is_none().then_some(())
    });
    ns.create("deployments", &deployment("pet"));
    eventually("it comes back by itself", || ns.find("services", service));
}
