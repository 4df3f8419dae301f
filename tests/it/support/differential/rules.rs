//! Differences that are meant (`src/sandbox/DIFFERENCES.md`), each with a name. A sequence ends where a rule excuses all
//! that differs, since both sides go different ways from there; how often each does is printed.

use serde_json::Value;

use super::normal::Difference;
use super::step::{Step, Verb};

/// A request and the two answers to it, as they are compared.
pub struct Case<'a> {
    pub step: &'a Step,
    pub sandbox: &'a Value,
    pub server: &'a Value,
    pub differences: &'a [Difference],
    /// The object before the request.
    pub before: &'a Value,
}

/// A difference that is meant.
struct Rule {
    name: &'static str,
    /// The first minor version of Kubernetes that does as the sandbox does.
    until: u32,
    excuses: fn(&Case<'_>) -> bool,
}

const RULES: &[Rule] = &[
    Rule {
        name: "who has a map without its keys has none that others add",
        until: 22,
        excuses: |case| bare(&case.before["body"]),
    },
    Rule {
        name: "each of several conflicts is named once",
        until: 22,
        excuses: |case| {
            let several = |answer: &Value| {
                let causes = answer["body"]["details"]["causes"].as_array();
                answer["code"] == 409 && causes.is_some_and(|causes| causes.len() > 1)
            };
            case.step.verb == Verb::Apply && several(case.sandbox) && several(case.server)
        },
    },
    Rule {
        name: "a dry run gives a Service its addresses as well",
        until: 22,
        excuses: |case| {
            let given = |path: &str| path.contains(".clusterIP") || path.ends_with(".nodePort");
            case.step.query.contains("dryRun")
                && case
                    .differences
                    .iter()
                    .all(|difference| given(&difference.path))
        },
    },
    Rule {
        name: "a Service that changed is a conflict before it is invalid",
        until: 23,
        excuses: |case| {
            let codes = (&case.sandbox["code"], &case.server["code"]);
            case.step.verb == Verb::Put && codes.0 == 409 && codes.1 == 422
        },
    },
    Rule {
        name: "items that are applied get the applied order",
        until: 27,
        excuses: |case| {
            let codes = (&case.sandbox["code"], &case.server["code"]);
            let [sandbox, server] =
                [case.sandbox, case.server].map(|side| sorted(unversioned(side)));
            case.step.verb == Verb::Apply
                && (sandbox == server
                    || *codes.0 == 422
                        && *codes.1 == 422
                        && unnumbered(case.sandbox) == unnumbered(case.server))
        },
    },
    Rule {
        name: "a struct goes with the last of its managed fields",
        until: 22,
        excuses: |case| {
            let refused = |answer: &Value| answer["code"] == 422;
            let left =
                |difference: &Difference| managed(&difference.path) || difference.sandbox.is_none();
            case.step.verb == Verb::Apply
                && (case.differences.iter().all(left)
                    || refused(case.server) && about_nothing(case.server))
        },
    },
    Rule {
        name: "a load balancer may mix protocols",
        until: 26,
        excuses: |case| {
            let message = case.server["body"]["message"].as_str();
            message.is_some_and(|message| message.contains("mix of protocols"))
        },
    },
    Rule {
        name: "nothing and what is empty are one",
        until: u32::MAX,
        excuses: |case| {
            let counted = |path: &str| managed(path) || path == ".body.metadata.generation";
            empties(&case.step.body)
                && case
                    .differences
                    .iter()
                    .all(|difference| counted(&difference.path))
        },
    },
    Rule {
        name: "writes of the status leave the managers of all else alone",
        until: 22,
        excuses: |case| {
            case.step.subresource == "status"
                && case
                    .differences
                    .iter()
                    .all(|difference| managed(&difference.path))
        },
    },
    Rule {
        name: "a JSON patch cannot replace what is not there",
        until: 26,
        excuses: |case| {
            case.step.verb == Verb::Json
                && case.sandbox["code"] == 422
                && case.server["code"] == 200
        },
    },
    Rule {
        name: "nulls of a strategic patch are left out where there is nothing to take out",
        until: 24,
        excuses: |case| {
            let nothing =
                |difference: &Difference| managed(&difference.path) || difference.sandbox.is_none();
            case.step.verb == Verb::Strategic
                && holds_null(&case.step.body)
                && case.differences.iter().all(nothing)
        },
    },
];

/// The rule that excuses all that differs in a case, if the server is as old as the rule.
pub fn excuse(case: &Case<'_>, minor: u32) -> Option<&'static str> {
    let rule = RULES
        .iter()
        .find(|rule| minor < rule.until && (rule.excuses)(case))?;
    Some(rule.name)
}

/// Why a sequence ends after a write to `/scale`.
pub const SCALE: &str = "who scales manages the replicas";

/// Servers before 1.22 do not write down who scaled.
pub fn scaled(step: &Step, minor: u32) -> bool {
    minor < 22 && step.subresource == "scale" && step.verb != Verb::Get
}

/// Whether somebody manages a map or a keyed list but nothing of what is in it. Servers before 1.22 take that for the trace of
/// a type that was whole once, and give them all that is in it.
fn bare(object: &Value) -> bool {
    let entries = object["metadata"]["managedFields"].as_array();
    let mut entries = entries.into_iter().flatten();
    entries.any(|entry| {
        bare_at(
            &entry["fieldsV1"],
            object,
            object["kind"].as_str().unwrap_or_default(),
        )
    })
}

/// Types that are whole with these servers too.
const WHOLE: &[&str] = &[
    "f:podSelector",
    "f:labelSelector",
    "f:namespaceSelector",
    "f:wholeMap",
];

fn bare_at(fields: &Value, value: &Value, kind: &str) -> bool {
    let Some(fields) = fields.as_object() else {
        return false;
    };
    fields.iter().any(|(name, part)| {
        let value = match name.split_once(':') {
            Some(("f", field)) => &value[field],
            Some(("k", key)) => item(value, key),
            _ => return false,
        };
        let whole = WHOLE.contains(&name.as_str()) || name == "f:selector" && kind != "Service";
        let leaf = part.as_object().is_some_and(serde_json::Map::is_empty);
        let holds = |value: &Value| match value {
            Value::Object(fields) => !fields.is_empty(),
            Value::Array(items) => {
                items.iter().any(Value::is_object) || name == "f:finalizers" || name == "f:members"
            }
            _ => false,
        };
        leaf && !whole && holds(value) || bare_at(part, value, kind)
    })
}

fn item<'a>(list: &'a Value, key: &str) -> &'a Value {
    let key: Value = serde_json::from_str(key).unwrap_or_default();
    let matches = |item: &&Value| {
        let mut fields = key.as_object().into_iter().flatten();
        fields.all(|(name, value)| &item[name] == value)
    };
    list.as_array()
        .and_then(|items| items.iter().find(matches))
        .unwrap_or(&Value::Null)
}

