//! StatefulSets: pods with ordinals, one after the other.

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::client;
use super::object::{beside, counts, is_leaving, labels, meta, number, set, text};
use super::pods::{self, Pod};
use crate::state::State;
use crate::store::Key;

const REVISION: &str = "controller-revision-hash";

/// Makes the next pod that is missing, replaces the last one that is of an earlier template, and counts.
pub(super) fn sync(state: &mut State, key: &Key) {
    let Some(found) = state.store.get(key).cloned() else {
        return;
    };
    let revision = revision(&found);
    if !is_leaving(&found) {
        act(state, key, &found, &revision);
    }
    let counted = status(state, key, &found, &revision);
    if found.get("status") != Some(&counted) {
        let mut new = (*found).clone();
        set(&mut new, &["status"], counted);
        client::update_status(state, key, new);
    }
}

fn act(state: &mut State, key: &Key, owner: &Value, revision: &str) {
    let wanted = number(owner, "/spec/replicas", 1);
    let all = pods::of(state, key, owner);
    let parallel = text(owner, "/spec/podManagementPolicy") == "Parallel";
    for ordinal in 0..wanted {
        let name = format!("{}-{ordinal}", meta(owner, "name"));
        match all.iter().find(|(key, _)| key.name == name) {
            None => {
                make(state, key, owner, &name, revision);
                if !parallel {
                    return;
                }
            }
            // The next one waits for it.
            Some((_, pod)) if !parallel && (is_leaving(pod) || !pods::is_ready(pod)) => return,
            Some(_) => {}
        }
    }
    let ordinal = |pod: &Pod| {
        let (_, ordinal) = pod.0.name.rsplit_once('-').unwrap_or_default();
        ordinal.parse::<i64>().unwrap_or(-1)
    };
    let mut last_first: Vec<Pod> = all
        .into_iter()
        .filter(|(_, pod)| !is_leaving(pod))
        .collect();
    last_first.sort_by_key(|pod| std::cmp::Reverse(ordinal(pod)));
    let on_delete = text(owner, "/spec/updateStrategy/type") == "OnDelete";
    let partition = number(owner, "/spec/updateStrategy/rollingUpdate/partition", 0);
    let goes = |pod: &&Pod| {
        let earlier = text(&pod.1, "/metadata/labels/controller-revision-hash") != revision;
        ordinal(pod) >= wanted || earlier && !on_delete && ordinal(pod) >= partition
    };
    if let Some(pod) = last_first.iter().find(goes) {
        pods::delete(state, pod);
    }
}

fn make(state: &mut State, key: &Key, owner: &Value, name: &str, revision: &str) {
    let mut pod = pods::from_template(owner);
    set(&mut pod, &["metadata", "name"], name.into());
    for (label, value) in [
        ("statefulset.kubernetes.io/pod-name", name),
        (REVISION, revision),
    ] {
        set(&mut pod, &["metadata", "labels", label], value.into());
    }
    set(&mut pod, &["spec", "hostname"], name.into());
    let service = text(owner, "/spec/serviceName");
    if !service.is_empty() {
        set(&mut pod, &["spec", "subdomain"], service.into());
    }
    client::create(state, &beside(key, "pods", name), pod);
}

/// A name for the template as it is.
fn revision(owner: &Value) -> String {
    let template = owner.pointer("/spec/template").unwrap_or(&Value::Null);
    let hash = Sha256::digest(template.to_string());
    let hash: String = hash
        .iter()
        .take(5)
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("{}-{hash}", meta(owner, "name"))
}

fn status(state: &State, key: &Key, owner: &Value, revision: &str) -> Value {
    let pods = pods::of(state, key, owner);
    let of = |counts: &dyn Fn(&Value) -> bool| {
        let counted = pods.iter().filter(|(_, pod)| counts(pod)).count();
        i64::try_from(counted).unwrap_or(i64::MAX)
    };
    let is_new = |pod: &Value| {
        labels(pod).and_then(|labels| labels.get(REVISION)) == Some(&Value::from(revision))
    };
    let (all, new) = (of(&|_| true), of(&|pod| is_new(pod) && !is_leaving(pod)));
    let mut status = counts(
        "replicas",
        [
            (
                "observedGeneration",
                number(owner, "/metadata/generation", 0),
            ),
            ("replicas", all),
            ("readyReplicas", of(&pods::is_ready)),
            ("currentReplicas", new),
            ("updatedReplicas", new),
        ],
    );
    let known = text(owner, "/status/currentRevision");
    let current = if new == all || known.is_empty() {
        revision
    } else {
        known
    };
    for (field, value) in [
        ("currentRevision", json!(current)),
        ("updateRevision", json!(revision)),
        ("collisionCount", json!(0)),
    ] {
        status.insert(field.to_owned(), value);
    }
    status.into()
}
