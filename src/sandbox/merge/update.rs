//! Who manages what after a write that is no server-side apply.

use serde_json::{Map, Value};

use super::compare::compare;
use super::managers::{self, Entry, Operation};
use super::set::FieldSet;
use super::shape::Type;
use super::stripped::strip;
use super::{By, Typed};
use crate::types;

/// Gives an object that is created, or changed by anything but apply, its `managedFields`: those it came with, or else those
/// of `before`, and what changed. `before` is `None` for a new object.
///
/// An object whose entries were taken away (`managedFields: [{}]`) has none until somebody applies it.
pub fn update(before: Option<&Value>, after: &mut Value, typed: &Typed<'_>, by: &By<'_>) {
    let sent = managers::raw(Some(after));
    let reset = matches!(sent, [entry] if entry.as_object().is_some_and(serde_json::Map::is_empty));
    let mut entries = match by.subresource {
        "" if reset => Vec::new(),
        "" => managers::decode(Some(after)),
        _ => Vec::new(),
    };
    if entries.is_empty() && !reset {
        entries = managers::decode(before);
    }
    if entries.is_empty() && before.is_some() {
        return managers::put(after, Vec::new());
    }

    let new = empty(typed);
    let mut changes = compare(Type::root(typed), before.or(Some(&new)), Some(after));
    for set in [
        &mut changes.added,
        &mut changes.modified,
        &mut changes.removed,
    ] {
        strip(set);
    }
    let written = changes.written();
    for entry in &mut entries {
        entry.set.subtract(&written);
        entry.set.subtract(&changes.removed);
    }
    if !written.is_empty() {
        let mut entry = Entry::new(by, Operation::Update, written);
        if let Some(at) = entries.iter().position(|other| other.same(&entry)) {
            entry.set.add(&entries.remove(at).set);
        }
        entries.push(entry);
    }
    managers::write(after, entries);
}

/// All fields of an object that somebody could manage.
pub(super) fn everything(object: &Value, typed: &Typed<'_>) -> FieldSet {
    let new = empty(typed);
    let mut set = compare(Type::root(typed), Some(&new), Some(object)).written();
    strip(&mut set);
    set
}

/// An object with nothing in it but what Go writes of one that nobody has filled.
fn empty(typed: &Typed<'_>) -> Value {
    match typed.schema.about(typed.root) {
        Some(_) => types::zero(typed.schema, typed.root),
        None => Value::Object(Map::new()),
    }
}
