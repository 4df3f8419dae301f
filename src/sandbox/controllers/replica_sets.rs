//! ReplicaSets: as many pods as they want.

use serde_json::{Map, Value};

use super::client;
use super::object::{counts, holds, is_leaving, labels, meta, number, text};
use super::pods::{self, Pod};
use crate::state::State;
use crate::store::Key;

/// Makes pods that are missing, deletes those that are too many, and counts them.
pub(super) fn sync(state: &mut State, key: &Key) {
    let Some(set) = state.store.get(key).cloned() else {
        return;
    };
    if !is_leaving(&set) {
        pods::adopt(state, key, &set);
        let mut active = active(state, key, &set);
        let wanted = usize::try_from(number(&set, "/spec/replicas", 1)).unwrap_or(0);
        for _ in active.len()..wanted {
            pods::make(state, key, &set, pods::from_template(&set));
        }
        active.sort_by_key(|pod| std::cmp::Reverse(worth(pod)));
        for pod in active.iter().skip(wanted) {
            pods::delete(state, pod);
        }
    }
    let counted = count(&set, &active(state, key, &set));
    if set.get("status").and_then(Value::as_object) != Some(&counted) {
        let mut new = (*set).clone();
        super::object::set(&mut new, &["status"], counted.into());
        client::update_status(state, key, new);
    }
}

fn active(state: &State, key: &Key, set: &Value) -> Vec<Pod> {
    let mut pods = pods::of(state, key, set);
    pods.retain(|(_, pod)| pods::is_active(pod));
    pods
}

/// What is kept longest: pods that have a node, that run, that are ready, and that are old.
fn worth((_, pod): &Pod) -> (bool, bool, bool, std::cmp::Reverse<String>) {
    (
        !text(pod, "/spec/nodeName").is_empty(),
        text(pod, "/status/phase") == "Running",
        pods::is_ready(pod),
        std::cmp::Reverse(meta(pod, "creationTimestamp").to_owned()),
    )
}

fn count(set: &Value, pods: &[Pod]) -> Map<String, Value> {
    let of = |counts: &dyn Fn(&Value) -> bool| {
        let counted = pods.iter().filter(|(_, pod)| counts(pod)).count();
        i64::try_from(counted).unwrap_or(i64::MAX)
    };
    let wanted = set.pointer("/spec/template/metadata/labels");
    let ready = of(&pods::is_ready);
    counts(
        "replicas",
        [
            ("replicas", of(&|_| true)),
            (
                "fullyLabeledReplicas",
                of(&|pod| holds(labels(pod), wanted)),
            ),
            ("readyReplicas", ready),
            ("availableReplicas", ready),
            ("observedGeneration", number(set, "/metadata/generation", 0)),
        ],
    )
}
