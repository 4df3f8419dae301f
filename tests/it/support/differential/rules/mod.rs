//! Differences that are meant (`src/sandbox/DIFFERENCES.md`), each with a name. A sequence ends where a rule excuses all
//! that differs, since both sides go different ways from there; how often each does is printed.

mod bare;
mod fields;
mod gone;

use serde_json::Value;

use super::normal::{Difference, sorted};
use super::step::{Step, Verb};

/// A request and the two answers to it, as they are compared.
pub struct Case<'a> {
    pub step: &'a Step,
    pub earlier: &'a [Step],
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
        excuses: bare::excuses,
    },
    Rule {
        name: "each of several conflicts is named once",
        until: 22,
        excuses: |case| {
            let several = |answer: &Value| answer["code"] == 409 && causes(answer).len() > 1;
            case.step.verb == Verb::Apply
                && several(case.sandbox)
                && several(case.server)
                && repeated(causes(case.sandbox), causes(case.server))
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
        excuses: gone::excuses,
    },
    Rule {
        name: "a Service may be replaced by who has not seen it",
        until: 23,
        excuses: |case| {
            let message = case.server["body"]["message"].as_str();
            case.step.verb == Verb::Put
                && message
                    .is_some_and(|message| message.contains("must be specified for an update"))
        },
    },
    Rule {
        name: "the deletion of a Service that waits is answered with it",
        until: 23,
        excuses: |case| {
            let kinds = (&case.sandbox["body"]["kind"], &case.server["body"]["kind"]);
            case.step.verb == Verb::Delete && kinds.0 == "Service" && kinds.1 == "Status"
        },
    },
    Rule {
        name: "a load balancer may mix protocols",
        until: 26,
        excuses: |case| {
            let message = case.server["body"]["message"].as_str();
            message.is_some_and(|message| message.contains("more than 1 protocol when type is"))
        },
    },
    Rule {
        name: "nothing and what is empty are one",
        until: u32::MAX,
        excuses: |case| {
            let mut differences = case.differences.iter();
            // An empty map of an earlier request may count as a change when it is written again.
            let again = |difference: &Difference| {
                difference.path == ".body.metadata.resourceVersion" && case.step.verb != Verb::Get
            };
            if empties(&case.step.body) {
                differences.all(|difference| counted(&difference.path))
            } else {
                case.earlier.iter().any(|step| empties(&step.body)) && differences.all(again)
            }
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
        name: "an object with an item twice keeps its managers",
        until: 29,
        excuses: |case| {
            let entries = &case.server["body"]["metadata"]["managedFields"];
            let differences = case.differences.iter();
            entries.is_null()
                && differences
                    .clone()
                    .all(|difference| managed(&difference.path))
                && twice(&case.sandbox["body"])
        },
    },
    Rule {
        name: "a JSON patch cannot replace what is not there",
        until: 26,
        excuses: |case| {
            case.step.verb == Verb::Json
                && case.sandbox["code"] == 422
                && case.server["code"] == 200
                && replaces_nothing(&case.step.body, &case.before["body"])
        },
    },
    Rule {
        name: "nulls of a strategic patch are left out where there is nothing to take out",
        until: 24,
        excuses: |case| {
            let nothing = |difference: &Difference| {
                counted(&difference.path)
                    || difference.sandbox.is_none()
                        && difference.server.as_ref().is_none_or(is_blank)
            };
            // The limits of a LimitRange imply each other: a zero is none to fill in.
            let limits =
                |cause: &Value| without_numbers(&cause["field"]).starts_with("spec.limits[].");
            let implied = |difference: &Difference| {
                counted(&difference.path) || difference.path.starts_with(".body.spec.limits[")
            };
            let implies = case.before["body"]["kind"] == "LimitRange"
                && match case.server["code"] == 422 {
                    true => causes(case.server).iter().all(limits),
                    false => case.differences.iter().all(implied),
                };
            case.step.verb == Verb::Strategic
                && holds_null(&case.step.body)
                && (implies || case.differences.iter().all(nothing))
        },
    },
    Rule {
        name: "conflicts of Ingresses and NetworkPolicies name the group they are in",
        until: 22,
        excuses: |case| {
            let [sandbox, server] = [case.sandbox, case.server].map(|it| it["body"].to_string());
            let renamed = server
                .replace("\"extensions\"", "\"networking.k8s.io\"")
                .replace(".extensions ", ".networking.k8s.io ");
            case.server["code"] == 409 && case.sandbox["code"] == 409 && renamed == sandbox
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

/// Whether a place is one that only tells of managers, and of there having been a change.
fn managed(path: &str) -> bool {
    path.starts_with(".body.metadata.managedFields") || path == ".body.metadata.resourceVersion"
}

/// Whether some conflicts are as many as others, each of them known to those, or the way to one that is.
fn repeated(all: &[Value], some: &[Value]) -> bool {
    let leads = |way: &Value, to: &Value| {
        let [way, to] = [way, to].map(|cause| cause["field"].as_str().unwrap_or_default());
        to.starts_with(way)
    };
    let known = |cause: &Value| {
        let mut same = all.iter().filter(|one| one["message"] == cause["message"]);
        same.any(|one| leads(cause, one))
    };
    all.len() == some.len() && some.iter().all(known)
}

/// What a refusal is about.
fn causes(refusal: &Value) -> &[Value] {
    let causes = refusal["body"]["details"]["causes"].as_array();
    causes.map(Vec::as_slice).unwrap_or_default()
}

/// Whether a place is one that only tells of managers and of changes.
fn counted(path: &str) -> bool {
    managed(path) || path == ".body.metadata.generation"
}

/// Whether all that is in a value is what Go makes of nothing.
fn is_blank(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty() || text == "0",
        Value::Array(items) => items.iter().all(is_blank),
        Value::Object(fields) => fields.values().all(is_blank),
    }
}

/// Whether an operation of a JSON patch replaces what is not there, or not any more.
fn replaces_nothing(operations: &Value, before: &Value) -> bool {
    let operations = operations.as_array().map(Vec::as_slice).unwrap_or_default();
    operations.iter().enumerate().any(|(at, operation)| {
        let path = operation["path"].as_str().unwrap_or_default();
        let done = operations.iter().take(at);
        let mut same = done.filter(|done| done["path"] == path);
        let there = match same.next_back() {
            Some(done) => done["op"] != "remove",
            None => before.pointer(path).is_some(),
        };
        operation["op"] == "replace" && !there
    })
}

/// Whether there is a list with two items of one name, or with one and the same item twice.
fn twice(value: &Value) -> bool {
    match value {
        Value::Object(fields) => fields.values().any(twice),
        Value::Array(items) => {
            let same = |left: &Value, right: &Value| {
                left == right || left["name"].is_string() && left["name"] == right["name"]
            };
            let mut numbered = items.iter().enumerate();
            items.iter().any(twice)
                || numbered
                    .any(|(at, item)| items.iter().skip(at + 1).any(|other| same(item, other)))
        }
        _ => false,
    }
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
    let mut fields: Vec<String> = causes(refusal)
        .iter()
        .map(|cause| without_numbers(&cause["field"]))
        .collect();
    fields.sort_unstable();
    fields.dedup();
    fields
}

fn without_numbers(field: &Value) -> String {
    let field = field.as_str().unwrap_or_default();
    field.replace(|letter: char| letter.is_ascii_digit(), "")
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
