//! `anyOf`, `oneOf`, `allOf` and `not`.

use serde_json::Value;

use super::super::fields::items;
use super::super::invalid;
use super::super::show;
use super::validate::Outcome;
use crate::error::Cause;

/// Checks a value against the alternatives of its schema.
pub(super) fn check(schema: &Value, value: &Value, path: &str, outcome: &mut Outcome) {
    any_of(schema, value, path, outcome);
    one_of(schema, value, path, outcome);
    all_of(schema, value, path, outcome);
    if let Some(schema) = schema.get("not")
        && Outcome::of(schema, value, path).causes.is_empty()
    {
        let why = "must not validate the schema (not)";
        outcome.causes.push(choice(path, why));
    }
}

fn any_of(schema: &Value, value: &Value, path: &str, outcome: &mut Outcome) {
    let mut all = Vec::new();
    for schema in items(schema, "anyOf") {
        let one = Outcome::of(schema, value, path);
        if one.causes.is_empty() {
            outcome.visited += one.visited;
            return;
        }
        all.push(one);
    }
    if !all.is_empty() {
        let why = "must validate at least one schema (anyOf)";
        outcome.causes.push(choice(path, why));
        outcome.merge(closest(all));
    }
}

fn one_of(schema: &Value, value: &Value, path: &str, outcome: &mut Outcome) {
    let all: Vec<Outcome> = items(schema, "oneOf")
        .map(|schema| Outcome::of(schema, value, path))
        .collect();
    if all.is_empty() {
        return;
    }
    let valid = all.iter().filter(|one| one.causes.is_empty()).count();
    let why = "must validate one and only one schema (oneOf).";
    match valid {
        0 => {
            let why = format!("{why} Found none valid");
            outcome.causes.push(choice(path, &why));
            outcome.merge(closest(all));
        }
        1 => {
            let good = all.into_iter().find(|one| one.causes.is_empty());
            outcome.visited += good.map_or(0, |one| one.visited);
        }
        many => {
            let why = format!("{why} Found {many} valid alternatives");
            outcome.causes.push(choice(path, &why));
        }
    }
}

fn all_of(schema: &Value, value: &Value, path: &str, outcome: &mut Outcome) {
    let all: Vec<Outcome> = items(schema, "allOf")
        .map(|schema| Outcome::of(schema, value, path))
        .collect();
    let count = all.len();
    let valid = all.iter().filter(|one| one.causes.is_empty()).count();
    all.into_iter().for_each(|one| outcome.merge(one));
    if valid < count {
        let none = match valid {
            0 => ". None validated",
            _ => "",
        };
        let why = format!("must validate all the schemas (allOf){none}");
        outcome.causes.push(choice(path, &why));
    }
}

/// The first of those that saw most of the value: its causes say what somebody probably meant.
fn closest(all: Vec<Outcome>) -> Outcome {
    all.into_iter()
        .rev()
        .max_by_key(|one| one.visited)
        .unwrap_or_default()
}

/// What is wrong with a choice belongs to no field, as the API server tells it.
fn choice(path: &str, why: &str) -> Cause {
    let why = format!("{} {why}", show::quoted(path));
    invalid("<nil>", "\"\"", &why)
}
