//! What goes with the last of its managed fields. Servers before 1.22 leave it empty, or null, and often invalid for that.

use serde_json::Value;

use super::fields::{Way, at, cut, entries, is_hollow, part, sender, unnumbered};
use super::{Case, causes, without_numbers};
use crate::support::differential::step::Verb;

/// Whether two answers to an apply differ in nothing but in what the sender applied with all its fields before, and does not
/// apply now: the sandbox has none of it any more, and the server what is left of it, or says that this is not valid.
pub fn excuses(case: &Case<'_>) -> bool {
    let before = &case.before["body"];
    if case.step.verb != Verb::Apply {
        return false;
    }
    let mut gone = Vec::new();
    for entry in entries(before) {
        if entry["operation"] == "Apply" && entry["manager"] == sender(&case.step.query) {
            let fields = &entry["fieldsV1"];
            walk(fields, &case.step.body, &mut Vec::new(), &mut gone);
        }
    }
    let good = |answer: &Value| answer["code"].as_u64().is_some_and(|code| code < 300);
    if gone.is_empty() {
        return false;
    }
    let refused = |answer: &Value| answer["code"] == 422;
    if refused(case.sandbox) || refused(case.server) {
        let mut sides = [case.sandbox, case.server].into_iter();
        return sides.all(|side| good(side) || refused(side))
            && causes(case.sandbox)
                .iter()
                .all(|cause| within(cause, &gone))
            && causes(case.server)
                .iter()
                .all(|cause| left(cause, &gone) || unmounted(cause))
            && (good(case.server) || causes(case.server).iter().any(|cause| left(cause, &gone)));
    }
    good(case.sandbox) && good(case.server) && {
        let (sandbox, server) = (&case.sandbox["body"], &case.server["body"]);
        // What a Secret has as text comes after, and into what is gone.
        let refilled = |way: &Way| way == &["f:data"] && case.step.body["stringData"].is_object();
        gone.retain(|way| at(sandbox, way).is_null() || refilled(way));
        without(sandbox, &gone) == without(server, &gone)
    }
}

/// Finds the fields that have managed parts of which none is applied.
fn walk(fields: &Value, applied: &Value, way: &mut Way, gone: &mut Vec<Way>) {
    for (name, below) in fields.as_object().into_iter().flatten() {
        if is_hollow(below) {
            continue;
        }
        let applied = part(applied, name);
        way.push(name.clone());
        if name.starts_with("f:") && says_nothing(applied) {
            gone.push(way.clone());
        }
        walk(below, applied, way, gone);
        way.pop();
    }
}

/// Whether there is nothing in a value but what is empty.
fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(says_nothing),
        Value::Array(items) => items.iter().all(says_nothing),
        _ => false,
    }
}

fn without(object: &Value, gone: &[Way]) -> Value {
    let mut object = object.clone();
    for way in gone {
        cut(&mut object, way);
    }
    if let Some(metadata) = object["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
        metadata.remove("generation");
    }
    object
}

/// Whether a cause is about a mount of a volume: a wrong one counts as none.
fn unmounted(cause: &Value) -> bool {
    cause["reason"] == "FieldValueNotFound"
        && without_numbers(&cause["field"]).ends_with(".volumeMounts[].name")
}

/// Whether a cause is about what was in such a field.
fn within(cause: &Value, gone: &[Way]) -> bool {
    let field = without_numbers(&cause["field"]);
    gone.iter().any(|way| field.starts_with(&unnumbered(way)))
}

/// Whether a cause is about the rest of such a field: that something is missing in it, or that it is there beside another
/// one in its place.
fn left(cause: &Value, gone: &[Way]) -> bool {
    let field = without_numbers(&cause["field"]);
    let message = cause["message"].as_str().unwrap_or_default();
    let words = ["null", "must specify", "may not specify more than"];
    let about = words.iter().any(|word| message.contains(word));
    let blank = ["Invalid value: 0:", "Invalid value: \"\":"]
        .iter()
        .any(|start| message.starts_with(start));
    gone.iter().any(|way| {
        let rest = unnumbered(way);
        let parent = |field: &str| field.rsplit_once('.').map(|(parent, _)| parent.to_owned());
        let beside =
            parent(&rest) == parent(&field) || parent(&rest).is_some_and(|parent| parent == field);
        let required = cause["reason"] == "FieldValueRequired";
        field.starts_with(&rest) && (required || about || blank) || beside && (required || about)
    })
}
