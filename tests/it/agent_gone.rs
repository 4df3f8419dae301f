//! The Target goes: what it had put in goes too, whoever was there to see it, and nothing waits for that.

use std::time::Duration;

use serde_json::json;

use crate::support::agent::{carries, is_bare, served, served_by};
use crate::support::controller::Setup;
use crate::support::lab::{api, eventually};
use crate::support::manifest::{deployment, target};
use crate::support::namespace::{Namespace, unique};

fn event_about(ns: &Namespace, kind: &str, reason: &str) {
    eventually(&format!("an Event {reason} about a {kind}"), || {
        let events = ns.list("events");
        let is_it = |event: &&serde_json::Value| {
            event["reason"] == reason && event["involvedObject"]["kind"] == kind
        };
        events.iter().find(is_it).map(|_| ())
    });
}

#[test]
fn a_deleted_target_leaves_nothing_behind_and_holds_nothing_up() {
    let ns = Namespace::new("deleted");
    let before = ns.create("deployments", &deployment("pet"));
    let _controller = served(&ns);
    event_about(&ns, "ClosureJVMTarget", "AgentInjected");
    let live = ns.get("closurejvmtargets", "pet");
    assert!(live["metadata"].get("finalizers").is_none(), "{live}");
    ns.delete("closurejvmtargets", "pet");
    assert_eq!(is_bare(&ns, "pet")["spec"], before["spec"]);
    event_about(&ns, "Deployment", "AgentRemoved");
}

#[test]
fn a_target_deleted_while_nobody_looked_is_cleared_up_after() {
    let ns = Namespace::new("unseen");
    let before = ns.create("deployments", &deployment("pet"));
    served(&ns).kill();
    ns.delete("closurejvmtargets", "pet");
    let _controller = Setup::new(&[&ns.name]).start();
    assert_eq!(is_bare(&ns, "pet")["spec"], before["spec"]);
}

#[test]
fn a_target_made_anew_takes_over_without_a_roll_out() {
    let ns = Namespace::new("successor");
    ns.create("deployments", &deployment("pet"));
    served(&ns).kill();
    let before = ns.get("deployments", "pet");
    ns.delete("closurejvmtargets", "pet");
    let uid = ns.create("closurejvmtargets", &target("pet"))["metadata"]["uid"].clone();
    let _controller = Setup::new(&[&ns.name]).start();
    let after = eventually("the record names it", || {
        let live = ns.get("deployments", "pet");
        let record = live["metadata"]["annotations"]["closurejvm.io/agent"].as_str()?;
        record.contains(uid.as_str().unwrap()).then_some(live)
    });
    assert_eq!(after["spec"], before["spec"]);
}

#[test]
fn c38_a_namespace_goes_at_once_with_and_without_a_controller() {
    for with_controller in [true, false] {
        let ns = Namespace::new("terminating");
        ns.create("deployments", &deployment("pet"));
        // Its rights in the namespace may go before the rest of it does.
        let (user, namespaces) = (unique("less"), [ns.name.as_str()]);
        let setup = Setup {
            user: Some(&user),
            ..Setup::new(&namespaces)
        };
        let controller = Some(served_by(&ns, setup)).filter(|_| with_controller);
        let path = format!("/api/v1/namespaces/{}", ns.name);
        assert!(api().delete(&path));
        eventually("the namespace is gone", || {
            api().find(&path).is_none().then_some(())
        });
        if let Some(controller) = controller {
            // Where everything goes, nothing is written.
            assert_eq!(controller.logged("take the agent out").len(), 0);
        }
    }
}

#[test]
fn killed_at_any_point_the_next_one_finishes() {
    let ns = Namespace::new("killed");
    let before = ns.create("deployments", &deployment("pet"));
    ns.create("closurejvmtargets", &target("pet"));
    let seed = fastrand::u64(..);
    println!("kills at random: seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    for round in 0..6 {
        let on = round % 2 == 0;
        let spec = json!({ "agents": { "coverage": { "enabled": on } } });
        ns.edit("closurejvmtargets", "pet", &json!({ "spec": spec }));
        let namespaces = [ns.name.as_str()];
        let setup = Setup {
            admin: true,
            config: json!({ "leases": { "enabled": false } }),
            ..Setup::new(&namespaces)
        };
        let controller = setup.launch();
        std::thread::sleep(Duration::from_millis(random.u64(100..600)));
        controller.kill();
        let _next = setup.start();
        if on {
            carries(&ns, "pet");
        } else {
            assert_eq!(is_bare(&ns, "pet")["spec"], before["spec"]);
        }
    }
}