/// Whether a place is one that only tells of managers, and of there having been a change.
fn managed(path: &str) -> bool {
    path.starts_with(".body.metadata.managedFields") || path == ".body.metadata.resourceVersion"
}

/// Whether a refusal is, among other things, about what is null, not there, or there beside its successor.
fn about_nothing(refusal: &Value) -> bool {
    let causes = refusal["body"]["details"]["causes"].as_array();
    causes.into_iter().flatten().any(|cause| {
        let message = cause["message"].as_str().unwrap_or_default();
        cause["reason"] == "FieldValueRequired"
            || message.contains("null")
            || message.contains("must specify")
    })
}

/// Whether there is an empty list or map somewhere.
fn empties(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.is_empty() || fields.values().any(empties),
        Value::Array(items) => items.is_empty() || items.iter().any(empties),
        _ => false,
    }
}

/// The fields that a refusal names, without the numbers of items.
fn unnumbered(refusal: &Value) -> Vec<String> {
    let causes = refusal["body"]["details"]["causes"].as_array();
    let causes = causes.into_iter().flatten();
    let mut fields: Vec<String> = causes
        .map(|cause| {
            cause["field"]
                .to_string()
                .replace(|letter: char| letter.is_ascii_digit(), "")
        })
        .collect();
    fields.sort_unstable();
    fields
}

fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().any(holds_null),
        Value::Array(items) => items.iter().any(holds_null),
        _ => false,
    }
}

fn unversioned(answer: &Value) -> Value {
    let mut answer = answer.clone();
    if let Some(metadata) = answer["body"]["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
        metadata.remove("generation");
    }
    answer
}

fn sorted(value: Value) -> Value {
    match value {
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (name, sorted(value)))
            .collect(),
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(sorted).collect();
            items.sort_by_key(ToString::to_string);
            items.into()
        }
        value => value,
    }
}
