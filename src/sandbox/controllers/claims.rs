//! Volumes and claims to them, which stay as long as they are used.

use serde_json::Value;

use super::client;
use super::object::{has_finalizer, is_leaving, items, set, text};
use crate::state::State;
use crate::store::Key;

const CLAIM: &str = "kubernetes.io/pvc-protection";
const VOLUME: &str = "kubernetes.io/pv-protection";

/// Lets a claim go that nobody uses.
pub(super) fn sync_claim(state: &mut State, key: &Key) {
    let is_used = state
        .store
        .list(&"pods".into(), Some(&key.namespace))
        .any(|(_, pod)| uses(pod, &key.name));
    if !is_used {
        release(state, key, CLAIM);
    }
}

/// Lets a volume go that no claim has.
pub(super) fn sync_volume(state: &mut State, key: &Key) {
    let volume = state.store.get(key);
    if volume.is_some_and(|volume| text(volume, "/status/phase") != "Bound") {
        release(state, key, VOLUME);
    }
}

/// The claims that a pod names.
pub(super) fn named(pod: &Value) -> impl Iterator<Item = &str> {
    items(pod, "/spec/volumes")
        .map(|volume| text(volume, "/persistentVolumeClaim/claimName"))
        .filter(|name| !name.is_empty())
}

/// Whether a pod runs, or may, with a claim.
fn uses(pod: &Value, claim: &str) -> bool {
    let ended = matches!(text(pod, "/status/phase"), "Succeeded" | "Failed");
    let placed = !text(pod, "/spec/nodeName").is_empty();
    placed && !ended && named(pod).any(|name| name == claim)
}

fn release(state: &mut State, key: &Key, finalizer: &str) {
    let Some(object) = state.store.get(key) else {
        return;
    };
    if !is_leaving(object) || !has_finalizer(object, finalizer) {
        return;
    }
    let mut object = (**object).clone();
    let rest: Vec<Value> = items(&object, "/metadata/finalizers")
        .filter(|known| *known != finalizer)
        .cloned()
        .collect();
    set(&mut object, &["metadata", "finalizers"], rest.into());
    client::update(state, key, object);
}
