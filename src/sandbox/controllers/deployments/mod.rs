//! Deployments: a ReplicaSet for each template, and one taking over from the others.

mod conditions;
mod history;
mod limits;
mod rolling;
mod sets;
mod status;
mod template;

use serde_json::Value;

use self::sets::Sets;
use super::client;
use super::object::{is_leaving, items, number, text};
use super::watch::{Controller, Work};
use crate::state::State;
use crate::store::Key;

const REVISION: &str = "deployment.kubernetes.io/revision";
const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
const DESIRED: &str = "deployment.kubernetes.io/desired-replicas";
const MOST: &str = "deployment.kubernetes.io/max-replicas";
const HASH: &str = "pod-template-hash";

/// Brings the ReplicaSets of a Deployment a step nearer to what it wants, and tells so in its status.
pub(super) fn sync(state: &mut State, key: &Key) {
    let work = Work {
        controller: Controller::Deployments,
        key: key.clone(),
    };
    let Some(found) = state.store.get(key).cloned() else {
        state.controllers.remind(work, None);
        return;
    };
    let mut deployment = (*found).clone();
    let mut sets = Sets::of(state, key, &deployment);
    let mut rolls = false;
    if !is_leaving(&deployment) {
        conditions::paused(&mut deployment);
        let paused = deployment.pointer("/spec/paused") == Some(&Value::Bool(true));
        rolls = !paused && !sets.scaled(&deployment);
        if rolls {
            roll(state, &mut deployment, &mut sets);
        } else {
            sets.scale(state, &deployment);
        }
        if paused {
            history::clean(state, &deployment, &sets);
        }
    }
    conditions::availability(&mut deployment, &sets);
    if rolls {
        conditions::progress(&mut deployment, &sets);
    }
    status::set(&mut deployment, &sets);
    let deadline = conditions::deadline(&deployment).filter(|_| rolls);
    state.controllers.remind(work, deadline);
    if deployment != *found {
        client::update_status(state, key, deployment);
    }
}

fn roll(state: &mut State, deployment: &mut Value, sets: &mut Sets) {
    if text(deployment, "/spec/strategy/type") == "Recreate" {
        if sets.scale_old_down(state, deployment) || sets.old_run(state) {
            return;
        }
        sets.renew(state, deployment);
        sets.scale_new(state, deployment, wanted(deployment));
    } else {
        sets.renew(state, deployment);
        if rolling::grow(state, deployment, sets) || rolling::shrink(state, deployment, sets) {
            return;
        }
    }
    if status::is_complete(deployment, &status::counted(sets)) {
        history::clean(state, deployment, sets);
    }
}

/// The replicas that an object wants.
fn wanted(object: &Value) -> i64 {
    number(object, "/spec/replicas", 1)
}

/// The annotation of an object.
fn annotation<'a>(object: &'a Value, name: &str) -> Option<&'a str> {
    let annotations = object.pointer("/metadata/annotations")?;
    annotations.get(name)?.as_str()
}

/// The revision of a ReplicaSet; 0 for none.
fn revision(object: &Value) -> i64 {
    let revision = annotation(object, REVISION);
    revision
        .and_then(|revision| revision.parse().ok())
        .unwrap_or(0)
}

/// Whether an object has a condition of a type.
fn has_condition(object: &Value, r#type: &str) -> bool {
    items(object, "/status/conditions").any(|condition| text(condition, "/type") == r#type)
}
