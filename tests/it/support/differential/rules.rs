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
        name: "items that are applied get the applied order",
        until: 27,
        excuses: |case| {
            let [sandbox, server] =
                [case.sandbox, case.server].map(|side| sorted(unversioned(side)));
            case.step.verb == Verb::Apply && sandbox == server
        },
    },
    Rule {
        name: "a struct goes with the last of its managed fields",
        until: 22,
        excuses: |case| {
            let codes = (&case.sandbox["code"], &case.server["code"]);
            let left = |difference: &Difference| {
                let Difference {
                    path,
                    sandbox,
                    server,
                } = difference;
                managed(path) || sandbox.is_none() && server.as_ref().is_some_and(hollow)
            };
            case.step.verb == Verb::Apply
                && (case.differences.iter().all(left)
                    || codes.0 == 200 && codes.1 == 422 && about_nothing(case.server))
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

/// Whether a place is one that only tells of managers, and of there having been a change.
fn managed(path: &str) -> bool {
    path.starts_with(".body.metadata.managedFields") || path == ".body.metadata.resourceVersion"
}

/// Whether a refusal is about what is null or not there.
fn about_nothing(refusal: &Value) -> bool {
    let causes = refusal["body"]["details"]["causes"].as_array();
    causes.into_iter().flatten().all(|cause| {
        let message = cause["message"].as_str().unwrap_or_default();
        cause["reason"] == "FieldValueRequired"
            || message.contains("null")
            || message.contains("must specify")
    })
}

fn hollow(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().all(hollow),
        Value::Array(items) => items.iter().all(hollow),
        Value::String(text) => text.is_empty(),
        _ => false,
    }
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
