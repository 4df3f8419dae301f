//! `covergence run`: the cluster follows the source within a moment, and goes back when it is changed by hand.

use serde_json::{Value, json};

use crate::support::controller::{Setup, directory_sync};
use crate::support::lab::eventually;
use crate::support::manifest::{config_map, deployment, target};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

/// The Sync's condition `Ready`, if it speaks of this revision's run or any.
fn ready(ns: &Namespace, name: &str) -> Option<Value> {
    let sync = ns.find("syncs", name)?;
    let conditions = sync["status"]["conditions"].as_array()?.clone();
    conditions.into_iter().find(|c| c["type"] == "Ready")
}

fn is_ready(ns: &Namespace, name: &str) -> Option<()> {
    (ready(ns, name)?["status"] == "True").then_some(())
}

#[test]
fn a_directory_is_followed_and_drift_is_repaired() {
    let ns = Namespace::new("follow");
    let source = Source::new().with("a.yaml", &[config_map("a", "1"), config_map("b", "1")]);
    let sync = directory_sync(&ns.name, "it", &source, json!({}));
    let controller = Setup {
        syncs: &[sync],
        ..Setup::new(&[&ns.name])
    }
    .start();
    eventually("the Sync is ready", || is_ready(&ns, "it"));
    assert_eq!(ns.members(), ["a", "b"]);

    source.write("a.yaml", &[config_map("a", "2")]);
    eventually("b is pruned", || (ns.members() == ["a"]).then_some(()));
    let value = |name: &str| ns.get("configmaps", name)["data"]["key"].clone();
    eventually("a is changed", || (value("a") == "2").then_some(()));

    ns.edit("configmaps", "a", &json!({ "data": { "key": "mine" } }));
    eventually("a is repaired", || (value("a") == "2").then_some(()));
    ns.delete_at_once("configmaps", "a");
    eventually("a is back", || ns.exists("configmaps", "a").then_some(()));
    assert!(controller.metric("covergence_drift_total", &[]) >= 2.0);
}

#[test]
fn a_target_made_by_hand_is_served() {
    let ns = Namespace::new("live");
    let _controller = Setup::new(&[&ns.name]).start();
    ns.create("deployments", &deployment("pet"));
    ns.create("closurejvmtargets", &target("pet"));
    let service = "pet-coverage";
    eventually("it has a Service", || {
        ns.exists("services", service).then_some(())
    });
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
    ns.edit(
        "services",
        service,
        &json!({ "spec": { "ports": [
        { "name": "jacoco", "port": 6300, "protocol": "TCP", "targetPort": 6300 },
        { "name": "extra", "port": 80, "protocol": "TCP", "targetPort": 80 },
    ] } }),
    );
    eventually("the extra port is gone", || {
        let ports = ns.get("services", service)["spec"]["ports"]
            .as_array()?
            .len();
        (ports == 1).then_some(())
    });

    ns.delete("deployments", "pet");
    eventually("without a Deployment there is no Service", || {
        (!ns.exists("services", service)).then_some(())
    });
    eventually("and no endpoint", || {
        ns.status("pet")
            .get("coverageEndpoint")
            .is_none()
            .then_some(())
    });
    ns.create("deployments", &deployment("pet"));
    eventually("it comes back by itself", || {
        ns.exists("services", service).then_some(())
    });
}
