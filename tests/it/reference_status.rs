//! The reference operator's proofs: what the status says, and in how many writes.

use serde_json::json;

use crate::support::audit::Audit;
use crate::support::lab::eventually;
use crate::support::manifest::{deployment, own_agent};
use crate::support::namespace::{Namespace, condition_of};
use crate::support::source::Source;

#[test]
fn replicas_and_phase_follow_the_rollout_in_one_write() {
    let ns = Namespace::new("rollout");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    let status = ns.status("pet");
    assert_eq!(status["phase"], "Injecting", "{status}");
    assert_eq!(status["instrumentedReplicas"], 0);

    ns.run_pods("pet", 2);
    let audit = Audit::new("rollout");
    ns.sync(&source).admin(&audit.user).ok();
    let status = ns.status("pet");
    assert_eq!(status["phase"], "Instrumented", "{status}");
    assert_eq!(status["instrumentedReplicas"], 2);
    let writes: Vec<_> = audit
        .writes()
        .into_iter()
        .filter(|event| event.resource == "closurejvmtargets")
        .map(|event| (event.verb, event.subresource, event.name))
        .collect();
    assert_eq!(writes, [("patch".into(), "status".into(), "pet".into())]);
}

#[test]
fn a_running_pod_appears_behind_the_service() {
    let ns = Namespace::new("pods");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    assert_eq!(
        ns.status("pet")["endpoints"],
        json!({ "ready": 0, "total": 0 })
    );
    assert_eq!(ns.condition("pet", "Ready")["status"], "False");

    ns.run_pods("pet", 2);
    let addresses = eventually("two addresses in EndpointSlices", || {
        let slices = ns.list("endpointslices");
        let mut addresses: Vec<String> = slices
            .iter()
            .filter(|s| s["metadata"]["labels"]["kubernetes.io/service-name"] == "pet-coverage")
            .flat_map(|s| s["endpoints"].as_array().cloned().unwrap_or_default())
            .map(|endpoint| endpoint["addresses"][0].as_str().unwrap().to_owned())
            .collect();
        addresses.sort_unstable();
        (addresses.len() == 2).then_some(addresses)
    });
    assert_eq!(addresses, ["10.0.0.1", "10.0.0.2"]);

    ns.sync(&source).ok();
    assert_eq!(
        ns.status("pet")["endpoints"],
        json!({ "ready": 2, "total": 2 })
    );
    let live = ns.get("closurejvmtargets", "pet");
    let ready = condition_of(&live, "Ready");
    assert_eq!(
        (&ready["status"], &ready["reason"]),
        (&json!("True"), &json!("Instrumented"))
    );
    // Conditions that are not true of a settled object are not there (kstatus).
    for absent in ["Reconciling", "Stalled"] {
        assert!(condition_of(&live, absent).is_null(), "{live}");
    }
}

#[test]
fn wait_ends_when_the_target_is_instrumented() {
    let ns = Namespace::new("wait");
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    std::thread::scope(|scope| {
        scope.spawn(|| ns.run_pods("pet", 2));
        ns.sync(&source).args(&["--wait", "--timeout", "60s"]).ok();
    });
    assert_eq!(ns.status("pet")["phase"], "Instrumented");
}

#[test]
fn wait_says_what_has_not_become_healthy_in_time() {
    let ns = Namespace::new("late");
    let source = Source::new().with("pet.yaml", &[deployment("pet")]);
    let report = ns
        .sync(&source)
        .args(&["--wait", "--timeout", "1s"])
        .code(2);
    let unhealthy = &report.json()["unhealthy"];
    assert_eq!(unhealthy[0]["name"], "pet", "{unhealthy}");
}
