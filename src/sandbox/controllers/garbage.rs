//! Garbage collection through owner references.

use serde_json::{Value, json};

use super::client;
use super::object::{has_finalizer, is_leaving, items, meta, set_list, text};
use super::watch::owner_key;
use crate::state::State;
use crate::store::Key;

const FOREGROUND: &str = "foregroundDeletion";
const ORPHAN: &str = "orphan";

/// What has become of an owner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    /// It is there.
    Solid,
    /// It is not there any more, or never was.
    Absent,
    /// It waits for its dependents to be gone.
    Waiting,
}

/// Looks after an object whose owners are gone, or that waits for its dependents.
pub(super) fn collect(state: &mut State, key: &Key) {
    let Some(object) = state.store.get(key).cloned() else {
        return;
    };
    if !is_leaving(&object) {
        judge(state, key, &object);
    } else if has_finalizer(&object, ORPHAN) {
        orphan(state, key, &object);
    } else if has_finalizer(&object, FOREGROUND) {
        wait(state, key, &object);
    }
}

/// Deletes an object that has no owner left; one that has keeps those references alone.
fn judge(state: &mut State, key: &Key, object: &Value) {
    let owners: Vec<(&Value, Owner)> = items(object, "/metadata/ownerReferences")
        .map(|owner| (owner, owner_of(state, key, owner)))
        .collect();
    let any = |wanted: Owner| owners.iter().any(|(_, owner)| *owner == wanted);
    if owners.is_empty() || !any(Owner::Absent) && !any(Owner::Waiting) {
        return;
    }
    if any(Owner::Solid) {
        let solid: Vec<Value> = owners
            .iter()
            .filter(|(_, owner)| *owner == Owner::Solid)
            .map(|(reference, _)| (*reference).clone())
            .collect();
        let mut new = object.clone();
        set_list(&mut new, "metadata", "ownerReferences", solid);
        client::update(state, key, new);
        return;
    }
    let has_own = !state.controllers.dependents(meta(object, "uid")).is_empty();
    let policy = if any(Owner::Waiting) && has_own || has_finalizer(object, FOREGROUND) {
        "Foreground"
    } else if has_finalizer(object, ORPHAN) {
        "Orphan"
    } else {
        "Background"
    };
    client::delete(state, key, object, json!({ "propagationPolicy": policy }));
}

fn owner_of(state: &State, key: &Key, reference: &Value) -> Owner {
    // Nobody can tell whether an owner of an unknown kind is there.
    let Some(owner) = owner_key(&state.kinds, key, reference) else {
        return Owner::Solid;
    };
    match state.store.get(&owner) {
        Some(owner) if meta(owner, "uid") != text(reference, "/uid") => Owner::Absent,
        Some(owner) if is_leaving(owner) && has_finalizer(owner, FOREGROUND) => Owner::Waiting,
        Some(_) => Owner::Solid,
        None => Owner::Absent,
    }
}

/// Lets the dependents of an object be nobody's, and the object go.
fn orphan(state: &mut State, key: &Key, object: &Value) {
    let uid = meta(object, "uid");
    for dependent in state.controllers.dependents(uid) {
        let Some(found) = state.store.get(&dependent) else {
            continue;
        };
        let mut new = (**found).clone();
        let others: Vec<Value> = items(found, "/metadata/ownerReferences")
            .filter(|owner| text(owner, "/uid") != uid)
            .cloned()
            .collect();
        set_list(&mut new, "metadata", "ownerReferences", others);
        client::update(state, &dependent, new);
    }
    release(state, key, object, ORPHAN);
}

/// Deletes the dependents of an object that waits for them, and lets it go when none of them holds it.
fn wait(state: &mut State, key: &Key, object: &Value) {
    let uid = meta(object, "uid");
    let mut held = false;
    for dependent in state.controllers.dependents(uid) {
        let Some(found) = state.store.get(&dependent).cloned() else {
            continue;
        };
        if !is_leaving(&found) {
            judge(state, &dependent, &found);
        }
        held |= state.store.get(&dependent).is_some_and(|found| {
            items(found, "/metadata/ownerReferences").any(|owner| {
                text(owner, "/uid") == uid
                    && owner.get("blockOwnerDeletion") == Some(&Value::Bool(true))
            })
        });
    }
    if !held {
        release(state, key, object, FOREGROUND);
    }
}

fn release(state: &mut State, key: &Key, object: &Value, finalizer: &str) {
    let mut new = object.clone();
    let others: Vec<Value> = items(object, "/metadata/finalizers")
        .filter(|known| *known != finalizer)
        .cloned()
        .collect();
    set_list(&mut new, "metadata", "finalizers", others);
    client::update(state, key, new);
}
