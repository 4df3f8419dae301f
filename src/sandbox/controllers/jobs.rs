//! Jobs: pods that end.

use serde_json::{Value, json};

use super::object::{counts, is_leaving, is_true, items, now, number, set, text};
use super::{client, pods};
use crate::state::State;
use crate::store::Key;

/// Makes as many pods as are still to succeed, and says when all have.
pub(super) fn sync(state: &mut State, key: &Key) {
    let Some(found) = state.store.get(key).cloned() else {
        return;
    };
    let wanted = number(&found, "/spec/completions", 1);
    let all = pods::of(state, key, &found);
    let count = |counts: &dyn Fn(&Value) -> bool| {
        let counted = all.iter().filter(|(_, pod)| counts(pod)).count();
        i64::try_from(counted).unwrap_or(i64::MAX)
    };
    let succeeded = count(&|pod| text(pod, "/status/phase") == "Succeeded");
    let mut active = count(&pods::is_active);
    let suspended = found.pointer("/spec/suspend") == Some(&Value::Bool(true));
    if !is_leaving(&found) && !is_true(&found, "Complete") && !suspended {
        let at_once = number(&found, "/spec/parallelism", 1);
        let missing = (wanted - succeeded).min(at_once) - active;
        for _ in 0..missing {
            pods::make(state, key, &found, pods::from_template(&found));
            active += 1;
        }
    }
    let mut status = counts(
        "",
        [
            ("active", active),
            ("succeeded", succeeded),
            (
                "failed",
                count(&|pod| text(pod, "/status/phase") == "Failed"),
            ),
        ],
    );
    let time = now();
    let started = found.pointer("/status/startTime").cloned();
    status.insert(
        "startTime".to_owned(),
        started.unwrap_or_else(|| time.as_str().into()),
    );
    if is_true(&found, "Complete") {
        return;
    }
    if succeeded >= wanted && active == 0 {
        let complete = json!({
            "type": "Complete", "status": "True", "lastProbeTime": time, "lastTransitionTime": time,
        });
        let mut conditions: Vec<Value> = items(&found, "/status/conditions").cloned().collect();
        conditions.push(complete);
        status.insert("conditions".to_owned(), conditions.into());
        status.insert("completionTime".to_owned(), time.into());
    }
    if found.get("status").and_then(Value::as_object) != Some(&status) {
        let mut new = (*found).clone();
        set(&mut new, &["status"], status.into());
        client::update_status(state, key, new);
    }
}
