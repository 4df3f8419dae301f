//! The reference operator's proofs: whose Service it is.

use serde_json::{Value, json};

use crate::support::lab::{api, eventually};
use crate::support::manifest::{Change, config_map, deployment, own_agent, service};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

const SERVICE: &str = "pet-coverage";

#[test]
fn when_the_target_goes_the_garbage_collector_takes_the_service() {
    let ns = Namespace::new("collected");
    ns.create("deployments", &deployment("pet"));
    ns.sync(&Source::new().with("pet.yaml", &[own_agent("pet")]))
        .ok();
    assert!(ns.exists("services", SERVICE));
    ns.delete("closurejvmtargets", "pet");
    eventually("the Service is collected", || {
        (!ns.exists("services", SERVICE)).then_some(())
    });
}

#[test]
fn c53_a_service_that_is_nobodys_is_refused_and_left_alone() {
    let ns = Namespace::new("unowned");
    ns.create("deployments", &deployment("pet"));
    let theirs = ns.create("services", &service(SERVICE));
    refused(&ns, &theirs, "not ours");
}

#[test]
fn c53_a_service_of_another_owner_is_refused_and_left_alone() {
    let ns = Namespace::new("owned");
    ns.create("deployments", &deployment("pet"));
    let owner = ns.create("configmaps", &config_map("owner", ""));
    let theirs = service(SERVICE).set(
        "/metadata/ownerReferences",
        json!([{ "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["metadata"]["uid"], "controller": true }]),
    );
    let theirs = ns.create("services", &theirs);
    refused(&ns, &theirs, "ConfigMap owner");
}

/// Also when coverage is switched off: what is not ours is not ours to delete.
fn refused(ns: &Namespace, theirs: &Value, why: &str) {
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    let diff = ns.diff(&source).code(2);
    assert_eq!(diff.action("Service", SERVICE), "refuse");
    let report = ns.sync(&source).code(2);
    assert_eq!(report.outcome("Service", SERVICE), "refused");
    assert!(report.message("Service", SERVICE).contains(why));
    assert_eq!(ns.get("services", SERVICE), *theirs);
    let condition = ns.condition("pet", "CoverageServiceReady");
    assert_eq!(condition["status"], "False");
    assert_eq!(condition["reason"], "ServiceNotOurs");
    assert!(
        condition["message"].as_str().unwrap().contains(why),
        "{condition}"
    );
    assert!(ns.status("pet").get("coverageEndpoint").is_none());

    source.write(
        "pet.yaml",
        &[own_agent("pet").set("/spec/coverageService", false)],
    );
    ns.sync(&source).ok();
    assert_eq!(ns.get("services", SERVICE), *theirs);
}

#[test]
fn c53_a_service_of_an_earlier_target_of_the_same_name_is_adopted() {
    let ns = Namespace::new("earlier");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    let before = ns.get("services", SERVICE);

    // The Target goes without its dependants, and comes back with another uid.
    let orphan = format!(
        "{}?propagationPolicy=Orphan",
        ns.path("closurejvmtargets", "pet")
    );
    api().delete(&orphan);
    eventually("the Target is gone", || {
        (!ns.exists("closurejvmtargets", "pet")).then_some(())
    });
    // Orphaning removes the reference; a restored backup still has it.
    ns.edit(
        "services",
        SERVICE,
        &json!({ "metadata": { "ownerReferences": before["metadata"]["ownerReferences"] } }),
    );
    let foreseen = ns.diff(&source).code(1);
    assert_eq!(foreseen.count("refused"), 0);
    ns.sync(&source).ok();

    let after = eventually("the Service names the new Target", || {
        let uid = ns.get("closurejvmtargets", "pet")["metadata"]["uid"].clone();
        assert_ne!(uid, before["metadata"]["ownerReferences"][0]["uid"]);
        // The collector may have been faster: then this is a new one, made by the next sync.
        let service = ns.find("services", SERVICE);
        if service.is_none() {
            ns.sync(&source).ok();
        }
        service.filter(|s| s["metadata"]["ownerReferences"][0]["uid"] == uid)
    });
    assert_eq!(
        after["metadata"]["ownerReferences"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    ns.sync(&source).ok().nothing_to_do();
}

#[test]
fn a_service_that_the_source_holds_itself_is_not_taken_over() {
    let ns = Namespace::new("both");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet"), service(SERVICE)]);
    let report = ns.sync(&source).code(2);
    let of_service: Vec<Value> = report
        .steps()
        .into_iter()
        .filter(|step| step["kind"] == "Service")
        .collect();
    let outcomes: Vec<&str> = of_service
        .iter()
        .map(|s| s["outcome"].as_str().unwrap())
        .collect();
    assert_eq!(outcomes, ["created", "refused"]);
    assert_eq!(ns.get("services", SERVICE)["spec"]["ports"][0]["port"], 80);
}
