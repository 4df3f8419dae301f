//! Rolling updates: the new ReplicaSet grows as the others shrink, within the limits of the Deployment.

use serde_json::Value;

use super::sets::Sets;
use super::{limits, wanted};
use crate::controllers::object::{meta, number};
use crate::state::State;

/// Gives the new ReplicaSet as many replicas as it may have; tells whether they are others than before.
pub(super) fn grow(state: &mut State, deployment: &Value, sets: &mut Sets) -> bool {
    let Some(new) = &sets.new else {
        return false;
    };
    let (own, goal) = (wanted(new), wanted(deployment));
    let room = goal + limits::surge(deployment) - sets.total();
    let replicas = match own > goal {
        true => goal,
        false => own + room.clamp(0, goal - own),
    };
    sets.scale_new(state, deployment, replicas)
}

/// Takes replicas from the others: first those that are not available, then as many as may go; tells whether there were any.
pub(super) fn shrink(state: &mut State, deployment: &Value, sets: &mut Sets) -> bool {
    let least = wanted(deployment) - limits::unavailable(deployment);
    let missing = sets
        .new
        .as_ref()
        .map_or(0, |new| wanted(new) - available(new));
    let mut may_go = sets.total() - least - missing;
    if may_go <= 0 || sets.old.iter().all(|set| wanted(set) == 0) {
        return false;
    }
    let mut moved = false;
    for (name, replicas, available) in running(sets) {
        let less = (replicas - available).clamp(0, may_go);
        if less > 0 {
            sets.scale_old(state, deployment, &name, replicas - less);
            may_go -= less;
            moved = true;
        }
    }
    let mut spare = sets.count("/status/availableReplicas") - least;
    for (name, replicas, _) in running(sets) {
        let less = replicas.min(spare).max(0);
        if less > 0 {
            sets.scale_old(state, deployment, &name, replicas - less);
            spare -= less;
            moved = true;
        }
    }
    moved
}

fn running(sets: &Sets) -> Vec<(String, i64, i64)> {
    sets.old
        .iter()
        .filter(|set| wanted(set) > 0)
        .map(|set| (meta(set, "name").to_owned(), wanted(set), available(set)))
        .collect()
}

fn available(set: &Value) -> i64 {
    number(set, "/status/availableReplicas", 0)
}
