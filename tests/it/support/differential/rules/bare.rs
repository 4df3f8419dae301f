//! Who manages a map or a keyed list, but nothing of what is in it. Servers before 1.22 take that for the trace of a type that
//! was whole once, and give them all that is in it with the next write.

use serde_json::Value;

use super::fields::{Way, cut, cut_managed, entries, identity, is_hollow, part, told};
use super::{Case, causes, repeated};
use crate::support::differential::step::Verb;

/// A map or list of which somebody manages no part.
struct Bare<'a> {
    entry: &'a Value,
    way: Way,
}

/// Whether two answers differ in nothing but in who manages parts of such maps and lists, in conflicts with them about those,
/// and, after an apply, in the parts that stay or go with that.
pub fn excuses(case: &Case<'_>) -> bool {
    let found = bare(&case.before["body"]);
    if found.is_empty() {
        return false;
    }
    let good = |answer: &Value| answer["code"].as_u64().is_some_and(|code| code < 300);
    if good(case.sandbox) && good(case.server) {
        return masked(case, case.sandbox, &found) == masked(case, case.server, &found);
    }
    case.server["code"] == 409
        && (good(case.sandbox) || case.sandbox["code"] == 409)
        && conflicts(case, &found)
}

fn masked(case: &Case<'_>, answer: &Value, found: &[Bare<'_>]) -> Value {
    let mut body = answer["body"].clone();
    let applied = case.step.verb == Verb::Apply;
    for bare in found.iter().filter(|_| applied) {
        cut(&mut body, &bare.way);
    }
    let Some(metadata) = body["metadata"].as_object_mut() else {
        return body;
    };
    metadata.remove("resourceVersion");
    if applied {
        metadata.remove("generation");
    }
    if let Some(Value::Array(entries)) = metadata.get_mut("managedFields") {
        for entry in entries.iter_mut() {
            for bare in found {
                if identity(bare.entry) == identity(entry) {
                    cut_managed(&mut entry["fieldsV1"], &bare.way);
                }
            }
        }
        entries.retain(|entry| !is_hollow(&entry["fieldsV1"]));
    }
    body
}

/// Whether only the server finds conflicts that the sandbox does not, all of them with managers of such maps and lists.
fn conflicts(case: &Case<'_>, found: &[Bare<'_>]) -> bool {
    let (sandbox, server) = (causes(case.sandbox), causes(case.server));
    let meant = |cause: &&Value| {
        let message = cause["message"].as_str().unwrap_or_default();
        let field = cause["field"].as_str().unwrap_or_default();
        found.iter().any(|bare| {
            let manager = bare.entry["manager"].as_str().unwrap_or_default();
            message.contains(&format!("conflict with {manager:?}"))
                && field.starts_with(&told(&bare.way))
        })
    };
    let new = |cause: &&Value| meant(cause) && !sandbox.contains(cause);
    let others: Vec<Value> = server.iter().filter(|cause| !new(cause)).cloned().collect();
    others.len() < server.len() && repeated(sandbox, &others)
}

fn bare(object: &Value) -> Vec<Bare<'_>> {
    let kind = object["kind"].as_str().unwrap_or_default();
    let mut found = Vec::new();
    for entry in entries(object) {
        let mut ways = Vec::new();
        walk(&entry["fieldsV1"], object, kind, &mut Vec::new(), &mut ways);
        found.extend(ways.into_iter().map(|way| Bare { entry, way }));
    }
    found
}

/// Types that are whole with these servers too.
const WHOLE: &[&str] = &[
    "f:podSelector",
    "f:labelSelector",
    "f:namespaceSelector",
    "f:wholeMap",
];

/// Lists whose items are managed one by one.
const PARTED: &[&str] = &[
    "f:conditions",
    "f:containers",
    "f:env",
    "f:finalizers",
    "f:hostAliases",
    "f:imagePullSecrets",
    "f:initContainers",
    "f:members",
    "f:ownerReferences",
    "f:ports",
    "f:secrets",
    "f:topologySpreadConstraints",
    "f:volumeMounts",
    "f:volumes",
];

fn walk(fields: &Value, value: &Value, kind: &str, way: &mut Way, found: &mut Vec<Way>) {
    for (name, below) in fields.as_object().into_iter().flatten() {
        if !name.starts_with("f:") && !name.starts_with("k:") {
            continue;
        }
        let value = part(value, name);
        let whole = WHOLE.contains(&name.as_str()) || name == "f:selector" && kind != "Service";
        let holds = match value {
            Value::Object(fields) => !fields.is_empty(),
            Value::Array(items) => !items.is_empty() && PARTED.contains(&name.as_str()),
            _ => false,
        };
        way.push(name.clone());
        if is_hollow(below) && !whole && holds {
            found.push(way.clone());
        }
        walk(below, value, kind, way, found);
        way.pop();
    }
}
