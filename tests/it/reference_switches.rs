//! The reference operator's proofs: what switches coverage off, and back on.

use serde_json::Value;

use crate::support::manifest::{Change, deployment, own_agent};
use crate::support::namespace::Namespace;
use crate::support::source::Source;

const SERVICE: &str = "pet-coverage";

#[test]
fn without_coverage_service_the_service_goes_and_the_endpoint_with_it() {
    let (ns, source) = switched_on("service-off");
    let off = own_agent("pet").set("/spec/coverageService", false);
    goes(&ns, &source, off, "CoverageServiceDisabled");
    // The agent is in the image all the same.
    assert_eq!(
        ns.condition("pet", "AgentInjected")["reason"],
        "BroughtByImage"
    );
    returns(&ns, &source);
}

#[test]
fn without_the_agent_the_service_goes_and_the_endpoint_with_it() {
    let (ns, source) = switched_on("agent-off");
    let off = own_agent("pet").set("/spec/agents/coverage/enabled", false);
    goes(&ns, &source, off, "CoverageDisabled");
    assert_eq!(ns.status("pet")["phase"], "Disabled");
    returns(&ns, &source);
}

#[test]
fn a_target_that_never_wanted_coverage_gets_nothing() {
    let ns = Namespace::new("never");
    ns.create("deployments", &deployment("pet"));
    let bare = own_agent("pet")
        .unset("/spec/agents")
        .unset("/spec/coverageService");
    ns.sync(&Source::new().with("pet.yaml", &[bare])).ok();
    assert!(!ns.exists("services", SERVICE));
    assert_eq!(ns.status("pet")["phase"], "Disabled");
}

fn switched_on(prefix: &str) -> (Namespace, Source) {
    let ns = Namespace::new(prefix);
    ns.create("deployments", &deployment("pet"));
    let source = Source::new().with("pet.yaml", &[own_agent("pet")]);
    ns.sync(&source).ok();
    assert!(ns.exists("services", SERVICE));
    assert!(ns.status("pet").get("coverageEndpoint").is_some());
    (ns, source)
}

fn goes(ns: &Namespace, source: &Source, off: Value, reason: &str) {
    source.write("pet.yaml", &[off]);
    assert_eq!(ns.diff(source).code(1).action("Service", SERVICE), "delete");
    // Without --prune: it has not left the source, its Target wants it no more.
    assert_eq!(ns.sync(source).ok().outcome("Service", SERVICE), "deleted");
    assert!(!ns.exists("services", SERVICE));
    let status = ns.status("pet");
    assert!(status.get("coverageEndpoint").is_none(), "{status}");
    assert!(status.get("endpoints").is_none(), "{status}");
    let condition = ns.condition("pet", "CoverageServiceReady");
    assert_eq!(condition["status"], "False");
    assert_eq!(condition["reason"], reason);
    ns.diff(source).ok();
}

fn returns(ns: &Namespace, source: &Source) {
    source.write("pet.yaml", &[own_agent("pet")]);
    assert_eq!(ns.sync(source).ok().outcome("Service", SERVICE), "created");
    assert!(ns.exists("services", SERVICE));
    assert!(ns.status("pet").get("coverageEndpoint").is_some());
}
