//! DaemonSets: a pod on the node, when there is one.

use serde_json::{Value, json};

use super::object::{counts, is_leaving, number, set};
use super::{Pods, client, pods};
use crate::state::State;
use crate::store::Key;

/// Makes the pod of the node, and counts.
pub(super) fn sync(state: &mut State, key: &Key, nodes: Pods) {
    let Some(found) = state.store.get(key).cloned() else {
        return;
    };
    let generation = number(&found, "/metadata/generation", 0);
    let wanted = match nodes {
        Pods::Ready => 1,
        Pods::Pending => 0,
    };
    if !is_leaving(&found) {
        act(state, key, &found, wanted, generation);
    }
    let all = pods::of(state, key, &found);
    let of = |counts: &dyn Fn(&Value) -> bool| {
        let counted = all
            .iter()
            .filter(|(_, pod)| pods::is_active(pod) && counts(pod))
            .count();
        i64::try_from(counted).unwrap_or(i64::MAX)
    };
    let ready = of(&pods::is_ready);
    let mut status = counts(
        "",
        [
            ("observedGeneration", generation),
            ("updatedNumberScheduled", of(&|pod| is_of(pod, generation))),
            ("numberAvailable", ready),
            ("numberUnavailable", (wanted - ready).max(0)),
        ],
    );
    for (field, count) in [
        ("currentNumberScheduled", of(&|_| true)),
        ("numberMisscheduled", 0),
        ("desiredNumberScheduled", wanted),
        ("numberReady", ready),
    ] {
        status.insert(field.to_owned(), json!(count));
    }
    if found.get("status").and_then(Value::as_object) != Some(&status) {
        let mut new = (*found).clone();
        set(&mut new, &["status"], status.into());
        client::update_status(state, key, new);
    }
}

/// Keeps one pod of the template as it is.
fn act(state: &mut State, key: &Key, owner: &Value, wanted: i64, generation: i64) {
    let mut count = 0;
    for pod in pods::of(state, key, owner) {
        if is_leaving(&pod.1) {
            continue;
        }
        if count < wanted && is_of(&pod.1, generation) {
            count += 1;
        } else {
            pods::delete(state, &pod);
        }
    }
    for _ in count..wanted {
        let mut pod = pods::from_template(owner);
        let generation = generation.to_string();
        set(
            &mut pod,
            &["metadata", "labels", "pod-template-generation"],
            generation.into(),
        );
        pods::make(state, key, owner, pod);
    }
}

fn is_of(pod: &Value, generation: i64) -> bool {
    let known = super::object::text(pod, "/metadata/labels/pod-template-generation");
    known == generation.to_string()
}
