//! Who may write Targets need not be allowed to run images of their choice in other people's pods.

use serde_json::json;

use crate::support::agent::{carries, pod};
use crate::support::controller::Setup;
use crate::support::lab::eventually;
use crate::support::manifest::{Change, deployment, target};
use crate::support::namespace::Namespace;

#[test]
fn a_target_gets_no_image_of_its_own_choice() {
    let ns = Namespace::new("images");
    let image = "images.example/team/agent:1";
    ns.create("deployments", &deployment("pet"));
    ns.create(
        "closurejvmtargets",
        &target("pet").set("/spec/agents/coverage/image", image),
    );
    let controller = Setup::new(&[&ns.name]).start();
    let told = eventually("the image is refused", || {
        let condition = ns.condition("pet", "AgentInjected");
        (condition["reason"] == "ImageNotAllowed").then_some(condition)
    });
    assert!(told["message"].as_str().unwrap().contains(image), "{told}");
    assert_eq!(ns.get("deployments", "pet")["metadata"]["generation"], 1);
    // The operator says that it is all right.
    controller.configure(&json!({ "agentImages": ["images.example/team/*"] }));
    let live = carries(&ns, "pet");
    assert_eq!(pod(&live)["initContainers"][0]["image"], image);
}
