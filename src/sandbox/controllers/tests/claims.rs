use serde_json::{Value, json};

use super::World;
use crate::controllers::Pods;

fn claim(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": { "name": name },
        "spec": { "accessModes": ["ReadWriteOnce"], "resources": { "requests": { "storage": "1Gi" } } },
    })
}

#[test]
fn a_claim_goes_when_no_pod_uses_it() {
    let mut world = World::new(Pods::Pending);
    world.add("persistentvolumeclaims", claim("free"));
    world.delete("persistentvolumeclaims", "free", "Background");
    assert_eq!(world.get("persistentvolumeclaims", "free"), None);

    world.add("persistentvolumeclaims", claim("used"));
    let volume = json!({ "name": "v", "persistentVolumeClaim": { "claimName": "used" } });
    let spec = json!({ "nodeName": "n", "volumes": [volume], "containers": [{ "name": "c", "image": "i" }] });
    let pod =
        json!({ "apiVersion": "v1", "kind": "Pod", "metadata": { "name": "p" }, "spec": spec });
    world.add("pods", pod);
    world.delete("persistentvolumeclaims", "used", "Background");
    let waits = world.find("persistentvolumeclaims", "used");
    assert_eq!(
        waits["metadata"]["finalizers"],
        json!(["kubernetes.io/pvc-protection"])
    );
    world.tell("pods", "p", json!({ "phase": "Succeeded" }));
    assert_eq!(world.get("persistentvolumeclaims", "used"), None);
}

#[test]
fn somebody_elses_finalizer_keeps_a_claim() {
    let mut world = World::new(Pods::Pending);
    let mut kept = claim("kept");
    kept["metadata"]["finalizers"] = json!(["example.org/keep"]);
    world.add("persistentvolumeclaims", kept);
    world.delete("persistentvolumeclaims", "kept", "Background");
    let waits = world.find("persistentvolumeclaims", "kept");
    assert_eq!(waits["metadata"]["finalizers"], json!(["example.org/keep"]));
}
