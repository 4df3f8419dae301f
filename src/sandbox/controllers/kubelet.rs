//! A node that runs pods at once: they get an address and are ready, or they are done when that is what they are for.

use serde_json::{Value, json};

use super::object::{controller, is_leaving, items, meta, now, set, text};
use super::{Pods, client, pods};
use crate::state::State;
use crate::store::Key;

/// The name of the node.
pub(super) const NODE: &str = "sandbox";
/// The address of the node.
const HOST: &str = "10.88.0.1";

/// Runs a pod, or ends it.
pub(super) fn sync(state: &mut State, key: &Key, pods: Pods) {
    let Some(pod) = state
        .store
        .get(key)
        .cloned()
        .filter(|_| pods == Pods::Ready)
    else {
        return;
    };
    if ![NODE, ""].contains(&text(&pod, "/spec/nodeName")) {
        return;
    }
    if is_leaving(&pod) {
        let graceful = pod.pointer("/metadata/deletionGracePeriodSeconds") != Some(&json!(0));
        if graceful {
            client::delete(state, key, &pod, json!({ "gracePeriodSeconds": 0 }));
        }
        return;
    }
    if text(&pod, "/spec/nodeName").is_empty() {
        client::bind(state, key, NODE);
        return;
    }
    if pods::is_finished(&pod) || text(&pod, "/status/phase") == "Running" {
        return;
    }
    let address = address(state);
    let mut new = (*pod).clone();
    run(&mut new, &address);
    client::update_part(state, key, "status", new, "kubelet");
}

/// An address that no other pod has had lately.
fn address(state: &mut State) -> String {
    let number = &mut state.controllers.addresses;
    // 10.88.0.2 to 10.88.255.254.
    *number = *number % 65_533 + 1;
    let number = *number + 1;
    format!("10.88.{}.{}", number >> 8, number & 0xff)
}

fn run(pod: &mut Value, address: &str) {
    let time = now();
    let done = controller(pod).is_some_and(|owner| text(owner, "/kind") == "Job");
    let condition = |r#type: &str, status: bool| {
        let mut condition = json!({
            "type": r#type, "status": if status { "True" } else { "False" },
            "lastProbeTime": null, "lastTransitionTime": time,
        });
        if done && r#type != "PodScheduled" {
            set(&mut condition, &["reason"], "PodCompleted".into());
        }
        condition
    };
    let conditions = json!([
        condition("Initialized", true),
        condition("Ready", !done),
        condition("ContainersReady", !done),
        condition("PodScheduled", true),
    ]);
    let ended = json!({ "terminated": {
        "exitCode": 0, "reason": "Completed", "startedAt": time, "finishedAt": time,
    } });
    let running = json!({ "running": { "startedAt": time } });
    let containers = statuses(
        pod,
        "containers",
        if done { &ended } else { &running },
        !done,
    );
    let first = statuses(pod, "initContainers", &ended, true);
    let on_host = pod.pointer("/spec/hostNetwork") == Some(&Value::Bool(true));
    let address = if on_host { HOST } else { address };
    for (field, value) in [
        ("phase", if done { "Succeeded" } else { "Running" }.into()),
        ("conditions", conditions),
        ("hostIP", HOST.into()),
        ("podIP", address.into()),
        ("podIPs", json!([{ "ip": address }])),
        ("startTime", time.as_str().into()),
        ("containerStatuses", containers.into()),
    ] {
        set(pod, &["status", field], value);
    }
    if !first.is_empty() {
        set(pod, &["status", "initContainerStatuses"], first.into());
    }
}

fn statuses(pod: &Value, field: &str, state: &Value, ready: bool) -> Vec<Value> {
    let uid = meta(pod, "uid");
    items(pod, &format!("/spec/{field}"))
        .map(|container| {
            let name = text(container, "/name");
            json!({
                "name": name, "image": container.get("image"), "imageID": "",
                "containerID": format!("sandbox://{uid}/{name}"), "ready": ready,
                "started": state.get("running").is_some(), "restartCount": 0, "state": state, "lastState": {},
            })
        })
        .collect()
}
