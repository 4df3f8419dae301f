//! Deletions.

use std::sync::Arc;

use serde_json::{Value, json};

use super::body::DEFINITIONS;
use super::definitions;
use super::key::Write;
use super::lifecycle;
use super::metadata::{self, metadata, text};
use crate::error::ApiError;
use crate::state::State;
use crate::store::Key;

mod options;

pub(super) use self::options::Options;
use self::options::Propagation;

/// Kinds whose deletion is answered with the object.
const TELLING: [&str; 11] = [
    "csidrivers.storage.k8s.io",
    "csinodes.storage.k8s.io",
    "namespaces",
    "persistentvolumeclaims",
    "persistentvolumes",
    "pods",
    "podtemplates",
    "resourcequotas",
    "serviceaccounts",
    "storageclasses.storage.k8s.io",
    "volumeattachments.storage.k8s.io",
];

/// Finalizers that the garbage collector takes away.
const COLLECTED: [&str; 2] = ["orphan", "foregroundDeletion"];

/// Answers a `DELETE`.
pub(super) fn delete(
    state: &mut State,
    write: &mut Write<'_>,
) -> Result<(u16, Arc<Value>), ApiError> {
    let options = Options::read(write.request, &write.request.body)?;
    let object = one(state, write, &options)?;
    Ok((200, object))
}

/// Deletes one object, and gives the answer.
pub(super) fn one(
    state: &mut State,
    write: &Write<'_>,
    options: &Options,
) -> Result<Arc<Value>, ApiError> {
    let namespace = &*write.key.resource == "namespaces";
    if namespace && lifecycle::PROTECTED.contains(&write.key.name.as_str()) {
        return Err(write.forbidden("this namespace may not be deleted"));
    }
    let Some(old) = state.store.get(&write.key).cloned() else {
        return Err(write.not_found());
    };
    options.hold(write, &old)?;
    let mut new = (*old).clone();
    if namespace {
        terminate(&mut new, &write.now);
    } else if &*write.key.resource == DEFINITIONS
        && metadata(&old).get("deletionTimestamp").is_none()
    {
        definitions::leave(&mut new);
        set_going(&mut new, &write.now);
    } else {
        let grace = options.grace(write, &old);
        finalizers(write, options, &mut new);
        if grace > 0 || waits(&old) || metadata(&new).get("finalizers").is_some() {
            mark(&mut new, grace, &write.now);
        }
    }
    let dry = write.request.dry_run() || options.dry;
    // The first deletion of a Namespace only tells its controller.
    let told = namespace && *old != new;
    if told || stays(&write.key, &new) {
        if dry || *old == new {
            return Ok(Arc::new(new));
        }
        let told = state.store.put(write.key.clone(), new);
        if &*write.key.resource == DEFINITIONS {
            definitions::empty(state, &write.key.name, &write.now);
        }
        return Ok(told);
    }
    if !dry {
        state.store.remove(&write.key);
        lifecycle::gone(state, &write.key);
    }
    Ok(Arc::new(answer(write, new)))
}

/// Whether an object has time left that was given to it before.
fn waits(object: &Value) -> bool {
    let left = metadata(object).get("deletionGracePeriodSeconds");
    left.and_then(Value::as_i64).unwrap_or(0) > 0
}

/// Sets a Namespace on its way out: its controller empties it and takes its finalizers away.
fn terminate(namespace: &mut Value, now: &str) {
    set_going(namespace, now);
    if let Some(fields) = namespace.as_object_mut() {
        let status = fields.entry("status").or_insert_with(|| json!({}));
        if let Some(status) = status.as_object_mut() {
            status.insert("phase".to_owned(), "Terminating".into());
        }
    }
}

/// Says in an object that it is going, which is all that its controller waits for.
fn set_going(object: &mut Value, now: &str) {
    if let Some(fields) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        fields
            .entry("deletionTimestamp")
            .or_insert_with(|| now.into());
    }
}

/// Puts in the finalizers of the garbage collector that a propagation asks for, and takes out the others.
fn finalizers(write: &Write<'_>, options: &Options, object: &mut Value) {
    let known = metadata(object).get("finalizers").and_then(Value::as_array);
    let known = known.cloned().unwrap_or_default();
    let has = |name: &str| known.iter().any(|known| known == name);
    let wanted = match options.propagation(write) {
        Some(Propagation::Orphan) => Some("orphan"),
        Some(Propagation::Foreground) => Some("foregroundDeletion"),
        Some(Propagation::Background) => None,
        None => COLLECTED.into_iter().find(|name| has(name)),
    };
    let mut all: Vec<Value> = known
        .iter()
        .filter(|name| COLLECTED.iter().all(|collected| name != collected))
        .cloned()
        .collect();
    all.extend(wanted.map(Value::from));
    set_finalizers(object, all);
}

fn set_finalizers(object: &mut Value, finalizers: Vec<Value>) {
    if let Some(fields) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        if finalizers.is_empty() {
            fields.remove("finalizers");
        } else {
            fields.insert("finalizers".to_owned(), finalizers.into());
        }
    }
}

/// Says in an object until when it may take to go.
pub(super) fn mark(object: &mut Value, grace: i64, now: &str) {
    let given = metadata(object).get("deletionGracePeriodSeconds");
    let given = given.and_then(Value::as_i64);
    let known = text(metadata(object), "deletionTimestamp");
    let until = match given {
        Some(given) if !known.is_empty() => later(known, grace - given),
        _ => later(now, grace),
    };
    if known.is_empty() && metadata(object).get("generation").is_some() {
        metadata::next_generation(object);
    }
    if let Some(fields) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        fields.insert("deletionTimestamp".to_owned(), until.into());
        fields.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
    }
}

/// A moment some seconds after another.
fn later(now: &str, seconds: i64) -> String {
    let moment = now.parse::<jiff::Timestamp>().ok();
    let moment = moment.and_then(|now| {
        now.checked_add(jiff::SignedDuration::from_secs(seconds))
            .ok()
    });
    moment.map_or_else(
        || now.to_owned(),
        |moment| moment.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    )
}

/// Whether something keeps an object that is to go: a finalizer, or time that it has left.
fn stays(key: &Key, object: &Value) -> bool {
    let metadata = metadata(object);
    let full = |list: Option<&Value>| {
        let list = list.and_then(Value::as_array);
        list.is_some_and(|list| !list.is_empty())
    };
    full(metadata.get("finalizers"))
        || waits(object)
        || &*key.resource == "namespaces" && full(object.pointer("/spec/finalizers"))
}

/// Whether a change takes away the last thing that kept an object which is going.
pub(super) fn completes(key: &Key, new: &Value, old: &Value) -> bool {
    metadata(old).get("deletionTimestamp").is_some() && !stays(key, new)
}

/// Takes such an object away, and gives its last state.
pub(super) fn complete(state: &mut State, key: &Key, new: Value) -> Arc<Value> {
    state.store.remove(key);
    lifecycle::gone(state, key);
    Arc::new(new)
}

/// What the deletion of an object is answered with, once it is gone.
fn answer(write: &Write<'_>, mut object: Value) -> Value {
    let Write { kind, key, .. } = write;
    if TELLING.contains(&&*key.resource) {
        if &*key.resource == "pods" {
            mark(&mut object, 0, &write.now);
        }
        return object;
    }
    let uid = text(metadata(&object), "uid");
    let mut details = json!({ "name": key.name, "kind": kind.plural, "uid": uid });
    if let Some(details) = details.as_object_mut()
        && !kind.group.is_empty()
    {
        details.insert("group".to_owned(), kind.group.as_str().into());
    }
    json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
    })
}
